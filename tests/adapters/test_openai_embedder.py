"""The embeddings adapter against a server that misbehaves on demand."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import numpy as np
import pytest

from adapters.openai import OpenAIEmbedder, create_embedder
from graph.errors import EmbedderError
from graph.ports import Matrix
from tests.servers.openai_server import (
    Hang,
    OpenAIServer,
    Page,
    Status,
    Step,
    Vectors,
    Whole,
    closed_port,
    vector_of,
)

TEXTS = ["restart the parser", "перезапустить парсер", "rollback a release"]
Serve = Callable[..., Any]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """An embedder and the server behind it, which takes these steps."""
    async with AsyncExitStack() as stack:

        async def start(
            *steps: Step, default: Step | None = None, **options: Any
        ) -> tuple[OpenAIEmbedder, OpenAIServer]:
            server = await stack.enter_async_context(OpenAIServer(*steps, default=default))
            embedder = create_embedder("any", server.url, **{"patience": 1.0, **options})
            stack.push_async_callback(embedder.close)
            return embedder, server

        yield start


def unit(texts: list[str]) -> Matrix:
    rows = [vector_of(text, 8) for text in texts]
    return np.array([row / np.linalg.norm(row) for row in rows])


@pytest.mark.parametrize(
    "vectors",
    [Vectors(), Vectors(packed=True), Vectors(order=lambda data: data[::-1])],
    ids=["floats", "base64", "reordered"],
)
async def test_rows_are_unit_vectors_in_the_order_of_the_texts(
    serve: Serve, vectors: Vectors
) -> None:
    embedder, _ = await serve(default=vectors)
    rows = await embedder.embed_passages(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, unit(TEXTS), atol=1e-6)
    np.testing.assert_allclose(
        await embedder.embed_questions(TEXTS[:1]), unit(TEXTS[:1]), atol=1e-6
    )


async def test_batches_by_count_and_by_characters(serve: Serve) -> None:
    texts = ["a" * 10, "b" * 10, "c" * 10, "d" * 90, "e"]
    embedder, server = await serve(default=Vectors(), batch_texts=2, batch_characters=50)
    np.testing.assert_allclose(await embedder.embed_passages(texts), unit(texts), atol=1e-6)
    asked = [request.body["input"] for request in server.requests]
    assert [text for batch in asked for text in batch] == texts
    assert all(len(batch) <= 2 for batch in asked)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= 50 for batch in asked)


async def test_blank_texts_are_never_sent_and_are_near_to_nothing(serve: Serve) -> None:
    embedder, server = await serve(default=Vectors())
    rows = await embedder.embed_passages(["", TEXTS[0], " \n\t"])
    assert rows.shape == (3, 8)
    assert not rows[0].any()
    assert not rows[2].any()
    assert [request.body["input"] for request in server.requests] == [[TEXTS[0]]]
    assert (await embedder.embed_passages(["", " "])).shape == (2, 8)
    assert (await embedder.embed_passages([])).shape == (0, 8)
    assert len(server.requests) == 1


async def test_the_dimension_is_discovered_once(serve: Serve) -> None:
    embedder, server = await serve(default=Vectors(dimension=5))
    with pytest.raises(EmbedderError):
        assert embedder.dimension
    assert await embedder.probe() == embedder.dimension == 5
    assert await embedder.probe() == 5
    assert len(server.requests) == 1
    assert embedder.name == "openai:any"


async def test_another_dimension_than_expected_is_an_error(serve: Serve) -> None:
    embedder, _ = await serve(default=Vectors(dimension=5), dimension=8)
    with pytest.raises(EmbedderError, match="5 numbers"):
        await embedder.embed_passages(TEXTS)
    embedder, _ = await serve(Vectors(dimension=5), Vectors(dimension=6))
    await embedder.embed_passages(TEXTS)
    with pytest.raises(EmbedderError, match="BELAY_EMBEDDER"):
        await embedder.embed_passages(TEXTS)


@pytest.mark.parametrize(
    "wrong",
    [
        Vectors(vector=lambda _text, size: [0.0] * size),
        Vectors(vector=lambda _text, size: [[0.5] * size] * 3),
        Vectors(vector=lambda _text, _size: []),
        Vectors(vector=lambda _text, _size: None),
        Vectors(vector=lambda _text, _size: "not base64!"),
        Vectors(vector=lambda _text, size: ["x"] * size),
        Vectors(vector=lambda _text, size: [float("nan")] * size),
        Vectors(vector=lambda text, _size: [1.0] * len(text)),
        Vectors(order=lambda data: data[:-1]),
        Vectors(order=lambda data: [data[0]] * len(data)),
        Whole({"data": None}),
        Whole({"data": [1, 2, 3]}),
        Page(),
    ],
)
async def test_what_is_not_one_vector_a_text_is_an_error(serve: Serve, wrong: Step) -> None:
    embedder, _ = await serve(wrong)
    with pytest.raises(EmbedderError):
        await embedder.embed_passages(TEXTS)


async def test_a_passing_fault_is_asked_for_once_more(serve: Serve) -> None:
    busy = Status(429, headers={"Retry-After": "0.05"})
    embedder, server = await serve(busy, Vectors(), Status(500), Vectors())
    for _ in range(2):
        assert (await embedder.embed_questions(TEXTS)).shape == (3, 8)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (Status(401), "BELAY_MODEL_KEY"),
        (Status(404, "model 'any' not found"), "BELAY_EMBEDDER"),
        (Status(404, body="404 page not found"), "BELAY_MODEL_URL"),
        (Status(400, "maximum context length is 512 tokens"), "20 characters"),
        (Status(500, "input (900 tokens) is too large to process"), "20 characters"),
        (Status(429, headers={"Retry-After": "60"}), "rate"),
    ],
)
async def test_faults_say_what_to_check(serve: Serve, fault: Step, named: str) -> None:
    embedder, server = await serve(fault)
    with pytest.raises(EmbedderError, match=named):
        await embedder.embed_passages(TEXTS)
    assert len(server.requests) == 1


async def test_lm18_an_account_without_money_is_left_alone(serve: Serve) -> None:
    embedder, server = await serve(Status(429, code="insufficient_quota"))
    for _ in range(2):
        with pytest.raises(EmbedderError):
            await embedder.embed_questions(TEXTS)
    assert len(server.requests) == 1


async def test_lm16_a_server_that_hangs_is_given_up(serve: Serve) -> None:
    embedder, server = await serve(default=Hang(), timeout=0.3, passage_timeout=0.3)
    for embed in (embedder.embed_questions, embedder.embed_passages):
        with pytest.raises(EmbedderError):
            await embed(TEXTS)
    assert len(server.requests) == 2


async def test_passages_may_take_longer_than_a_question(serve: Serve) -> None:
    embedder, _ = await serve(default=Vectors(), timeout=0)
    with pytest.raises(EmbedderError):
        await embedder.embed_questions(TEXTS)
    assert (await embedder.embed_passages(TEXTS)).shape == (3, 8)


async def test_nobody_listens() -> None:
    embedder = create_embedder("any", await closed_port())
    with pytest.raises(EmbedderError, match="BELAY_MODEL_URL"):
        await embedder.embed_questions(TEXTS)
    await embedder.close()


@pytest.mark.parametrize(
    "odd", ["half \ud83d of a pair", "nul \x00 inside", "disk full " * 9_000, "\ufdfa" * 9_000]
)
async def test_a_server_is_only_sent_text_that_it_can_read(serve: Serve, odd: str) -> None:
    embedder, server = await serve(default=Vectors())
    await embedder.embed_passages([odd, "drain"])
    first, second = [text for request in server.requests for text in request.body["input"]]
    assert (len(first) <= 4000, "\x00" in first, second) == (True, False, "drain")
