"""What a Redis says when it does not want to: each refusal in words, and the way back from it."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
import redis

from adapters.redis.inbox import RedisInbox
from adapters.redis.leadership import RedisLeadership
from adapters.redis.rights import COMMANDS
from adapters.redis.roll import RedisRoll
from adapters.redis.server import Server, Waits
from bot.delivery import Leg, PartState
from bot.errors import StorageError
from bot.ports import Taken
from tests.contract.inbox_events import LEASE, event, private, take, taken_texts
from tests.servers.redis_cluster import cluster
from tests.servers.redis_server import NEEDED, RedisServer, available, until
from tests.servers.tcp_pipe import Pipe, piped

pytestmark = pytest.mark.skipif(not available(), reason=NEEDED)

QUICK = Waits(connect=0.5, answer=0.5, mark=0.5, attempts=2, pause=0.01, ready=0.3)
RIGHTS = ("~{belay}*", "+@read", "+@write", "+@connection", "+@scripting", "+info", "+time")
PACKAGE = Path(__file__).parents[2] / "adapters" / "redis"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """One that a test may mistreat."""
    with RedisServer(tmp_path / "own", "--appendonly", "yes") as own:
        yield own


@asynccontextmanager
async def connected(url: str, waits: Waits = QUICK) -> AsyncIterator[Server]:
    shared = Server(url, waits=waits)
    try:
        yield shared
    finally:
        await shared.close()


async def refused(shared: Server, *words: str) -> StorageError:
    """Asserts the words of a refusal to take an event."""
    with pytest.raises(StorageError) as error:
        await RedisInbox(shared).put(event("refused"))
    said = f"{error.value} {error.value.remedy}"
    assert not [word for word in words if word not in said], said
    return error.value


async def works_again(shared: Server) -> None:
    inbox = RedisInbox(shared)
    assert await inbox.put(event("refused"))
    assert await taken_texts(inbox) == ["question refused"]


async def test_rd_05_a_redis_that_loads_its_data_is_waited_for(tmp_path: Path) -> None:
    """LOADING: the port is open, and no command is served."""
    with RedisServer(tmp_path / "own") as server:
        async with connected(server.url) as shared:
            await RedisInbox(shared).put(event("1"))
        with server.client() as client:
            client.mset({f"other:{number}": "x" for number in range(3000)})
            client.save()
        server.stop()
        server.options = (
            "--key-load-delay",
            "500",
            "--loading-process-events-interval-bytes",
            "1024",
        )
        server.start(wait=False)
        until(lambda: loading(server))
        async with connected(server.url, replace(QUICK, ready=30.0)) as shared:
            await refused(shared, "is starting or changing its primary")
            await shared.ready()
            assert await taken_texts(RedisInbox(shared)) == ["question 1"]


def loading(server: RedisServer) -> bool:
    """The library would try until it is over."""
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
    except ConnectionError:
        return False
    assert not answer.startswith(b"+PONG"), "it was loaded before anybody could look"
    return answer.startswith(b"-LOADING")


async def test_a_redis_that_runs_somebody_s_script_is_busy(server: RedisServer) -> None:
    """BUSY: a script that does not end keeps everybody out until it is killed."""
    server.command("CONFIG", "SET", "busy-reply-threshold", "1")
    endless = Thread(target=lambda: _ended(server))
    endless.start()
    async with connected(server.url) as shared:
        await asyncio.to_thread(until, lambda: _busy(server))
        await refused(shared, "busy with a script", "SCRIPT KILL")
        server.command("SCRIPT", "KILL")
        endless.join()
        await works_again(shared)


def _ended(server: RedisServer) -> None:
    with pytest.raises(redis.exceptions.ResponseError, match="killed"):
        server.command("EVAL", "while true do end", "0")


def _busy(server: RedisServer) -> bool:
    try:
        server.command("PING")
    except redis.exceptions.ResponseError as error:
        return "BUSY" in str(error)
    return False


async def test_scripts_that_a_restarted_redis_does_not_know_are_sent_again(
    server: RedisServer,
) -> None:
    """NOSCRIPT: in the event loop and in marks, for which the process stands still."""
    async with connected(server.url) as shared:
        inbox = RedisInbox(shared)
        await inbox.put(event("1"))
        server.command("SCRIPT", "FLUSH")
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        server.command("SCRIPT", "FLUSH")
        inbox.mark(taken, 0, Leg.OUT)
        server.stop()
        server.start()
        assert await inbox.begin(taken, 0) is PartState.UNCERTAIN
        assert await inbox.done(taken)


async def test_a_redis_that_cannot_save_says_so(tmp_path: Path) -> None:
    """MISCONF: its disk is full, or its folder is gone."""
    with RedisServer(tmp_path / "own", "--enable-protected-configs", "yes") as server:
        server.command("CONFIG", "SET", "save", "3600 1")
        shutil.rmtree(server.folder)
        server.command("BGSAVE")
        until(lambda: "rdb_last_bgsave_status': 'err" in str(server.command("INFO")))
        async with connected(server.url) as shared:
            await refused(shared, "cannot save to its disk", "Free some space")
            with pytest.raises(StorageError, match="cannot save"):
                await shared.ready()
            server.folder.mkdir()
            server.command("CONFIG", "SET", "dir", str(server.folder))
            server.command("BGSAVE")
            until(lambda: "rdb_last_bgsave_status': 'ok" in str(server.command("INFO")))
            await works_again(shared)


async def test_too_few_replicas_are_said(server: RedisServer) -> None:
    server.command("CONFIG", "SET", "min-replicas-to-write", "1")
    async with connected(server.url) as shared:
        await refused(shared, "too few replicas", "min-replicas-to-write")
        server.command("CONFIG", "SET", "min-replicas-to-write", "0")
        await works_again(shared)


async def test_a_redis_that_takes_no_more_connections_says_so(server: RedisServer) -> None:
    with server.client() as first:
        first.config_set("maxclients", "1")
        async with connected(server.url) as shared:
            await refused(shared, "takes no more connections", "maxclients")
            first.config_set("maxclients", "100")
            await works_again(shared)


async def test_one_node_of_a_cluster_is_told_from_a_server(tmp_path: Path) -> None:
    """MOVED, where the address names no cluster; and a cluster that is not whole."""
    with cluster(tmp_path) as nodes:
        slot = int(str(nodes[0].command("CLUSTER", "KEYSLOT", "{belay}")))
        other = nodes[0] if slot > 16_384 * 2 // 3 else nodes[-1]
        async with connected(other.url) as shared:
            await refused(shared, "one node of a cluster", "redis+cluster://")


async def test_a_cluster_without_its_slots_is_no_crash(tmp_path: Path) -> None:
    """CLUSTERDOWN, as one server and as the cluster that it is to become."""
    with RedisServer(tmp_path / "node", "--cluster-enabled", "yes") as node:
        async with connected(node.url) as shared:
            await refused(shared, "is starting or changing its primary")
        for waits in (QUICK, replace(QUICK, attempts=1)):
            async with connected(node.url.replace("redis:", "redis+cluster:"), waits) as shared:
                await refused(shared, "cannot be reached")
                inbox = RedisInbox(shared)
                with pytest.raises(StorageError):
                    await inbox.take("owner", LEASE)
        node.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        until(lambda: "cluster_state:ok" in str(node.command("CLUSTER", "INFO")))
        async with connected(node.url.replace("redis:", "redis+cluster:")) as shared:
            await works_again(shared)


async def test_a_slot_that_moves_to_another_node_is_followed(tmp_path: Path) -> None:
    """MOVED, where the address names a cluster: for the event loop and for marks."""
    with cluster(tmp_path) as nodes:
        address = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        async with connected(f"redis+cluster://{address}") as shared:
            inbox = RedisInbox(shared)
            await inbox.put(event("1"))
            taken = await take(inbox)
            await inbox.begin(taken, 0)
            inbox.mark(taken, 0, Leg.OUT)
            (holder,) = [node for node in nodes if node.command("DBSIZE")]
            target = next(node for node in nodes if node is not holder)
            slot = str(holder.command("CLUSTER", "KEYSLOT", "{belay}"))
            name = str(target.command("CLUSTER", "MYID"))
            keys = [str(key) for key in _keys(holder)]
            target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", _id(holder))
            holder.command("CLUSTER", "SETSLOT", slot, "MIGRATING", name)
            holder.command("MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *keys)
            for node in (target, *nodes):
                node.command("CLUSTER", "SETSLOT", slot, "NODE", name)
            assert not await inbox.put(event("1"))
            inbox.mark(taken, 0, Leg.SHOWN)
            assert await inbox.begin(taken, 0) is PartState.SENT
            assert await inbox.done(taken)


def _id(node: RedisServer) -> str:
    return str(node.command("CLUSTER", "MYID"))


def _keys(node: RedisServer) -> list[object]:
    with node.client() as client:
        return list(client.scan_iter("*"))


@pytest.fixture
async def wire(server: RedisServer) -> AsyncIterator[Pipe]:
    async with piped("127.0.0.1", server.port) as pipe:
        yield pipe


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
async def test_rd_05_an_answer_that_breaks_off_is_asked_for_again(size: int, wire: Pipe) -> None:
    """The script has run when its answer is cut: nothing is stored twice, and nothing lost."""
    async with connected(f"redis://127.0.0.1:{wire.port}") as shared:
        inbox = RedisInbox(shared)
        await inbox.put(event("0"))
        wire.break_after(size)
        await inbox.put(event("1"))  # True or False: it may have been stored the first time
        assert not await inbox.put(event("1"))
        assert await inbox.waiting() == 2
        assert await taken_texts(inbox) == ["question 0", "question 1"]


@pytest.mark.parametrize("size", [0, 1, 5, 40])
async def test_rd_05_a_question_whose_taking_broke_off_is_taken_again(
    size: int, wire: Pipe
) -> None:
    """It is at work for nobody until its lease runs out, and then for whoever asks."""
    async with connected(f"redis://127.0.0.1:{wire.port}") as shared:
        inbox = RedisInbox(shared)
        assert await inbox.take("owner", LEASE) is None  # the server knows the script
        await inbox.put(event("1"))
        wire.break_after(size)
        with pytest.raises(StorageError, match="cannot be reached"):
            await inbox.take("owner", 0.05)
        taken = await until_taken(inbox)
        assert (taken.event.text, taken.attempt) == ("question 1", 2)
        assert await inbox.done(taken)


async def until_taken(inbox: RedisInbox) -> Taken:
    end = time.monotonic() + 20.0
    while (taken := await inbox.take("another", LEASE)) is None:
        assert time.monotonic() < end, "the lease did not run out"
        await asyncio.sleep(0.02)
    return taken


async def test_answers_that_come_too_late_belong_to_no_other_question(wire: Pipe) -> None:
    """Three seconds for an answer, with a patience of half a second: no reply is taken for that
    of another command, and nobody waits for the slow one."""
    async with connected(f"redis://127.0.0.1:{wire.port}") as shared:
        inbox, roll = RedisInbox(shared), RedisRoll(shared)
        await inbox.put(event("1"))
        wire.slow(3.0)
        with pytest.raises(StorageError, match="does not answer in time"):
            await inbox.put(event("2"))
        with pytest.raises(StorageError, match="does not answer in time"):
            await inbox.waiting()
        wire.slow(0.0)
        assert await roll.grants() == []
        assert await inbox.waiting() == 2
        assert await taken_texts(inbox) == ["question 1", "question 2"]


@pytest.mark.parametrize("hours", [-5, 5])
async def test_leases_and_leads_go_by_the_clock_of_redis(
    hours: int, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine whose clock is wrong takes nothing from others, and keeps nothing longer."""
    async with connected(server.url) as shared:
        right, lead = RedisInbox(shared), RedisLeadership(shared)
        await right.put(event("1"))
        await right.put(event("2", place=private("p")))
        wrong_clock = time.time() + 3600 * hours
        monkeypatch.setattr(time, "time", lambda: wrong_clock)
        wrong = RedisInbox(shared)
        taken = await wrong.take("wrong", LEASE)
        assert taken is not None
        assert await RedisLeadership(shared).lead("sync", LEASE)
        monkeypatch.undo()
        other = await right.take("right", LEASE)
        assert other is not None
        assert other.event != taken.event
        assert await right.take("right", LEASE) is None
        assert not await lead.lead("sync", LEASE)
        monkeypatch.setattr(time, "time", lambda: wrong_clock)
        assert await wrong.renew(taken, LEASE)
        assert await wrong.take("wrong", LEASE) is None
        found = await shared.check()
        assert "ahead of" in str(found) if hours < 0 else "behind" in str(found)


