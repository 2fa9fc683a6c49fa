"""How a question is seen: its words, what stands for them, and what nobody has heard of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from graph.idf import REFERENCE, idf, stretch
from graph.lexicon import Lexicon
from graph.look import look, tokens_of
from graph.profile import Profile, Statistics
from graph.slang import alike
from graph.terms import term_hashes
from graph.text import question_language, stem, tokens
from graph.view import QuestionView
from tests.graph.retrieval_kit import Counted, RandomEmbedder, Shelf, builtin, indexed

FILES = {
    "pooler.md": "# Pooler\n\nWe run pgbouncer before the database. OAuthProxy signs people in.\n",
    "backup.md": "# Backups\n\nThe backup of the database is copied to cold storage at night.\n",
    "errors.md": "# Errors\n\nERR-4417 is a declined card.\n",
    "kube.md": "# Cluster\n\nThe k8s cluster has three nodes. Drain a node before its upgrade.\n",
    "words.md": "# Rollback\n\nThe login timeout is short. Fail over by hand, then set up the web"
    "hook.\n",
    "ru.md": "# Сертификаты\n\nСертификат шлюза выпускают заново за неделю до срока.\n",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = asyncio.run(indexed(tmp_path_factory.mktemp("look"), FILES))
    yield made
    asyncio.run(made.index.close())


async def seen(shelf: Shelf, text: str, *, vector: bool = True) -> QuestionView:
    profile = await shelf.index.profile()
    row = (await builtin().embed_questions([text]))[0] if vector else None
    return await look(text, question_language(text), profile, Lexicon(builtin()), row)


def reached(view: QuestionView, word: str) -> dict[str, float]:
    """Stem -> worth in texts of either language."""
    found = next(item for item in view.words if item.text == word)
    return {name: worth for pairs in found.reach.values() for name, worth in pairs}


async def test_a_word_stands_for_itself_fully(shelf: Shelf) -> None:
    view = await seen(shelf, "where is the backup?")
    assert reached(view, "backup")["backup"] == 1.0


async def test_slang_is_worth_less_and_works_both_ways(shelf: Shelf) -> None:
    for question, word, other in (
        ("где бэкап?", "бэкап", "backup"),
        ("drain a нода", "нода", "node"),
        ("certificate expired", "certificate", "сертификат"),
    ):
        assert reached(await seen(shelf, question), word)[stem(other)] == 0.9


async def test_words_of_the_other_language_are_reached_by_meaning(shelf: Shelf) -> None:
    """No list holds "хранилище -> storage of the index" pairs; vectors do."""
    view = await seen(shelf, "ночью копируют базу данных")
    worths = reached(view, "ночью")
    others = {name: worth for name, worth in worths.items() if name != stem("ночью")}
    assert "night" in others
    assert all(0.5 <= worth < 1 for worth in others.values())


async def test_at_most_three_translations(shelf: Shelf) -> None:
    view = await seen(shelf, "перед обновлением узла надо освободить его")
    for word in view.words:
        translated = [p for p in word.reach["en"] if p[0] not in (word.stem, *alike(word.stem))]
        assert len(translated) <= 3


@pytest.mark.parametrize(
    ("typed", "word", "written"),
    [
        ("how do I reload PgBouncer", "pgbouncer", "pgbouncer"),  # written as one word
        ("how to reload pgbouncer", "pgbouncer", "pgbouncer"),
        ("what is oauthproxy", "oauthproxy", "=oauthproxy"),  # written in CamelCase
        ("what is OAuthProxy", "proxy", "proxy"),
        ("what is err4417", "4417", "4417"),  # written apart
        ("upgrade the k8s", "k8s", "=k8s"),
        ("обновить кубер", "кубер", "=k8s"),
        ("drian a node", "drian", "drain"),  # a slip
        ("how to roll back", "roll", "rollback"),  # written together
        ("we rolled back", "rolled", "rollback"),
        ("a roll-back", "roll", "rollback"),
        ("when did they log in", "log", "login"),
        ("where is the back up", "back", "backup"),
        ("the web hook", "hook", "webhook"),
        ("the time-out of it", "time", "timeout"),
        ("start the failover", "failover", "fail"),
        ("what is the setup", "setup", "set"),
    ],
)
async def test_a_word_is_cut_as_the_documents_cut_it(
    shelf: Shelf, typed: str, word: str, written: str
) -> None:
    """RT-14: the same tokenisation on both sides, however people type a name."""
    view = await seen(shelf, typed)
    assert (written if written.startswith("=") else stem(written)) in reached(view, word)
    assert not view.unknown


async def test_words_that_only_stand_side_by_side_are_no_compound(shelf: Shelf) -> None:
    view = await seen(shelf, "roll the back of it, log what is in, web. Hook")
    assert not {"rollback", "login", "webhook"} & {
        name for word in view.words for pairs in word.reach.values() for name, _ in pairs
    }


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("how do we restore the backup from argocd", ("argocd",)),
        ("does kubeflow need a backup", ("kubeflow",)),
        ("what does ERR-4417 mean", ()),  # words that only ask are nothing to hear of
        ("why does the backup not work any more", ()),
        ("what happened to the database", ()),
        ("где лежит бэкап", ()),
    ],
)
async def test_words_that_no_document_mentions_are_named(
    shelf: Shelf, question: str, unknown: tuple[str, ...]
) -> None:
    assert (await seen(shelf, question)).unknown == unknown


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("how do I restart Grafana", ("Grafana",)),
        ("Grafana is down", ()),  # every sentence begins with a capital
        ("what is ERR-4417", ("ERR-4417",)),
        ("is NATS used here", ("NATS",)),
        ("как перезапустить grafana", ("grafana",)),
        ("как перезапустить графану", ()),
        ("как посмотреть logs в nginx", ("nginx",)),
        ("what is the default", ()),
        ("restart db-02 and db-03", ("db-02", "db-03")),
    ],
)
async def test_a_question_names_things(shelf: Shelf, question: str, names: tuple[str, ...]) -> None:
    assert (await seen(shelf, question)).named == names


async def test_without_a_vector_nothing_is_embedded(shelf: Shelf) -> None:
    profile = await shelf.index.profile()
    silent = Counted(RandomEmbedder(dimension=512))
    view = await look("где бэкап серверов", "ru", profile, Lexicon(silent), None)
    assert silent.texts == []
    assert {"бэкап", "backup"} <= set(reached(view, "бэкап"))


async def test_coverage_is_the_weighted_share_of_the_words_a_text_holds(shelf: Shelf) -> None:
    view = await seen(shelf, "copy the backup to cold storage")
    weights = {word.stem: word.idf for word in view.words}
    total = sum(weights.values())
    assert view.coverage(tokens("copy the backup to cold storage"), "en") == pytest.approx(1)
    assert view.coverage([], "en") == 0
    share = view.coverage(["backup"], "en")
    assert share >= weights["backup"] / total - 1e-6
    assert view.coverage(["backup", "storag"], "en") > share


async def test_a_word_is_embedded_once() -> None:
    embedder = Counted(RandomEmbedder())
    lexicon = Lexicon(embedder, capacity=3)
    first = await lexicon.vectors(["a1", "b1", "a1"])
    again = await lexicon.vectors(["b1", "a1"])
    assert embedder.texts == ["a1", "b1"]
    assert np.array_equal(first[0], again[1])
    await lexicon.vectors(["c1", "d1"])  # the least recently asked goes
    await lexicon.vectors(["a1", "b1"])
    assert embedder.texts == ["a1", "b1", "c1", "d1", "b1"]
    assert (await lexicon.vectors([])).shape == (0, embedder.dimension)


async def test_more_words_than_fit_are_all_returned() -> None:
    lexicon = Lexicon(RandomEmbedder(), capacity=2)
    words = [f"word{number}" for number in range(5)]
    assert (await lexicon.vectors(words)).shape[0] == 5


def statistics(chunks: int, **frequencies: int) -> Statistics:
    hashes = term_hashes(frequencies)
    order = np.argsort(hashes)
    counts = np.array(list(frequencies.values()), dtype=np.float32)
    return Statistics(chunks, 10.0, hashes[order], counts[order])


def weights(terms: Sequence[str], of: Statistics) -> list[float]:
    return [float(value) for value in idf(list(terms), of)]


def test_a_rarer_word_tells_more() -> None:
    of = statistics(2000, zebraword=1, lionword=20, bearword=1500)
    rare, usual, everywhere, nowhere = weights(
        ["zebraword", "lionword", "bearword", "nothingword"], of
    )
    assert nowhere >= rare > usual > everywhere > 0


def test_a_small_index_knows_common_words_from_runbooks_in_general() -> None:
    alert, unheard = weights(["alert", "zebraword"], statistics(2, alert=1, zebraword=1))
    assert alert < unheard


def test_the_scale_of_a_small_index_is_that_of_a_large_one() -> None:
    (small,) = weights(["nothingword"], statistics(3))
    (large,) = weights(["nothingword"], statistics(REFERENCE))
    assert small == pytest.approx(large, rel=0.1)
    assert stretch(REFERENCE) == stretch(10 * REFERENCE) == 1.0
    assert stretch(0) > stretch(100) > 1.0


def test_groups_of_slang_hold_tokens_as_the_index_keeps_them() -> None:
    assert "=k8s" in alike(stem("кубер"))
    assert "=control-plane" in alike("master")
    assert alike("nothingword") == frozenset()
    for word in ("backup", stem("бэкап"), "=k8s"):
        assert all(word in alike(other) for other in alike(word))


async def test_the_profile_survives_being_read_back(shelf: Shelf) -> None:
    profile = await shelf.index.profile()
    again = Profile.from_bytes(profile.to_bytes())
    view = await look("где бэкап", "ru", again, Lexicon(builtin()), np.zeros(512, np.float32))
    assert "backup" in reached(view, "бэкап")


@pytest.mark.parametrize(
    ("name", "mentions"),
    [
        ("ERR-4418", {"=err-4418", "err-4418", "4418"}),
        ("WB5031", {"=wb5031", "wb5031", "5031"}),
        ("CVE-2024-12345", {"=cve-2024-12345", "cve-2024-12345", "12345"}),
    ],
)
def test_rt_14_a_numbered_name_is_mentioned_by_its_number(name: str, mentions: set[str]) -> None:
    """RT-14: a page of ERR-4417 is none of ERR-4418."""
    assert set(tokens_of(name)) == mentions


@pytest.mark.parametrize("name", ["KubePodCrashLooping", "k8s", "24-hour", "SEV1", "db-7-replica"])
def test_other_names_are_mentioned_by_their_words(name: str) -> None:
    assert any(item.isalpha() for item in tokens_of(name))
