"""What the chat adapter makes of the replies of servers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.errors import ModelRefused, ReplyUnusable
from graph.ports import Prompt
from tests.servers.openai_model import PLAIN, SHAPED, Ask, Serve, both, serving, streamed, whole
from tests.servers.openai_server import USAGE, Chunks, Say, Step, Whole, delta_chunk


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with serving() as start:
        yield start


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
