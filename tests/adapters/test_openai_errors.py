"""Faults that only a person or another prompt can mend have names the graph can act on."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.openai import create_chat
from graph.errors import (
    ContentFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
)
from tests.servers.openai_model import KEY, Ask, Serve, both, serving, streamed, whole
from tests.servers.openai_server import Chunks, Page, Say, Status, Step, Whole, closed_port


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with serving() as start:
        yield start


MISTAKES = [
    (Status(401, f"Incorrect API key provided: {KEY}"), "BELAY_MODEL_KEY"),
    (Status(403, "forbidden"), "BELAY_MODEL_KEY"),
    (Status(404, "The model `any` does not exist", code="model_not_found"), r"BELAY_MODEL\b"),
    (Status(404, 'model "any" not found, try pulling it first'), r"BELAY_MODEL\b"),
    (Status(400, "Invalid model: any", type="invalid_model"), r"BELAY_MODEL\b"),
    (Status(404, "model: any", type="not_found_error"), r"BELAY_MODEL\b"),
    (Status(404, body={"detail": "Not Found"}), "BELAY_MODEL_URL"),
    (Status(404, body="404 page not found"), "BELAY_MODEL_URL"),
    (Status(405, body="Method Not Allowed"), "BELAY_MODEL_URL"),
    (Page(), "BELAY_MODEL_URL"),
    (Status(400, "something else"), "any"),
]


@both
@pytest.mark.parametrize(("mistake", "named"), MISTAKES)
async def test_a_wrong_setting_is_named_and_the_key_is_not(
    serve: Serve, ask: Ask, mistake: Step, named: str
) -> None:
    model, server = await serve(mistake)
    with pytest.raises(ModelMisconfigured, match=named) as caught:
        await ask(model)
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "url", "key", "named"),
    [
        ("any", "localhost:8080/v1", "", "BELAY_MODEL_URL"),
        ("any", "http://", "", "BELAY_MODEL_URL"),
        ("any", "http://host:port/v1", "", "BELAY_MODEL_URL"),
        ("any", "http://[::1/v1", "", "BELAY_MODEL_URL"),
        ("any", "ftp://host/v1", "", "BELAY_MODEL_URL"),
        ("any", "http://127.0.0.1:9/v1", "ключ", "BELAY_MODEL_KEY"),
        ("any", "http://127.0.0.1:9/v1", "sk-one\nsk-two", "BELAY_MODEL_KEY"),
        (" ", "http://127.0.0.1:9/v1", "", "BELAY_MODEL"),
    ],
)
@both
async def test_impossible_settings_are_named_without_a_call(
    ask: Ask, model: str, url: str, key: str, named: str
) -> None:
    chat = create_chat(model, url, key)
    with pytest.raises(ModelMisconfigured, match=named):
        await ask(chat)
    await chat.close()


@both
async def test_nobody_listens(ask: Ask) -> None:
    url = await closed_port()
    chat = create_chat("any", url, timeout=5)
    with pytest.raises(ModelUnavailable, match="BELAY_MODEL_URL") as caught:
        await ask(chat)
    assert url in str(caught.value)
    await chat.close()


@both
@pytest.mark.parametrize(
    "overflow",
    [
        Status(400, "too long", code="context_length_exceeded"),
        Status(400, "This model's maximum context length is 4096 tokens. However, you requested"),
        Status(400, body={"object": "error", "message": "maximum context length is 2048 tokens"}),
        Status(
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum "
            "context length is 1000 tokens",
        ),
        Status(
            400,
            body={
                "error": {
                    "code": 400,
                    "type": "exceed_context_size_error",
                    "message": "the request exceeds the available context size, try increasing it",
                }
            },
        ),
        Status(500, "the request exceeds the available context size"),
        Status(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Status(400, "The input token count (40000) exceeds the maximum number of tokens allowed"),
        Status(422, body={"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}),
        Status(413, body="Payload Too Large"),
    ],
)
async def test_a_prompt_longer_than_the_window(serve: Serve, ask: Ask, overflow: Step) -> None:
    model, server = await serve(overflow)
    with pytest.raises(ContextOverflow):
        await ask(model)
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize(
    "filtered",
    [
        Status(400, "triggered our content management policy", code="content_filter"),
        Status(400, body={"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        Say("", finish="content_filter"),
    ],
)
async def test_lm03_the_providers_filter_is_told_apart(
    serve: Serve, ask: Ask, filtered: Step
) -> None:
    model, server = await serve(filtered)
    with pytest.raises(ContentFiltered):
        await ask(model)
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("code", [429, "rate_limit_exceeded"])
async def test_an_error_inside_a_successful_reply(serve: Serve, ask: Ask, code: int | str) -> None:
    model, _ = await serve(Whole({"error": {"code": code, "message": "slow down"}}))
    with pytest.raises(ModelBusy):
        await ask(model)


ODD_BODIES: list[Any] = ["", "<html>", "null", "[]", {"error": None}, {"error": ["x"]}]


@pytest.mark.parametrize("status", [300, 304, 400, 409, 418, 422, 425, 429, 451, 500, 507, 529])
async def test_every_refused_request_is_a_model_error(serve: Serve, status: int) -> None:
    model, server = await serve()
    for body in ODD_BODIES:
        for ask in (whole, streamed):
            server.then(Status(status, body=body), Status(status, body=body))
            with pytest.raises(ModelError):
                await ask(model)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": None, "finish_reason": None}]},
        {"choices": [{"message": {"content": 5}}], "usage": []},
        {"choices": "none", "usage": {"prompt_tokens": None}},
    ],
)
async def test_any_json_that_is_no_reply_is_a_model_error(serve: Serve, body: Any) -> None:
    model, _ = await serve(default=Whole(body))
    for ask in (whole, streamed):
        with pytest.raises(ModelError):
            await ask(model)
    model, _ = await serve(default=Chunks([body]))
    with pytest.raises(ModelError):
        await streamed(model)
