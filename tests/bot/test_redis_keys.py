"""Every key of a bot in Redis goes by itself, or is known to stay (RD-07)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from contract.inbox_events import OPS, event, take

from adapters.redis.cache import RedisCache
from adapters.redis.feedback import RedisFeedback
from adapters.redis.inbox import RedisInbox
from adapters.redis.leadership import RedisLeadership
from adapters.redis.limits import RedisLimiter
from adapters.redis.roll import RedisRoll
from adapters.redis.server import Server
from adapters.redis.sessions import RedisSessions
from adapters.redis.threads import RedisThreads
from adapters.redis.timetable import RedisTimetable
from bot.access import Code, Grant
from bot.chat import Kind, Reply
from bot.delivery import Leg
from bot.feedback import Feedback, Vote
from bot.leadership import led
from bot.limits import Rate, Rates
from bot.pending import Joining
from bot.registry import FACTORIES
from bot.sessions import Selection, SessionTurn
from bot.timetable import Entry, Leader
from tests.servers.redis_server import NEEDED, RedisServer, available

pytestmark = pytest.mark.skipif(not available(), reason=NEEDED)

PREFIX = "{belay}:"
STAYS = {"roll:grants"}
DOCS = (Path(__file__).parents[2] / "docs" / "redis.md").read_text(encoding="utf-8")
NOW = datetime.now(UTC)


async def of_the_inbox(server: Server) -> None:
    """Answered, changed, taken back, stopped, joined, put off, poisoned, and moved."""
    inbox = RedisInbox(server)
    for number in range(14):
        await inbox.put(event(str(number), place=replace(OPS, id=str(number % 7))))
    await inbox.put(event("1", "changed", kind=Kind.EDIT, place=replace(OPS, id="1")))
    await inbox.put(event("2", kind=Kind.DELETE, place=replace(OPS, id="2")))
    await inbox.put(event("s", kind=Kind.STOP, place=replace(OPS, id="3")))
    await inbox.put(event("p", kind=Kind.PRESS, place=replace(OPS, id="5"), value="v"))
    for number in range(4):
        taken = await inbox.join(await take(inbox), Joining())
        await inbox.sign(taken, "handle")
        await inbox.keep(taken, Reply("Drain it."))
        await inbox.begin(taken, 0)
        inbox.mark(taken, 0, Leg.OUT)
        await inbox.end(taken, 0, sent=True)
        await (inbox.release(taken, 60.0) if number % 2 else inbox.done(taken))
    for _ in range(6):
        await inbox.take("killed", 0.001)  # one that kills its process comes again and again
    await inbox.move("telegram", "6", "66")
    await inbox.put(event("last", place=replace(OPS, id="9")))


async def of_the_roll(server: Server) -> None:
    roll = RedisRoll(server)
    await roll.save(Grant("telegram:1"))
    for person in ("telegram:2", "telegram:3"):
        await roll.save_code(Code(f"CODE{person[-1]}", person, NOW.replace(year=NOW.year + 1)))
    await roll.redeem("CODE3", NOW)
    await roll.rename("telegram:2", "telegram:22")


async def of_votes(server: Server) -> None:
    votes = RedisFeedback(server)
    for person in ("telegram:1", "telegram:2"):
        await votes.save(Feedback("aaaaaaaaaaaa", person, Vote.UP, NOW))
    await votes.forget("telegram:2")


async def of_threads(server: Server) -> None:
    await RedisThreads(server).follow(replace(OPS, thread="7"))


async def of_allowances(server: Server) -> None:
    limiter = RedisLimiter(server, Rates(person=Rate(1, 1)))
    for number in range(3):
        await limiter.admit(event(str(number)))


async def of_what_was_said(server: Server) -> None:
    log = RedisSessions(server)
    await log.add([SessionTurn(str(n), "message", f"c{n}:", "c", "p", "t", NOW) for n in range(9)])
    await log.move("c1:", "c11:")
    await log.forget(Selection(person="p", conversation="c2:"))


async def of_caches(server: Server) -> None:
    """Names as `AnswerCache` and `CachedEmbedder` give them."""
    cache = RedisCache(server)
    for key in ("answer:0f", "answer-of:aaaaaaaaaaaa", "vector:0f"):
        await cache.put(key, "kept", 60)


async def of_leads(server: Server) -> None:
    async def works() -> None:
        assert await RedisLeadership(server).lead("sessions", 60)

    await led(RedisLeadership(server), "sync", works)


async def of_the_timetable(server: Server) -> None:
    timetable = RedisTimetable(server)
    await timetable.save(Entry("runbooks"))
    await timetable.sign(Leader("bot-1:42", datetime.now(UTC)))


async def of_the_server(server: Server) -> None:
    await server.ready()
    await server.check()


LIVES: Mapping[str, Callable[[Server], Awaitable[None]]] = {
    "server.redis": of_the_server,
    "inbox.redis": of_the_inbox,
    "roll.redis": of_the_roll,
    "feedback.redis": of_votes,
    "threads.redis": of_threads,
    "limits.redis": of_allowances,
    "sessions.redis": of_what_was_said,
    "cache.redis": of_caches,
    "leadership.redis": of_leads,
    "timetable.redis": of_the_timetable,
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("keys")) as server:
        yield server


@pytest.fixture
def server(own: RedisServer) -> RedisServer:
    own.command("FLUSHALL")
    return own


async def lived(own: RedisServer, name: str) -> dict[str, int]:
    """The keys that are left of a store's whole life, without the prefix, and their TTL."""
    server = Server(own.url)
    try:
        await LIVES[name](server)
    finally:
        await server.close()
    with own.client() as client:
        keys = [str(key) for key in client.scan_iter("*")]
        assert [key for key in keys if not key.startswith(PREFIX)] == []
        return {key.removeprefix(PREFIX): int(client.ttl(key)) for key in keys}


