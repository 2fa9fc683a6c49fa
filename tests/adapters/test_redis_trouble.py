"""Redis down, slow, full, locked or failing over: a sentence for people, and on it goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.redis.address import parse
from adapters.redis.checks import findings
from adapters.redis.inbox import RedisInbox
from adapters.redis.leadership import RedisLeadership
from adapters.redis.limits import RedisLimiter
from adapters.redis.roll import RedisRoll
from adapters.redis.server import Server, Waits
from adapters.redis.sessions import RedisSessions
from bot.access import Grant
from bot.chat import Reply
from bot.delivery import Leg, PartState
from bot.errors import StorageError
from bot.limits import Rate, Rates, Verdict
from bot.ports import Taken
from bot.sessions import Selection, SessionTurn
from tests.contract.inbox_events import LEASE, OPS, START, event, take, taken_texts
from tests.servers.redis_cluster import cluster, watched
from tests.servers.redis_server import NEEDED, RedisServer, available

pytestmark = pytest.mark.skipif(not available(), reason=NEEDED)

PATIENCE = 30.0  # seconds
QUICK = Waits(connect=0.3, answer=0.3, mark=0.3, attempts=2, pause=0.01, ready=0.3)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """One that a test may mistreat. By default Redis holds writes back for up to two seconds while
    a busy disk takes the ones before, and a process that is killed then loses them."""
    with RedisServer(tmp_path / "own", "--appendonly", "yes", "--appendfsync", "always") as own:
        yield own


@asynccontextmanager
async def inbox_at(url: str, waits: Waits = QUICK) -> AsyncIterator[RedisInbox]:
    inbox = RedisInbox(Server(url, waits=waits))
    try:
        yield inbox
    finally:
        await inbox.close()


async def test_op_11_a_redis_that_is_down_is_named(server: RedisServer) -> None:
    server.kill()
    async with inbox_at(server.url) as inbox:
        with pytest.raises(StorageError, match=f"{server.port} cannot be reached"):
            await inbox.put(event("1"))
        server.start()
        assert await inbox.put(event("1"))


async def test_rd_05_what_was_accepted_outlives_a_restart(server: RedisServer) -> None:
    async with inbox_at(server.url) as inbox:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        held = await take(inbox)
        server.kill()
        server.start()
        assert not await inbox.put(event("1"))
        assert await inbox.done(held)
        assert await taken_texts(inbox) == ["question 2"]


async def test_rd_05_idle_connections_that_were_cut_are_replaced(server: RedisServer) -> None:
    async with inbox_at(server.url) as inbox:
        await inbox.put(event("1"))
        server.command("CLIENT", "KILL", "TYPE", "normal")
        assert await inbox.put(event("2"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        server.command("CLIENT", "KILL", "TYPE", "normal")
        await inbox.end(taken, 0, sent=True)
        assert await inbox.begin(taken, 0) is PartState.SENT


async def test_a_slow_redis_is_not_waited_for(server: RedisServer) -> None:
    async with inbox_at(server.url) as inbox:
        await inbox.put(event("1"))
        server.freeze()
        with pytest.raises(StorageError, match="does not answer in time"):
            await inbox.put(event("2"))
        server.thaw()
        assert await taken_texts(inbox) in (["question 1"], ["question 1", "question 2"])


async def test_a_part_does_not_go_out_when_redis_cannot_be_asked(server: RedisServer) -> None:
    """Whoever takes the question next must know whether it was sent."""
    async with inbox_at(server.url) as inbox:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        server.stop()
        with pytest.raises(StorageError):
            inbox.mark(taken, 0, Leg.OUT)
        server.start()
        assert await inbox.begin(taken, 0) is PartState.OPEN


async def test_what_was_shown_while_redis_was_away_is_told_later(server: RedisServer) -> None:
    async with inbox_at(server.url) as inbox, inbox_at(server.url) as other:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        server.stop()
        inbox.mark(taken, 0, Leg.SHOWN)
        with pytest.raises(StorageError):
            await inbox.end(taken, 0, sent=True)
        server.start()
        assert await inbox.renew(taken, LEASE)
        await inbox.release(taken)
        assert await other.begin(await take(other), 0) is PartState.SENT


async def test_rd_03_a_full_redis_takes_nothing_new_and_finishes_what_it_has(
    server: RedisServer,
) -> None:
    async with inbox_at(server.url) as inbox:
        await inbox.put(event("1"))
        server.command("CONFIG", "SET", "maxmemory", "1mb")
        with pytest.raises(StorageError, match="is full") as full:
            await inbox.put(event("2"))
        assert "maxmemory" in full.value.remedy
        taken = await take(inbox)
        await inbox.keep(taken, Reply("Drain it."))
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        await inbox.end(taken, 0, sent=True)
        assert await inbox.done(taken)
        server.command("CONFIG", "SET", "maxmemory", "0")
        assert await inbox.put(event("2"))


async def test_questions_are_counted_without_redis_as_well(server: RedisServer) -> None:
    shared = Server(server.url, waits=QUICK)
    limiter = RedisLimiter(shared, Rates(person=Rate(1, 1)))
    server.kill()
    asked = [await limiter.admit(event(str(number))) for number in range(2)]
    assert asked == [Verdict.ADMITTED, Verdict.TELL]
    await shared.close()


async def test_a_wrong_password_is_said_at_once(server: RedisServer) -> None:
    server.command("ACL", "SETUSER", "belay", "on", ">right", "~*", "+@all")
    server.command("CONFIG", "SET", "requirepass", "secret")
    for credentials in ("belay:wrong@", ":wrong@", ""):
        address = server.url.replace("://", f"://{credentials}")
        patient = replace(QUICK, ready=60.0)
        wrong = Server(address, waits=patient)
        with pytest.raises(StorageError, match="password") as refused:
            await wrong.ready()
        assert "BELAY_REDIS_URL" in refused.value.remedy
        await wrong.close()


async def test_a_user_with_the_rights_of_the_readme_can_do_all(server: RedisServer) -> None:
    rights = ["~{belay}*", "+@read", "+@write", "+@connection", "+@scripting", "+info", "+time"]
    server.command("ACL", "SETUSER", "belay", "on", ">p", *rights)
    url = server.url.replace("://", "://belay:p@")
    async with inbox_at(url) as inbox:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        await inbox.move("telegram", OPS.id, "-1001")
        assert await inbox.done(taken)
    shared = Server(url, waits=QUICK)
    assert [finding.state for finding in await shared.check()] == ["ok"]
    assert await RedisLeadership(shared).lead("sync", 60)
    await RedisLeadership(shared).leave("sync")
    log = RedisSessions(shared)
    await log.add([SessionTurn("1", "message", "c1:", "c1:", "p", "hello", START)])
    await log.move("c1:", "c2:")
    assert [turn.text for turn in await log.all()] == ["hello"]
    assert await log.forget(Selection(person="p"))
    await shared.close()


async def test_a_user_without_rights_is_told_which(server: RedisServer) -> None:
    server.command("ACL", "SETUSER", "belay", "on", ">p", "~other*", "+@all")
    shared = Server(server.url.replace("://", "://belay:p@"), waits=QUICK)
    with pytest.raises(StorageError, match="does not permit") as refused:
        await shared.ready()
    assert "~{belay}*" in refused.value.remedy
    await shared.close()


async def test_a_replica_is_told_from_a_primary(server: RedisServer, tmp_path: Path) -> None:
    with RedisServer(tmp_path / "r", "--replicaof", f"127.0.0.1 {server.port}") as follower:
        async with inbox_at(follower.url) as inbox:
            with pytest.raises(StorageError, match="is a replica"):
                await inbox.put(event("1"))


async def test_what_throws_data_away_is_found_by_the_doctor(tmp_path: Path) -> None:
    options = ("--maxmemory-policy", "allkeys-lru")
    with RedisServer(tmp_path, *options) as own:
        shared = Server(own.url, waits=QUICK)
        found = {finding.state: finding for finding in await shared.check()}
        await shared.close()
    assert "allkeys-lru" in found["bad"].message
    assert "appendonly" in found["note"].message


@pytest.mark.parametrize(
    ("facts", "state", "words"),
    [
        ({"used_memory": 90, "maxmemory": 100}, "note", "90% of maxmemory"),
        ({"aof_last_write_status": "err"}, "bad", "aof_last_write_status"),
        ({"rdb_last_bgsave_status": "err"}, "bad", "rdb_last_bgsave_status"),
        ({"redis_version": "6.2.1"}, "bad", "version 6.2.1 is too old"),
    ],
)
def test_what_the_server_says_of_itself(facts: dict[str, object], state: str, words: str) -> None:
    info = {"redis_version": "7.0.15", "aof_enabled": 1} | facts
    *_, found = findings(info, parse("redis://127.0.0.1"), 0.001, 0.0)
    assert found.state == state
    assert words in found.message
    assert found.remedy


async def test_the_doctor_says_what_it_looked_at(server: RedisServer) -> None:
    shared = Server(server.url, waits=QUICK)
    (found,) = await shared.check()
    assert found.state == "ok"
    for words in (
        "version 7",
        "ms a command",
        "maxmemory 0B noeviction",
        "appendonly yes",
        "clock",
    ):
        assert words in found.message
    await shared.close()


async def test_the_start_waits_for_a_redis_that_is_starting(server: RedisServer) -> None:
    server.kill()
    shared = Server(server.url, waits=replace(QUICK, ready=30.0))
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(shared.ready())
        await asyncio.to_thread(server.start)
        await waiting
    await shared.close()


async def test_a_cluster_keeps_all_of_a_bot_in_one_slot(tmp_path: Path) -> None:
    with cluster(tmp_path) as nodes:
        address = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        shared = Server(f"redis+cluster://{address}", waits=replace(QUICK, ready=20.0))
        await shared.ready()
        inbox, roll = RedisInbox(shared), RedisRoll(shared)
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        assert await inbox.begin(taken, 0) is PartState.UNCERTAIN
        assert await inbox.done(taken)
        await roll.save(Grant("telegram:1"))
        assert await roll.grant("telegram:1") == Grant("telegram:1")
        assert next(finding.state for finding in await shared.check()) == "ok"
        await shared.close()
        holding = [node for node in nodes if node.command("DBSIZE")]
    assert len(holding) == 1


async def marked(inbox: RedisInbox, taken: Taken) -> None:
    """A mark is tried once, since a part is sent after it or not at all. On a busy machine a
    sentinel may take the new primary for dead for a moment and name none; what has a connection
    already, as `put`, goes on meanwhile, so that only time tells."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            inbox.mark(taken, 0, Leg.OUT)
        except StorageError:
            assert time.monotonic() < end, "no primary ever confirmed the mark"
            await asyncio.sleep(0.05)
        else:
            return


async def test_sentinels_lead_to_the_new_primary(tmp_path: Path) -> None:
    with watched(tmp_path) as (primary, replica, url):
        async with inbox_at(url, replace(QUICK, attempts=40, pause=0.2)) as inbox:
            await inbox.put(event("1"))
            primary.command("WAIT", "1", "5000")
            taken = await take(inbox)
            primary.command("WAIT", "1", "5000")
            primary.kill()
            await inbox.begin(taken, 0)
            await marked(inbox, taken)
            assert not await inbox.put(event("1"))
            assert await inbox.done(taken)
        assert replica.command("ROLE")
