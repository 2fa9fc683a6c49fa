"""What the chat adapter sends, and what it leaves out for servers that understand less."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from adapters.openai import create_chat
from graph.ports import Prompt
from tests.servers.openai_model import KEY, PLAIN, SCHEMA, SHAPED, Ask, Serve, both, serving, whole
from tests.servers.openai_server import OpenAIServer, Say, Status, Step


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with serving() as start:
        yield start


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
