"""The chat adapter against a server that misbehaves on demand."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from adapters.openai import OpenAIChat, create_chat
from adapters.openai.endpoint import Endpoint, Persistence, Timeouts
from graph.errors import (
    ContentFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    QuotaExhausted,
    ReplyUnusable,
)
from graph.ports import Completion, Prompt
from tests.servers.openai_server import (
    USAGE,
    Chunks,
    Hang,
    OpenAIServer,
    Page,
    Say,
    Status,
    Step,
    Whole,
    closed_port,
    delta_chunk,
    pieces_and_end,
    pieces_before,
)

SCHEMA = {
    "type": "object",
    "properties": {"relevant": {"type": "boolean"}},
    "required": ["relevant"],
    "additionalProperties": False,
}
PLAIN = Prompt("generate", "You answer from passages.", "How do I restart the parser?")
SHAPED = Prompt("grade", "You judge.", "Is it relevant?", max_tokens=50, schema=SCHEMA)
KEY = "sk-test-0123456789abcdef"
QUICK = Timeouts(total=5.0, connect=1.0, silence=2.0)
KEEN = Persistence(patience=1.0, pause=0.0)

Serve = Callable[..., Any]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """A model and the server behind it, which takes these steps."""
    async with AsyncExitStack() as stack:

        async def start(
            *steps: Step, default: Step | None = None, **options: Any
        ) -> tuple[OpenAIChat, OpenAIServer]:
            server = await stack.enter_async_context(OpenAIServer(*steps, default=default))
            endpoint = Endpoint("any", server.url, KEY)
            values: dict[str, Any] = {"timeouts": QUICK, "persistence": KEEN, **options}
            model = OpenAIChat(endpoint, **values)
            stack.push_async_callback(model.close)
            return model, server

        yield start


async def whole(model: OpenAIChat, prompt: Prompt = PLAIN) -> Completion:
    return await model.complete(prompt)


async def streamed(model: OpenAIChat, prompt: Prompt = PLAIN) -> Completion:
    pieces, end = await pieces_and_end(model.stream(prompt))
    assert isinstance(end, Completion)
    assert "".join(pieces) == end.text
    return end


Ask = Callable[..., Any]
both = pytest.mark.parametrize("ask", [whole, streamed])


# What is asked


async def test_sends_prompt_limit_and_key(serve: Serve) -> None:
    model, server = await serve(Say("ok"))
    await whole(model)
    request = server.requests[0]
    assert (request.system, request.user) == (PLAIN.system, PLAIN.user)
    assert request.body["model"] == "any"
    assert request.body["max_tokens"] == PLAIN.max_tokens
    assert request.headers["Authorization"] == f"Bearer {KEY}"


async def test_a_local_server_needs_no_key() -> None:
    async with OpenAIServer(Say("ok")) as server:
        model = create_chat("any", server.url)
        assert (await whole(model)).text == "ok"
        assert "Authorization" not in server.requests[0].headers
        await model.close()


async def test_the_environment_is_not_read(serve: Serve) -> None:
    os.environ["OPENAI_API_KEY"] = "sk-environment"
    os.environ["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    os.environ["OPENAI_ORG_ID"] = "org-environment"
    os.environ["OPENAI_PROJECT_ID"] = "proj-environment"
    os.environ["OPENAI_CUSTOM_HEADERS"] = "Authorization: Bearer sk-other\nX-Other: environment"
    os.environ["HTTP_PROXY"] = "http://127.0.0.1:9"
    model, server = await serve(Say("ok"))
    await whole(model)
    sent = server.requests[0].headers
    assert sent["Authorization"] == f"Bearer {KEY}"
    assert not [value for value in sent.values() if "environment" in value or "other" in value]


def test_importing_the_package_does_not_import_the_sdk() -> None:
    """The SDK costs most of a second; a process without a model must not pay it."""
    code = "import sys, adapters.openai; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@both
async def test_a_lone_surrogate_in_a_passage_does_no_harm(serve: Serve, ask: Ask) -> None:
    model, _ = await serve(Say("ok"))
    assert (await ask(model, Prompt("generate", "", "log: \udcff"))).text == "ok"


# Replies


async def test_counts_come_from_the_server(serve: Serve) -> None:
    model, server = await serve(Say("one"), Say("two"))
    for ask in (whole, streamed):
        completion = await ask(model)
        assert completion.prompt_tokens == USAGE["prompt_tokens"]
        assert completion.completion_tokens == USAGE["completion_tokens"]
    assert server.requests[1].body["stream_options"] == {"include_usage": True}


async def test_lm01_metadata_chunks_are_skipped(serve: Serve) -> None:
    chunks = [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        delta_chunk({"content": "Res"}),
        {"choices": None},
        delta_chunk({"content": "tart"}),
        {"choices": [], "usage": USAGE},
    ]
    model, server = await serve(Chunks(chunks))
    completion = await streamed(model)
    assert completion.text == "Restart"
    assert completion.completion_tokens == USAGE["completion_tokens"]
    assert len(server.requests) == 1


EMPTY = Whole({"id": "c1", "object": "chat.completion", "choices": []})
EMPTY_STREAM = Chunks([{"choices": [], "usage": USAGE}])


@pytest.mark.parametrize(("ask", "empty"), [(whole, EMPTY), (streamed, EMPTY_STREAM)])
async def test_lm01_no_choices_are_asked_for_once_more(serve: Serve, ask: Ask, empty: Step) -> None:
    model, server = await serve(empty, Say("Restart it."), empty, empty)
    assert (await ask(model)).text == "Restart it."
    with pytest.raises(ReplyUnusable):
        await ask(model)
    assert len(server.requests) == 4


@both
async def test_no_content_is_unusable(serve: Serve, ask: Ask) -> None:
    model, server = await serve(Say(None))
    with pytest.raises(ReplyUnusable) as caught:
        await ask(model)
    assert not caught.value.cut
    assert len(server.requests) == 1


@both
async def test_lm04_a_cut_structure_gets_more_room_once(serve: Serve, ask: Ask) -> None:
    cut = Say('{"relevant": tr', finish="length")
    model, server = await serve(cut, Say('{"relevant": true}'))
    if ask is whole:
        assert (await ask(model, SHAPED)).data == {"relevant": True}
        first, second = (request.body["max_tokens"] for request in server.requests)
        assert second > first == SHAPED.max_tokens
    else:
        with pytest.raises(ReplyUnusable) as caught:
            await ask(model, SHAPED)
        assert caught.value.cut
        assert len(server.requests) == 1  # text was shown: it is not repeated


@both
async def test_lm04_cut_twice_is_unusable_and_says_so(serve: Serve, ask: Ask) -> None:
    model, server = await serve(default=Say('{"relevant": tr', finish="length"))
    with pytest.raises(ReplyUnusable) as caught:
        await ask(model, SHAPED)
    assert caught.value.cut
    assert len(server.requests) <= 2


async def test_lm04_a_whole_value_is_taken_even_when_its_padding_was_cut(serve: Serve) -> None:
    model, server = await serve(Say('{"relevant": true}' + "\n" * 40, finish="length"))
    assert (await whole(model, SHAPED)).data == {"relevant": True}
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("prompt", [PLAIN, SHAPED], ids=["plain", "parsed"])
async def test_lm07_a_refusal_is_final(serve: Serve, ask: Ask, prompt: Prompt) -> None:
    """Plain, streamed (delta.refusal) and parsed: one call, no text, no "None"."""
    refusal = Say(None, message={"refusal": "I can't help with that."})
    model, server = await serve(refusal)
    with pytest.raises(ModelRefused):
        await ask(model, prompt)
    assert len(server.requests) == 1


async def test_lm07_a_refusal_in_pieces(serve: Serve) -> None:
    chunks = [delta_chunk({"refusal": piece}) for piece in ("I can't ", "help.")]
    model, _ = await serve(Chunks([*chunks, delta_chunk({}, finish="stop")]))
    with pytest.raises(ModelRefused):
        await streamed(model)


@both
async def test_lm10_reasoning_fields_and_split_tags_are_left_out(serve: Serve, ask: Ask) -> None:
    pieces = ("<thi", "nk>the user wor", "ks at X</th", "ink>", "\n\nRe", "start it.")
    model, _ = await serve(Say(pieces=pieces, message={"reasoning_content": "secret plan"}))
    assert (await ask(model)).text == "Restart it."


@both
async def test_content_in_parts(serve: Serve, ask: Ask) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "secret"}]},
        {"type": "text", "text": "Restart it."},
    ]
    model, _ = await serve(Say(None, message={"content": parts}))
    assert (await ask(model)).text == "Restart it."


async def test_a_server_that_cannot_stream(serve: Serve) -> None:
    choice = {"message": {"content": "Restart it."}, "finish_reason": "stop"}
    model, _ = await serve(Whole({"choices": [choice]}))
    assert (await streamed(model)).text == "Restart it."


async def test_a_stream_is_decoded_whatever_its_letters(serve: Serve) -> None:
    text = "Перезапустите\u2028парсер 🚑\x85"
    model, _ = await serve(Say(pieces=list(text)))
    assert (await streamed(model)).text == text


@pytest.mark.parametrize("end", [{"finish": None}, {"done": False}])
async def test_either_end_mark_ends_a_stream(serve: Serve, end: dict[str, Any]) -> None:
    model, _ = await serve(Say("Restart it.", **end))
    assert (await streamed(model)).text == "Restart it."


# Faults of the server


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


# Servers that understand less


class Narrow:
    """A server that rejects requests whose body has what it does not know."""

    def __init__(self, knows: Callable[[dict[str, Any]], bool], rejection: Status) -> None:
        self._knows = knows
        self._rejection = rejection

    async def answer(self, request: Any, http: Any) -> Any:
        known = self._knows(request.body)
        step = Say('```\n{"relevant": true}\n```') if known else self._rejection
        return await step.answer(request, http)


def response_format(body: dict[str, Any]) -> str | None:
    form = body.get("response_format")
    return str(form["type"]) if form else None


OBJECT_ONLY = Narrow(
    lambda body: response_format(body) in (None, "json_object"),
    Status(500, "('body', 'response_format', 'type'): Input should be 'text' or 'json_object'"),
)
TEXT_ONLY = Narrow(
    lambda body: response_format(body) is None,
    Status(422, body={"detail": [{"loc": ["body", "response_format"], "msg": "not permitted"}]}),
)
NO_SCHEMA = Narrow(
    lambda body: response_format(body) is None,
    Status(400, "This model does not support structured outputs: json_schema"),
)


@both
@pytest.mark.parametrize(
    ("server_kind", "form", "rejected"),
    [(OBJECT_ONLY, "json_object", 1), (TEXT_ONLY, None, 2), (NO_SCHEMA, None, 2)],
)
async def test_structure_is_asked_for_as_the_server_understands_it(
    serve: Serve, ask: Ask, server_kind: Step, form: str | None, rejected: int
) -> None:
    model, server = await serve(default=server_kind)
    for _ in range(2):
        assert (await ask(model, SHAPED)).data == {"relevant": True}
    assert len(server.requests) == 2 + rejected  # learnt once
    assert response_format(server.requests[-1].body) == form
    assert '"relevant"' in server.requests[-1].system


async def test_structure_is_bound_to_the_schema_where_possible(serve: Serve) -> None:
    model, server = await serve(Say('{"relevant": true}'))
    await whole(model, Prompt("grade: пассажи", "", "?", schema=SCHEMA))
    form = server.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["name"].replace("_", "").replace("-", "").isascii()


@both
@pytest.mark.parametrize(
    ("gone", "rejection"),
    [
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
        ),
        ("temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
        ("stream_options", "unknown field stream_options"),
    ],
)
async def test_parameters_a_model_rejects_are_left_out(
    serve: Serve, ask: Ask, gone: str, rejection: str
) -> None:
    server_kind = Narrow(lambda body: gone not in body, Status(400, rejection))
    model, server = await serve(default=server_kind)
    for _ in range(2):
        assert (await ask(model)).text
    assert len(server.requests) <= 3
    assert gone not in server.requests[-1].body
