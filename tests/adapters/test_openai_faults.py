"""What the chat adapter does about faults that may pass: outages, limits, broken streams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from adapters.openai.endpoint import Persistence, Timeouts
from graph.errors import ModelBusy, ModelUnavailable, QuotaExhausted
from tests.servers.openai_model import PLAIN, Ask, Serve, both, serving, streamed, whole
from tests.servers.openai_server import Chunks, Hang, Say, Status, Step, delta_chunk, pieces_before


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with serving() as start:
        yield start


HALF = [delta_chunk({"content": "Restart "}), delta_chunk({"content": "the"})]


@pytest.mark.parametrize(
    "broken",
    [
        Chunks(HALF, done=False),
        Chunks(HALF, cut=True),
        Chunks([*HALF, {"error": {"message": "engine died", "code": 500}}]),
    ],
    ids=["ends", "cut", "error"],
)
async def test_a_broken_stream_is_never_taken_for_an_answer(serve: Serve, broken: Step) -> None:
    model, server = await serve(broken)
    assert await pieces_before(ModelUnavailable, model.stream(PLAIN)) == ["Restart ", "the"]
    assert len(server.requests) == 1  # nothing is repeated once text was shown


async def test_a_stream_that_breaks_before_any_text_is_asked_for_once_more(serve: Serve) -> None:
    model, server = await serve(Chunks([delta_chunk({"role": "assistant"})], cut=True), Say("ok"))
    assert (await streamed(model)).text == "ok"
    assert len(server.requests) == 2


@both
@pytest.mark.parametrize("status", [500, 502, 503, 408])
async def test_a_passing_fault_is_asked_for_once_more(serve: Serve, ask: Ask, status: int) -> None:
    model, server = await serve(Status(status), Say("ok"), default=Status(status))
    assert (await ask(model)).text == "ok"
    with pytest.raises(ModelUnavailable):
        await ask(model)
    assert len(server.requests) == 4


@both
async def test_lm16_the_time_limit_is_not_multiplied_by_attempts(serve: Serve, ask: Ask) -> None:
    """Were each attempt to get its own limit, this would take longer than the test allows."""
    model, server = await serve(
        default=Hang(), timeouts=Timeouts(total=0.5, connect=0.5, silence=0.3)
    )
    with pytest.raises(ModelUnavailable):
        async with asyncio.timeout(3):
            await ask(model)
    assert 1 <= len(server.requests) <= 2


async def test_lm16_a_stream_that_falls_silent_is_given_up(serve: Serve) -> None:
    model, server = await serve(Hang(HALF), timeouts=Timeouts(total=0.5, connect=0.5, silence=0.3))
    with pytest.raises(ModelUnavailable):
        async with asyncio.timeout(3):
            await streamed(model)
    assert len(server.requests) == 1


async def test_a_cancelled_call_is_cancelled(serve: Serve) -> None:
    model, _ = await serve(default=Hang())
    for ask in (whole, streamed):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await ask(model)


@both
async def test_lm18_a_rate_limit_is_waited_for_as_told(serve: Serve, ask: Ask) -> None:
    busy = Status(429, code="rate_limit_exceeded", headers={"Retry-After": "0.05"})
    model, server = await serve(busy, Say("ok"))
    assert (await ask(model)).text == "ok"
    assert len(server.requests) == 2


@both
@pytest.mark.parametrize(
    ("told", "seconds"),
    [({"Retry-After": "30"}, 30), ({"retry-after-ms": "2500"}, 2.5), ({}, None)],
)
async def test_lm18_a_longer_wait_is_left_to_the_caller(
    serve: Serve, ask: Ask, told: dict[str, str], seconds: float | None
) -> None:
    model, server = await serve(Status(429, headers=told))
    with pytest.raises(ModelBusy) as caught:
        await ask(model)
    assert caught.value.retry_after == seconds
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize(
    "used_up",
    [
        Status(429, code="insufficient_quota", headers={"Retry-After": "0"}),
        Status(429, type="insufficient_quota"),
        Status(402, "Insufficient Balance"),
    ],
)
async def test_lm18_an_account_without_money_is_left_alone(
    serve: Serve, ask: Ask, used_up: Step
) -> None:
    now = 0.0
    model, server = await serve(
        used_up, Say("ok"), persistence=Persistence(quota_pause=600), clock=lambda: now
    )
    for _ in range(3):
        with pytest.raises(QuotaExhausted):
            await ask(model)
    assert len(server.requests) == 1
    now = 601.0
    assert (await ask(model)).text == "ok"


async def test_keep_alives_between_chunks_are_not_chunks(serve: Serve) -> None:
    model, _ = await serve(Chunks([HALF[0], "", HALF[1], "", delta_chunk({}, finish="stop")]))
    assert (await streamed(model)).text == "Restart the"


async def test_a_garbled_chunk_breaks_the_stream(serve: Serve) -> None:
    model, _ = await serve(Chunks([*HALF, '{"choices": [{"del']))
    await pieces_before(ModelUnavailable, model.stream(PLAIN))


async def test_a_caller_may_stop_listening(serve: Serve) -> None:
    model, _ = await serve(Say("one two three four five"), Say("ok"))
    async with aclosing(model.stream(PLAIN)) as items:
        async for _item in items:
            break
    assert (await streamed(model)).text == "ok"
