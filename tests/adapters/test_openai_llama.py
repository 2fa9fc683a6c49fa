"""The adapter against a real server (llama.cpp) with a real model. Shape counts, not wording."""

from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest

from adapters.openai import OpenAIChat, create_chat, create_embedder
from graph.errors import ContextOverflow, EmbedderError
from graph.ports import Completion, Prompt
from tests.servers.llama import CONTEXT, MODEL, llama_server, missing
from tests.servers.openai_server import pieces_and_end

pytestmark = [pytest.mark.peer, pytest.mark.skipif(bool(missing()), reason=missing())]

HELLO = Prompt("generate", "You are brief.", "Say hello to the people on call.", max_tokens=24)
SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["factual", "analytical", "synthesis"]},
        "sure": {"type": "boolean"},
    },
    "required": ["type", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server() as address:
        yield address


@pytest.fixture
async def model(url: str) -> AsyncIterator[OpenAIChat]:
    chat = create_chat(MODEL, url, timeout=60, silence_timeout=60)
    yield chat
    await chat.close()


async def test_a_whole_reply_with_counts(model: OpenAIChat) -> None:
    completion = await model.complete(HELLO)
    assert completion.text.strip()
    assert completion.prompt_tokens > 0
    assert 0 < completion.completion_tokens <= HELLO.max_tokens


async def test_a_stream_gives_the_same_reply_in_pieces(model: OpenAIChat) -> None:
    pieces, end = await pieces_and_end(model.stream(HELLO))
    assert len(pieces) > 1
    assert isinstance(end, Completion)
    assert "".join(pieces) == end.text
    assert 0 < end.completion_tokens <= HELLO.max_tokens


async def test_structured_output_parses(model: OpenAIChat) -> None:
    prompt = Prompt(
        "classify", "Classify the question.", "Why did it fail?", max_tokens=64, schema=SCHEMA
    )
    completion = await model.complete(prompt)
    assert completion.data is not None
    assert completion.data["type"] in ("factual", "analytical", "synthesis")
    assert isinstance(completion.data["sure"], bool)


async def test_a_prompt_longer_than_the_window(model: OpenAIChat) -> None:
    prompt = Prompt("generate", "", "alert " * (2 * CONTEXT), max_tokens=8)
    with pytest.raises(ContextOverflow):
        await model.complete(prompt)
    with pytest.raises(ContextOverflow):
        await pieces_and_end(model.stream(prompt))


async def test_embeddings_of_the_same_server(url: str) -> None:
    embedder = create_embedder(MODEL, url, timeout=60)
    texts = ["restart the parser", "", "перезапустить парсер", "restart the parser"]
    rows = await embedder.embed_passages(texts)
    assert rows.shape == (4, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(rows[[0, 2, 3]], axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(rows[0], rows[3], atol=1e-2)
    with pytest.raises(EmbedderError, match="too long"):
        await embedder.embed_passages(["\N{HAMMER AND PICK}\N{ALARM CLOCK}" * CONTEXT])
    await embedder.close()
