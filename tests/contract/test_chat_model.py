"""What every chat model does, whatever it is made of."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Protocol

import pytest

from adapters.memory.model import ScriptedModel
from adapters.openai import create_chat
from graph.errors import ModelMisconfigured, ReplyUnusable
from graph.ports import ChatModel, Completion, Prompt
from tests.servers.openai_server import OpenAIServer, Say, Status, pieces_and_end

SCHEMA = {
    "type": "object",
    "properties": {"relevant": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["relevant"],
    "additionalProperties": False,
}
PLAIN = Prompt("generate", "You answer from passages.", "How do I restart the parser?")
SHAPED = Prompt("grade", "You judge.", "Is it relevant?", schema=SCHEMA)


class Saying(Protocol):
    """Makes a model that gives these replies; an error stands for a model that is set up wrong."""

    async def __call__(self, *replies: str | ModelMisconfigured) -> ChatModel: ...


@pytest.fixture(params=["scripted", "openai"])
async def saying(request: pytest.FixtureRequest) -> AsyncIterator[Saying]:
    async with AsyncExitStack() as stack:

        async def scripted(*replies: str | ModelMisconfigured) -> ChatModel:
            return ScriptedModel(*replies)

        async def openai(*replies: str | ModelMisconfigured) -> ChatModel:
            steps = [Say(each) if isinstance(each, str) else Status(401) for each in replies]
            server = await stack.enter_async_context(OpenAIServer(*steps))
            model = create_chat("any", server.url)
            stack.push_async_callback(model.close)
            return model

        yield scripted if request.param == "scripted" else openai


async def test_has_a_name(saying: Saying) -> None:
    assert (await saying()).name


async def test_gives_the_whole_reply_with_counts(saying: Saying) -> None:
    completion = await (await saying("Restart it with systemctl.")).complete(PLAIN)
    assert completion.text == "Restart it with systemctl."
    assert completion.data is None
    assert completion.prompt_tokens > 0
    assert completion.completion_tokens > 0


async def test_streams_pieces_and_ends_with_the_completion(saying: Saying) -> None:
    model = await saying("Перезапустите его:\n\n1. `systemctl restart parser`\n")
    pieces, end = await pieces_and_end(model.stream(PLAIN))
    assert len(pieces) > 1
    assert isinstance(end, Completion)
    assert "".join(pieces) == end.text == "Перезапустите его:\n\n1. `systemctl restart parser`\n"


async def test_replies_in_the_order_of_the_calls(saying: Saying) -> None:
    model = await saying("one", "two")
    assert (await model.complete(PLAIN)).text == "one"
    assert (await pieces_and_end(model.stream(PLAIN)))[1].text == "two"


async def test_a_schema_gives_data(saying: Saying) -> None:
    completion = await (await saying('{"relevant": true, "reason": "names it"}')).complete(SHAPED)
    assert completion.data == {"relevant": True, "reason": "names it"}


@pytest.mark.parametrize(
    "reply",
    [
        'Sure! Here is the JSON:\n```json\n{"relevant": "yes", "reason": "has {braces}"}\n```\nBye',
        '{"relevant": "true", "reason": "has {braces}"} I hope that helps {really}',
        '<think>{"relevant": false}</think>\n{"relevant": true, "reason": "has {braces}"}',
    ],
)
async def test_lm08_a_wrapped_value_is_found(saying: Saying, reply: str) -> None:
    model = await saying(reply)
    assert (await model.complete(SHAPED)).data == {"relevant": True, "reason": "has {braces}"}


@pytest.mark.parametrize("reply", ["I cannot say.", '{"reason": "no verdict"}', "[1, 2]"])
async def test_another_structure_than_promised_is_unusable(saying: Saying, reply: str) -> None:
    model = await saying(reply)
    with pytest.raises(ReplyUnusable):
        await model.complete(SHAPED)


@pytest.mark.parametrize("reply", ["", "  \n", "<think>only thoughts</think>", "<think>no end"])
async def test_an_empty_reply_is_unusable(saying: Saying, reply: str) -> None:
    model = await saying(reply, reply)
    with pytest.raises(ReplyUnusable):
        await model.complete(PLAIN)
    with pytest.raises(ReplyUnusable):
        await pieces_and_end(model.stream(PLAIN))


@pytest.mark.parametrize("tag", ["think", "thinking", "THINK"])
async def test_lm10_reasoning_never_reaches_the_caller(saying: Saying, tag: str) -> None:
    reply = f"<{tag}>The user works at X, a secret plan.</{tag}>\n\nRestart it."
    model = await saying(reply, reply)
    assert (await model.complete(PLAIN)).text == "Restart it."
    pieces, end = await pieces_and_end(model.stream(PLAIN))
    assert "".join(pieces) == end.text == "Restart it."


async def test_errors_come_out_of_both_methods(saying: Saying) -> None:
    model = await saying(ModelMisconfigured("wrong key"), ModelMisconfigured("wrong key"))
    with pytest.raises(ModelMisconfigured):
        await model.complete(PLAIN)
    with pytest.raises(ModelMisconfigured):
        await pieces_and_end(model.stream(PLAIN))
