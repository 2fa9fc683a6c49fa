"""Servers that speak the protocol with an accent: other content types, odd events, fewer roles."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.openai.endpoint import Persistence
from graph.errors import ModelMisconfigured, ModelUnavailable
from tests.servers.openai_model import (
    PLAIN,
    SHAPED,
    Ask,
    Serve,
    both,
    serving,
    streamed,
    whole,
)
from tests.servers.openai_server import Body, Chunks, Say, Status, delta_chunk, pieces_before


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with serving() as start:
        yield start


def events(*chunks: Any, gap: str = "\n\n") -> bytes:
    lines = [f"data: {json.dumps(chunk)}" for chunk in chunks]
    return (gap.join([*lines, "data: [DONE]"]) + gap).encode()


SAID = [delta_chunk({"content": "Restart "}), delta_chunk({"content": "it."}, finish="stop")]
WHOLE = {"choices": [{"message": {"content": "Restart it."}, "finish_reason": "stop"}]}


@both
@pytest.mark.parametrize(
    "body",
    [
        Body(events(*SAID), "application/json"),
        Body(events(*SAID), "text/plain"),
        Body(events(*SAID, gap="\r\n\r\n")),
        Body(b"\xef\xbb\xbf" + events(*SAID)),
        Body(b": keep-alive\n\n" + events(*SAID)),
        Body(json.dumps(WHOLE, indent=1).encode(), "text/event-stream"),
    ],
    ids=["as json", "as text", "crlf", "byte order mark", "comment first", "json as events"],
)
async def test_a_reply_is_read_whatever_its_content_type(
    serve: Serve, ask: Ask, body: Body
) -> None:
    model, server = await serve(body)
    assert (await ask(model)).text == "Restart it."
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("odd", ["Restart it.", 5, ["x"], None])
async def test_a_delta_that_is_no_object_is_passed_over(serve: Serve, ask: Ask, odd: Any) -> None:
    model, _ = await serve(Body(events({"choices": [{"delta": odd}]}, *SAID)))
    assert (await ask(model)).text == "Restart it."


@pytest.mark.parametrize(
    "lost",
    [
        events(SAID[0], delta_chunk({}, finish="error")),
        events(SAID[0], delta_chunk({}, finish="abort")),
        events(SAID[0], {"object": "error", "message": "engine died", "code": 500}),
        events(SAID[0]).replace(b"data: [DONE]", b'event: error\ndata: {"detail": "died"}'),
        events(SAID[0]).replace(b"data: [DONE]", b"event: error\ndata: died"),
    ],
    ids=["finish error", "finish abort", "error object", "error event", "error in words"],
)
async def test_a_reply_that_its_server_lost_is_no_answer(serve: Serve, lost: bytes) -> None:
    model, server = await serve(Body(lost))
    assert await pieces_before(ModelUnavailable, model.stream(PLAIN)) == ["Restart "]
    assert len(server.requests) == 1


@both
async def test_what_no_chat_can_show_is_left_out(serve: Serve, ask: Ask) -> None:
    """Half a character cannot be stored or sent; the two halves may come in two chunks."""
    pieces = ["Rest\x00art\x1b \ud83d", "\ude80 it", "\ud83d", "."]
    model, _ = await serve(Body(events(*(delta_chunk({"content": piece}) for piece in pieces))))
    assert (await ask(model)).text == "Restart \N{ROCKET} it\N{REPLACEMENT CHARACTER}."


class OneRole:
    """A chat template without a system role."""

    def __init__(self, rejection: Status) -> None:
        self._rejection = rejection

    async def answer(self, request: Any, http: Any) -> Any:
        roles = [message["role"] for message in request.body["messages"]]
        step = Say('{"relevant": true}') if roles == ["user"] else self._rejection
        return await step.answer(request, http)


@both
@pytest.mark.parametrize(
    "rejection",
    [
        Status(400, "System role not supported"),
        Status(400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        Status(500, "Jinja Exception: Only user and assistant roles are supported!"),
        Status(400, "Unsupported value: 'messages[0].role' does not support 'system' here"),
    ],
)
async def test_a_model_without_a_system_role_is_told_the_rules_by_the_user(
    serve: Serve, ask: Ask, rejection: Status
) -> None:
    model, server = await serve(default=OneRole(rejection))
    for _ in range(2):
        assert (await ask(model, SHAPED)).data == {"relevant": True}
    assert len(server.requests) == 3  # learnt once
    assert SHAPED.system in server.requests[-1].user
    assert server.requests[-1].user.endswith(SHAPED.user)


@both
@pytest.mark.parametrize(
    ("gone", "rejection"),
    [
        ("temperature", "invalid temperature: only 1 is allowed for this model"),
        ("response_format", "Unknown name 'x' at 'generation_config.response_schema'"),
        (
            "response_format",
            "Failed to validate JSON. See 'failed_generation' json_validate_failed",
        ),
    ],
)
async def test_more_ways_to_reject_a_parameter(
    serve: Serve, ask: Ask, gone: str, rejection: str
) -> None:
    class Without:
        async def answer(self, request: Any, http: Any) -> Any:
            known = gone not in request.body
            return await (Say('{"relevant": true}') if known else listed).answer(request, http)

    listed = Status(400, body=[{"error": {"code": 400, "message": rejection}}])  # as Gemini does
    model, _ = await serve(default=Without())
    assert (await ask(model, SHAPED)).data == {"relevant": True}


@both
@pytest.mark.parametrize(
    "said",
    ["Please try again in 20ms.", "Please try again in 0.05s.", "retry in 0.01s"],
)
async def test_lm18_a_pause_that_is_told_in_words_is_kept(
    serve: Serve, ask: Ask, said: str
) -> None:
    busy = Status(429, body=[{"error": {"code": 429, "message": f"Limit reached. {said}"}}])
    model, server = await serve(busy, Say("ok"), persistence=Persistence(patience=1.0))
    assert (await ask(model)).text == "ok"
    assert len(server.requests) == 2


@both
async def test_a_key_that_is_refused_as_a_bad_request_is_named(serve: Serve, ask: Ask) -> None:
    refused = [{"error": {"code": 400, "message": "API key not valid. Pass a valid API key."}}]
    model, _ = await serve(Status(400, body=refused))
    with pytest.raises(ModelMisconfigured, match="BELAY_MODEL_KEY"):
        await ask(model)


async def test_a_plain_reply_tells_that_it_was_cut(serve: Serve) -> None:
    model, _ = await serve(Say("Restart", finish="length"), Say("Restart it."))
    assert (await whole(model)).cut
    assert not (await streamed(model)).cut


async def test_events_without_any_data_are_no_reply(serve: Serve) -> None:
    model, _ = await serve(default=Chunks([], done=False))
    with pytest.raises(ModelUnavailable):
        await streamed(model)