async def test_whatever_was_evicted_nothing_else_stops(server: RedisServer) -> None:
    """allkeys-lru: any key may be gone. What it held is lost; the rest is answered."""
    async with connected(server.url) as shared:
        inbox = RedisInbox(shared)
        for number in range(40):
            server.command("FLUSHALL")
            for place in ("a", "b"):
                for message in ("1", "2"):
                    await inbox.put(event(f"{place}{message}", place=private(place)))
            held = await take(inbox)
            await inbox.begin(held, 0)
            await inbox.move("telegram", "c", "d")
            keys = sorted(str(key) for key in _keys(server))
            if number >= len(keys):
                break
            server.command("DEL", keys[number])
            await inbox.renew(held, LEASE)
            await inbox.done(held)
            answered = await taken_texts(inbox)
            assert await inbox.put(event("after", place=private("e")))
            answered += await taken_texts(inbox)
            assert "question after" in answered, keys[number]
            assert len(set(answered)) == len(answered), keys[number]
        else:
            pytest.fail("there are more keys than were tried")


# Rights


@pytest.mark.parametrize("missing", COMMANDS)
async def test_a_right_that_is_missing_is_named(missing: str, server: RedisServer) -> None:
    """At the start, and by the doctor; before a script is stopped half way."""
    server.command("ACL", "SETUSER", "belay", "on", ">p", *RIGHTS, f"-{missing.lower()}")
    async with connected(server.url.replace("://", "://belay:p@")) as shared:
        with pytest.raises(StorageError, match=f"does not permit .* '{missing.lower()}'") as error:
            await shared.ready()
        assert "+@write" in error.value.remedy
        (found,) = await shared.check()
        assert (found.state, f"'{missing.lower()}'" in found.message) == ("bad", True)