def families() -> list[re.Pattern[str]]:
    """Of the table in docs/redis.md; a word in capitals stands for anything."""
    rows = re.findall(r"^\| (`.*?) \|", DOCS[DOCS.index("| Key, after") :], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    return [re.compile(re.sub(r"[A-Z]{2,}", "[^:]+.*", name)) for name in named if ":" in name] + [
        re.compile(name) for name in ("ready", "threads", "timetable")
    ]


FAMILIES = families()


def test_every_store_in_redis_has_a_life_here() -> None:
    assert {name for name in FACTORIES if name.endswith(".redis")} == set(LIVES)


@pytest.mark.parametrize("name", LIVES)
async def test_rd_07_every_key_goes_by_itself_but_the_grants(
    name: str, server: RedisServer
) -> None:
    keys = await lived(server, name)
    assert keys
    assert {key for key, seconds in keys.items() if seconds < 0} <= STAYS
    for key in keys:
        assert [one for one in FAMILIES if one.fullmatch(key)], f"{key} is not in docs/redis.md"


async def test_every_family_of_the_table_is_written(server: RedisServer) -> None:
    """Otherwise its TTL is not looked at above."""
    keys: set[str] = set()
    for name in LIVES:
        keys |= set(await lived(server, name))
    assert [one.pattern for one in FAMILIES if not any(map(one.fullmatch, keys))] == []


async def test_what_expired_unanswered_leaves_no_name_in_its_chat(server: RedisServer) -> None:
    """A chat that people talk in for years would else keep one for each."""
    shared = Server(server.url)
    inbox = RedisInbox(shared)
    await inbox.put(event("1"))
    with server.client() as client:
        (place,) = client.scan_iter("*:place:*")
        client.zadd(place, {"1000000": "+inf", "2000000": "+inf"})
        assert client.zcard(place) == 3
        await inbox.put(event("2"))
        assert client.zcard(place) == 2
    await shared.close()