@pytest.mark.parametrize("missing", ["evalsha", "eval", "info", "hset", "zadd", "time", "get"])
async def test_a_right_that_is_taken_away_later_is_named(missing: str, server: RedisServer) -> None:
    server.command("ACL", "SETUSER", "belay", "on", ">p", *RIGHTS)
    async with connected(server.url.replace("://", "://belay:p@")) as shared:
        await shared.ready()
        server.command("SCRIPT", "FLUSH")
        server.command("ACL", "SETUSER", "belay", f"-{missing}")
        with pytest.raises(StorageError, match=f"does not permit .* the command '{missing}'"):
            await (shared.check() if missing == "info" else RedisInbox(shared).put(event("1")))
        server.command("ACL", "SETUSER", "belay", f"+{missing}")
        await works_again(shared)


async def test_keys_that_are_not_permitted_are_said(server: RedisServer) -> None:
    server.command("ACL", "SETUSER", "belay", "on", ">p", "~other*", "+@all")
    async with connected(server.url.replace("://", "://belay:p@")) as shared:
        await refused(shared, "keys of this prefix", "~{belay}*")


def test_every_command_that_is_used_is_asked_for() -> None:
    """A new one needs its row, or a start finds out too late that it is not permitted."""
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.iterdir() if path.is_file())
    called = set(re.findall(r"redis\.p?call\('(\w+)'", text))
    sent = set(re.findall(r"\bcommand\(\s*\"([A-Z]+)\"", text))
    assert called | sent == {*COMMANDS, "INFO"}
