"""What every knowledge index does, whatever it is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from contract.index_chunks import (
    DIMENSION,
    EMBEDDER,
    by_meaning,
    by_words,
    chunk_of,
    put,
    record_of,
    vector_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.memory.index import MemoryIndex
from adapters.sqlite import SqliteIndex
from bot.errors import IndexIncompatible
from bot.ports import FileRecord, FileState, KnowledgeIndex, SourceRecord, SyncState
from graph.errors import IndexMismatch, StoreError
from graph.model import LANGUAGES, Access, Scope, SourceType, Status
from graph.ports import Search
from graph.profile import Anchor, Calibration, Profile, Statistics, Vocabulary
from graph.terms import counts_of, term_hashes
from graph.text import tokens

NOW = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


async def open_index(kind: str, folder: Path) -> KnowledgeIndex:
    index: KnowledgeIndex = (
        MemoryIndex() if kind == "memory" else await SqliteIndex.open(folder / "index.db")
    )
    await index.begin(*EMBEDDER)
    return index


@pytest.fixture(params=["memory", "sqlite"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = await open_index(request.param, tmp_path)
    yield index
    await index.close()


def a_profile(revision: int) -> Profile:
    mean = np.full(DIMENSION, 0.25, dtype=np.float32)
    anchor = Anchor(0.2, 0.1)
    return Profile(
        embedder=EMBEDDER[0],
        dimension=DIMENSION,
        revision=revision,
        statistics=Statistics(
            3, 12.5, np.sort(term_hashes(["drain", "node"])), np.array([1, 2], np.float32)
        ),
        calibration=Calibration(
            passage_means=dict.fromkeys(LANGUAGES, mean),
            question_means=dict.fromkeys(LANGUAGES, mean),
            dense={(q, d): anchor for q in LANGUAGES for d in LANGUAGES},
            lexical={(q, d): anchor for q in LANGUAGES for d in LANGUAGES},
            final=dict.fromkeys(LANGUAGES, anchor),
            chunks=3,
            fitted_at=NOW,
        ),
        vocabularies={
            lang: Vocabulary(("node",), vector_of("node").reshape(1, -1), mean)
            for lang in LANGUAGES
        },
    )


class TestFinding:
    async def test_a_hit_carries_all_that_scoring_needs(self, index: KnowledgeIndex) -> None:
        chunk = chunk_of("Drain the node db-orders-02.", heading="Nodes")
        chunk = replace(
            chunk,
            passage=replace(
                chunk.passage, owner="sre", updated_at=NOW, document_chunks=4, stub=True
            ),
        )
        await index.replace("runbooks", record_of("orders/db.md"), [chunk])
        (hit,) = await index.search(Search((), vector_of("drain")), Scope())
        assert hit.passage == chunk.passage
        assert np.array_equal(hit.vector, chunk.vector)
        wanted = term_hashes(["drain", "=db-orders-02", "unheard"])
        assert np.array_equal(counts_of(wanted, [hit.terms]), counts_of(wanted, [chunk.terms]))
        assert hit.terms.length == chunk.terms.length

    async def test_words_and_meaning_are_united(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Rotate the certificate.", "Call the vendor.")
        search = Search(tuple(tokens("certificate")), vector_of("Drain the node."), dense_limit=1)
        hits = await index.search(search, Scope())
        assert sorted(hit.passage.text for hit in hits) == [
            "Drain the node.",
            "Rotate the certificate.",
        ]

    async def test_either_half_can_be_switched_off(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Call the vendor.")
        assert await by_words(index, "vendor") == {"Call the vendor."}
        assert await by_meaning(index, "anything") == {"Drain the node.", "Call the vendor."}
        assert await index.search(Search((), None), Scope()) == []

    async def test_an_empty_index_finds_nothing(self, index: KnowledgeIndex) -> None:
        assert await by_words(index, "vendor") == set()
        assert await by_meaning(index, "vendor") == set()
        assert await index.mentioned(["vendor"], Scope()) == frozenset()

    async def test_the_dense_limit_holds_for_each_language(self, index: KnowledgeIndex) -> None:
        """A Russian question still gets English pages: neither language crowds the other out."""
        question = vector_of("question")
        near = [(question + 0.01 * vector_of(f"near {n}"), f"English text {n}") for n in range(6)]
        far = [(vector_of(f"far {n}"), f"Русский текст номер {n}") for n in range(6)]
        chunks = [
            chunk_of(text, ordinal=n, vector=(value / np.linalg.norm(value)).astype(np.float32))
            for n, (value, text) in enumerate([*near, *far])
        ]
        await index.replace("runbooks", record_of("orders/db.md"), chunks)
        hits = await index.search(Search((), question, dense_limit=2), Scope())
        assert sorted(hit.passage.language for hit in hits) == ["en", "en", "ru", "ru"]
        best = sorted(chunks[6:], key=lambda chunk: -float(chunk.vector @ question))[:2]
        russian = {hit.passage.text for hit in hits if hit.passage.language == "ru"}
        assert russian == {chunk.passage.text for chunk in best}

    async def test_the_lexical_limit_keeps_the_best(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", *(f"Restart service {n}." for n in range(5)), "Restart gateway.")
        hits = await index.search(
            Search(tuple(tokens("restart gateway")), None, lexical_limit=1), Scope()
        )
        assert [hit.passage.text for hit in hits] == ["Restart gateway."]

    @pytest.mark.parametrize(
        "name",
        ["db-orders-02", "ERR-4471", "/etc/pay/gw.conf", "v1.2.3", "OrderTimeoutException",
         "10.0.12.7:5432", "kube_pod_status", "платёж-шлюз-2", "Δ-реле_7", "데이터-베이스"],
    )  # fmt: skip
    async def test_identifiers_stay_whole(self, index: KnowledgeIndex, name: str) -> None:
        """RT-14's side of the store: the exact name matches, its parts and look-alikes do not."""
        others = [f"{name}x", *(f"{name}{joiner}old" for joiner in ".-_/:"), f"old-{name}"]
        await put(index, "a.md", f"Look at {name} first.", f"Look at {' or '.join(others)}.")
        whole = [token for token in tokens(name) if token.startswith("=")]
        assert len(whole) == 1
        hits = await index.search(Search(tuple(whole), None), Scope())
        assert [hit.passage.text for hit in hits] == [f"Look at {name} first."]
        assert await index.mentioned(whole, Scope()) == frozenset(whole)

    @pytest.mark.parametrize(
        ("text", "question"),
        [
            ("Кассовый разрыв: лимит 2026", "кассовый разрыв"),
            ("Перезапустить шлюз платежей", "как перезапустить платёжный шлюз"),
            ("Учёт ёмкости диска", "емкость диска"),
            ("Έλεγχος σύνδεσης δικτύου", "σύνδεσης"),
            ("数据库 故障 处理", "故障"),
            ("Störung der Datenbank größer", "größer"),
        ],
    )
    async def test_rt_11_words_of_other_scripts(
        self, index: KnowledgeIndex, text: str, question: str
    ) -> None:
        await put(index, "a.md", text)
        await put(index, "b.md", "Nothing of the kind.")
        assert await by_words(index, question) == {text}

    @pytest.mark.parametrize("word", ["AND", "NOT NEAR", '"', "a* OR (b", "body:", "^x", "-", "\0"])
    async def test_words_are_never_query_syntax(self, index: KnowledgeIndex, word: str) -> None:
        await put(index, "a.md", "Drain the node.")
        hits = await index.search(Search((word, "drain", ""), None), Scope())
        assert [hit.passage.text for hit in hits] == ["Drain the node."]
        assert await index.mentioned([word, "", "drain"], Scope()) == {"drain"}

    async def test_a_question_of_thousands_of_words(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        words = (*(f"w{number}" for number in range(5000)), "drain")
        assert len(await index.search(Search(words, None), Scope())) == 1

    async def test_heading_name_and_folders_are_searched(self, index: KnowledgeIndex) -> None:
        chunk = chunk_of("See below.", "payments/gateway-restart.md", heading="Failover plan")
        await index.replace("runbooks", record_of("payments/gateway-restart.md"), [chunk])
        for question in ("failover", "gateway restart", "payments"):
            assert await by_words(index, question) == {"See below."}

    async def test_a_whole_document_in_reading_order(self, index: KnowledgeIndex) -> None:
        texts = [f"Step {number}." for number in range(12)]
        await put(index, "a.md", *texts)
        await put(index, "b.md", "Another document.")
        (hit,) = await index.search(Search(tuple(tokens("7")), None), Scope())
        document = await index.document(hit.passage, Scope())
        assert [passage.text for passage in document] == texts

    async def test_a_question_of_another_dimension_is_refused(self, index: KnowledgeIndex) -> None:
        """ST-05: never a wrong answer from vectors that mean something else."""
        await put(index, "a.md", "Drain the node.")
        with pytest.raises(IndexMismatch):
            await index.search(Search((), vector_of("drain", 8)), Scope())


def scope(**changes: object) -> Scope:
    return replace(Scope(now=NOW), **changes)


RULES = [
    ("another tenant", Access(tenant="acme"), scope()),
    ("a look-alike tenant", Access(tenant="default-2"), scope()),
    ("a higher level", Access(audience="senior"), scope()),
    ("look-alike labels", Access(labels=frozenset({"sec-admins"})), scope(labels={"sec"})),
    ("a shorter label", Access(labels=frozenset({"sec"})), scope(labels={"sec-admins"})),
    ("another case", Access(labels=frozenset({"Sec"})), scope(labels={"sec"})),
    ("no common label", Access(labels=frozenset({"hr", "fin"})), scope(labels={"sec", "ops"})),
    ("a draft", Access(status=Status.DRAFT), scope()),
    ("a superseded page", Access(status=Status.SUPERSEDED), scope()),
    ("not yet in force", Access(effective_from=NOW + HOUR), scope()),
    ("no longer in force", Access(effective_until=NOW), scope()),
    ("another type", Access(), scope(source_types=frozenset({SourceType.REPO}))),
]
ADMITTED = [
    ("the same tenant", Access(tenant="acme"), scope(tenant="acme")),
    ("a lower level", Access(audience="staff"), scope(levels=frozenset({"staff", "senior"}))),
    ("one common label", Access(labels=frozenset({"sec", "hr"})), scope(labels={"sec"})),
    ("a page for all labels", Access(), scope(labels=frozenset({"sec"}))),
    ("a reader of all labels", Access(labels=frozenset({"sec"})), scope()),
    ("in force from now", Access(effective_from=NOW), scope()),
    (
        "another time zone",
        Access(effective_from=datetime.fromisoformat("2026-05-04T05:30:00+03:00")),
        scope(),
    ),
    ("the wanted type", Access(), scope(source_types=frozenset({SourceType.FOLDER}))),
]


class TestScope:
    @pytest.mark.parametrize(("access", "scope"), [r[1:] for r in RULES], ids=[r[0] for r in RULES])
    async def test_st_02_what_a_scope_does_not_admit_is_not_there(
        self, index: KnowledgeIndex, access: Access, scope: Scope
    ) -> None:
        await put(index, "hidden.md", "Drain the secret node.", access=access)
        (hidden, *_) = [passage async for passage, _, _ in index.chunks()]
        assert await by_words(index, "drain", scope) == set()
        assert await by_meaning(index, "drain", scope) == set()
        assert await index.mentioned(["secret"], scope) == frozenset()
        assert await index.document(hidden, scope) == []

    @pytest.mark.parametrize(
        ("access", "scope"), [r[1:] for r in ADMITTED], ids=[r[0] for r in ADMITTED]
    )
    async def test_what_a_scope_admits_is_found(
        self, index: KnowledgeIndex, access: Access, scope: Scope
    ) -> None:
        await put(index, "page.md", "Drain the node.", access=access)
        assert await by_words(index, "drain", scope) == {"Drain the node."}
        assert await by_meaning(index, "drain", scope) == {"Drain the node."}
        assert await index.mentioned(["drain"], scope) == {"drain"}

    async def test_hidden_chunks_take_no_place_among_the_best(self, index: KnowledgeIndex) -> None:
        """The filter comes before the limits: better hits that are hidden cost nothing."""
        secret = Access(labels=frozenset({"sec-admins"}))
        await put(index, "h.md", *(f"drain drain drain {n}" for n in range(40)), access=secret)
        await put(index, "open.md", "At last, one may also drain the node here.")
        for search in (
            Search(("drain",), None, lexical_limit=1),
            Search((), vector_of("drain drain drain 7"), dense_limit=1),
        ):
            hits = await index.search(search, Scope(labels=frozenset({"sec"})))
            assert [hit.passage.document for hit in hits] == ["open.md"]

    async def test_paths_are_compared_whole(self, index: KnowledgeIndex) -> None:
        """ST-02 for paths and sources: look-alikes are other documents."""
        await put(index, "ops/db", "First text.")
        await put(index, "ops/db-old", "Second text.")
        await put(index, "ops/db", "Third text.", source="runbooks-2")
        (hit,) = await index.search(Search(("first",), None), Scope())
        assert [p.text for p in await index.document(hit.passage, Scope())] == ["First text."]
        await index.remove("runbooks", ["ops/db"])
        assert await by_meaning(index, "text") == {"Second text.", "Third text."}

    async def test_the_scope_moves_with_time(self, index: KnowledgeIndex) -> None:
        await put(index, "new.md", "The new rule.", access=Access(effective_from=NOW + HOUR))
        await put(index, "old.md", "The old rule.", access=Access(effective_until=NOW + HOUR))
        assert await by_words(index, "rule", scope()) == {"The old rule."}
        assert await by_words(index, "rule", scope(now=NOW + HOUR)) == {"The new rule."}


class TestChanging:
    async def test_a_file_becomes_exactly_what_it_is_now(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.", "Call the vendor.")
        await put(index, "b.md", "Another page.")
        stored = await put(index, "a.md", "Cordon the node.", "Write a postmortem.")
        assert stored == 2
        assert await by_meaning(index, "x") == {
            "Cordon the node.",
            "Write a postmortem.",
            "Another page.",
        }
        assert await by_words(index, "drain") == await by_words(index, "vendor") == set()
        assert (await index.info()).chunks == 3

    async def test_the_same_again_changes_nothing(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        before = await index.info()
        assert await put(index, "a.md", "Drain the node.", "Cordon the node.") == 2
        assert await index.info() == before

    async def test_every_change_of_chunks_grows_the_revision(self, index: KnowledgeIndex) -> None:
        seen = [(await index.info()).revision]

        async def grown() -> bool:
            seen.append((await index.info()).revision)
            return seen[-1] > seen[-2]

        await put(index, "a.md", "Drain the node.")
        assert await grown()
        await put(index, "a.md", "Drain the node.", access=Access(audience="senior"))
        assert await grown()
        await index.replace("runbooks", record_of("empty.md"), [])
        assert not await grown()
        await index.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/docs"))
        assert not await grown()
        await index.remove("runbooks", ["unheard-of.md", "empty.md"])
        assert not await grown()
        await index.remove("runbooks", ["a.md"])
        assert await grown()
        await put(index, "a.md", "Drain the node.")
        await grown()
        await index.reset()
        assert await grown()

    async def test_a_vector_that_changed_is_searched_with(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Call the vendor.")
        for text in ("first", "second"):
            chunk = chunk_of("Drain the node.", "b.md", vector=vector_of(text))
            await index.replace("runbooks", record_of("b.md"), [chunk])
            (hit,) = await index.search(Search((), vector_of(text), dense_limit=1), Scope())
            assert np.array_equal(hit.vector, chunk.vector)

    async def test_removed_files_are_gone(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        await put(index, "b.md", "Call the vendor.")
        await put(index, "c.md", "Write a postmortem.")
        assert await index.remove("runbooks", ["a.md", "b.md", "unheard-of.md"]) == 3
        assert await by_meaning(index, "x") == {"Write a postmortem."}
        assert await by_words(index, "drain cordon vendor") == set()
        assert list(await index.records("runbooks")) == ["c.md"]
        assert await index.remove("runbooks", ["a.md"]) == 0

    async def test_a_removed_source_leaves_the_others(self, index: KnowledgeIndex) -> None:
        for name in ("runbooks", "runbooks-2"):
            await index.save_source(SourceRecord(name, SourceType.FOLDER, f"/{name}"))
            await put(index, "a.md", f"Drain the node of {name}.", source=name)
        assert await index.remove_source("runbooks") == 1
        assert await by_words(index, "drain") == {"Drain the node of runbooks-2."}
        assert [record.name for record in await index.sources()] == ["runbooks-2"]
        assert await index.records("runbooks") == {}
        assert await index.remove_source("unheard-of") == 0

    async def test_a_wrong_vector_leaves_the_file_as_it_was(self, index: KnowledgeIndex) -> None:
        """ST-07's kind: a batch with one bad object is refused as a whole, record included."""
        await put(index, "a.md", "Drain the node.")
        chunks = [
            chunk_of("Cordon the node.", "a.md"),
            chunk_of("Call the vendor.", "a.md", ordinal=1, vector=vector_of("x", 8)),
        ]
        with pytest.raises(IndexIncompatible):
            await index.replace("runbooks", record_of("a.md", "f2"), chunks)
        assert await by_meaning(index, "x") == {"Drain the node."}
        assert (await index.records("runbooks"))["a.md"].fingerprint == "f1"

    async def test_many_at_once(self, index: KnowledgeIndex) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(put(index, f"{number}.md", f"Restart service {number}."))
                group.create_task(by_meaning(index, "restart"))
                group.create_task(by_words(index, "restart"))
        assert len(await by_meaning(index, "restart")) == 20
        assert len(await by_words(index, "restart")) == 20


class TestDuplicates:
    async def test_a_text_is_found_once_and_names_its_other_places(
        self, index: KnowledgeIndex
    ) -> None:
        assert await put(index, "a.md", "Drain the node.") == 1
        assert await put(index, "b.md", "Drain the node.", "Call the vendor.") == 1
        assert await put(index, "c.md", "Drain the node.", source="wiki") == 0
        hits = await index.search(Search(tuple(tokens("drain")), vector_of("x")), Scope())
        places = {hit.passage.text: (hit.passage.document, hit.passage.also_at) for hit in hits}
        assert len(hits) == 2
        assert places["Drain the node."] == ("a.md", ("runbooks/b.md", "wiki/c.md"))
        assert places["Call the vendor."] == ("b.md", ())
        assert (await index.info()).chunks == 2

    async def test_each_audience_has_its_own(self, index: KnowledgeIndex) -> None:
        """Nobody loses a page to a copy that they may not read, nor learns of that copy."""
        secret = Access(labels=frozenset({"sec"}))
        await put(index, "secret.md", "Drain the node.", access=secret)
        assert await put(index, "open.md", "Drain the node.") == 1
        (hit,) = await index.search(Search(("drain",), None), Scope(labels=frozenset({"ops"})))
        assert (hit.passage.document, hit.passage.also_at) == ("open.md", ())

    @pytest.mark.parametrize("way", ["remove", "replace", "remove_source"])
    async def test_the_copy_takes_over(self, index: KnowledgeIndex, way: str) -> None:
        await put(index, "a.md", "Drain the node.", source="wiki")
        await put(index, "b.md", "Drain the node.")
        await put(index, "c.md", "Drain the node.")
        if way == "remove":
            assert await index.remove("wiki", ["a.md"]) == 0
        elif way == "replace":
            await put(index, "a.md", "Something else.", source="wiki")
        else:
            assert await index.remove_source("wiki") == 0
        for search in (Search(("drain",), None), Search((), vector_of("Drain the node."))):
            hits = await index.search(search, Scope())
            places = [
                (h.passage.document, h.passage.also_at) for h in hits if "D" in h.passage.text
            ]
            assert places == [("b.md", ("runbooks/c.md",))]
        assert await index.remove("runbooks", ["b.md", "c.md"]) == 1
        assert await by_words(index, "drain") == await by_meaning(index, "x") - {"Something else."}

    async def test_a_copy_that_goes_leaves_no_trace(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await put(index, "b.md", "Drain the node.")
        assert await index.remove("runbooks", ["b.md"]) == 0
        (hit,) = await index.search(Search(("drain",), None), Scope())
        assert (hit.passage.document, hit.passage.also_at) == ("a.md", ())

    async def test_an_edited_document_keeps_what_it_was_first_to_say(
        self, index: KnowledgeIndex
    ) -> None:
        await put(index, "b.md", "Drain the node.")
        await put(index, "a.md", "Drain the node.")
        await put(index, "b.md", "A new first line.", "Drain the node.")
        (hit,) = await index.search(Search(("drain",), None), Scope())
        assert (hit.passage.document, hit.passage.also_at) == ("b.md", ("runbooks/a.md",))

    async def test_a_text_twice_in_one_file_is_kept_once(self, index: KnowledgeIndex) -> None:
        stored = await put(index, "a.md", "Call the vendor.", "Drain it.", "Call the vendor.")
        assert stored == 2
        (hit,) = await index.search(Search(("vendor",), None), Scope())
        assert (hit.passage.lines, hit.passage.also_at) == ((1, 1), ())

    async def test_a_document_is_whole_though_parts_stand_elsewhere(
        self, index: KnowledgeIndex
    ) -> None:
        await put(index, "a.md", "Call the vendor.")
        await put(index, "b.md", "Drain the node.", "Call the vendor.", "Close the alert.")
        (hit,) = await index.search(Search(("drain",), None), Scope())
        document = await index.document(hit.passage, Scope())
        assert [passage.text for passage in document] == [
            "Drain the node.",
            "Call the vendor.",
            "Close the alert.",
        ]
        assert document[1].also_at == ("runbooks/a.md",)


class TestRecords:
    async def test_files_are_remembered(self, index: KnowledgeIndex) -> None:
        record = FileRecord(
            "отчёты/май.md", "f9", FileState.SKIPPED, "encoding", "koi8-r?", 0, "Май", NOW
        )
        await index.replace("runbooks", record, [])
        await index.replace("wiki", record_of("a.md"), [])
        assert await index.records("runbooks") == {record.path: record}
        assert await index.records("unheard-of") == {}

    async def test_a_skipped_file_has_no_chunks_left(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await index.replace("runbooks", FileRecord("a.md", "f2", FileState.SKIPPED, "binary"), [])
        assert await by_words(index, "drain") == set()
        assert (await index.records("runbooks"))["a.md"].state is FileState.SKIPPED

    async def test_sources_are_remembered(self, index: KnowledgeIndex) -> None:
        record = SourceRecord(
            "wiki", SourceType.REPO, "git.example/wiki", SyncState.COMPLETE, NOW, 3, 9, 1, "ok"
        )
        await index.save_source(replace(record, state=SyncState.RUNNING))
        await index.save_source(record)
        await index.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/docs"))
        assert [source.name for source in await index.sources()] == ["runbooks", "wiki"]
        assert (await index.sources())[1] == record

    async def test_chunks_come_in_the_order_of_documents(self, index: KnowledgeIndex) -> None:
        await put(index, "b.md", "Third.", "Fourth.")
        await put(index, "a.md", "First.", "Second.", access=Access(status=Status.DRAFT))
        await put(index, "c.md", "First of the wiki.", "Third.", source="wiki")
        stored = [(p.text, vector, terms) async for p, vector, terms in index.chunks()]
        assert [text for text, _, _ in stored] == [
            "First.",
            "Second.",
            "Third.",
            "Fourth.",
            "First of the wiki.",
        ]
        assert all(np.array_equal(vector, vector_of(text)) for text, vector, _ in stored)
        assert stored[3][2].to_bytes() == chunk_of("Fourth.", "b.md").terms.to_bytes()

    async def test_more_chunks_than_one_page(self, index: KnowledgeIndex) -> None:
        texts = [f"Line {number}." for number in range(1100)]
        await put(index, "long.md", *texts)
        assert [passage.text async for passage, _, _ in index.chunks()] == texts


class TestBuildingTools:
    async def test_a_new_index_says_so(self, index: KnowledgeIndex) -> None:
        info = await index.info()
        assert (info.embedder, info.dimension, info.chunker) == EMBEDDER
        assert (info.chunks, info.revision, info.profile_revision) == (0, 0, -1)

    @pytest.mark.parametrize(
        "other", [("e5", DIMENSION, "chunker-1"), ("toy-embedder", 384, "chunker-1"),
                  ("toy-embedder", DIMENSION, "chunker-2")],
    )  # fmt: skip
    async def test_st_05_other_tools_are_refused_by_name(
        self, index: KnowledgeIndex, other: tuple[str, int, str]
    ) -> None:
        await put(index, "a.md", "Drain the node.")
        before = await index.info()
        with pytest.raises(IndexIncompatible) as refusal:
            await index.begin(*other)
        for word in (*EMBEDDER, *other):
            assert str(word) in str(refusal.value)
        assert "belay sync --rebuild" in refusal.value.remedy
        assert await index.info() == before
        assert await by_words(index, "drain") == {"Drain the node."}

    async def test_st_05_the_same_tools_go_on(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await index.begin(*EMBEDDER)
        assert await put(index, "b.md", "Call the vendor.") == 1

    async def test_st_05_an_emptied_index_takes_another_embedder(
        self, index: KnowledgeIndex
    ) -> None:
        await index.save_source(
            SourceRecord("runbooks", SourceType.FOLDER, "/docs", SyncState.COMPLETE, NOW, 1, 1)
        )
        await put(index, "a.md", "Drain the node.")
        await index.save_profile(a_profile(1))
        assert await by_meaning(index, "drain") == {"Drain the node."}
        await index.reset()
        info = await index.info()
        assert (info.embedder, info.dimension, info.chunks, info.profile_revision) == ("", 0, 0, -1)
        assert await index.records("runbooks") == {}
        (source,) = await index.sources()
        assert (source.location, source.state, source.chunks) == ("/docs", SyncState.NEVER, 0)
        await index.begin("e5", 8, "chunker-1")
        chunk = chunk_of("Drain the node.", vector=vector_of("e5", 8))
        await index.replace("runbooks", record_of("orders/db.md"), [chunk])
        (hit,) = await index.search(Search((), vector_of("e5", 8)), Scope())
        assert np.array_equal(hit.vector, chunk.vector)

    async def test_no_profile_yet(self, index: KnowledgeIndex) -> None:
        with pytest.raises(StoreError, match="no profile"):
            await index.profile()

    async def test_a_profile_comes_back(self, index: KnowledgeIndex) -> None:
        for revision in (4, 5):
            await index.save_profile(a_profile(revision))
            profile = await index.profile()
            assert profile.to_bytes() == a_profile(revision).to_bytes()
            assert (await index.info()).profile_revision == revision

    async def test_a_profile_of_the_same_revision_replaces_the_first(
        self, index: KnowledgeIndex
    ) -> None:
        await index.save_profile(a_profile(4))
        await index.profile()
        again = replace(a_profile(4), embedder="another")
        await index.save_profile(again)
        assert (await index.profile()).embedder == "another"


TEXTS = st.sampled_from(["drain node", "call vendor", "узел вывести", "rotate =key", "drain узел"])
ACCESS = st.sampled_from(
    [Access(), Access(labels=frozenset({"sec"})), Access(audience="senior", tenant="acme")]
)
FILES = st.sampled_from([(source, path) for source in ("s", "t") for path in ("a", "b", "c")])
STEP = st.one_of(
    st.tuples(st.just("replace"), FILES, st.lists(st.tuples(TEXTS, ACCESS), max_size=4)),
    st.tuples(st.just("remove"), FILES, st.none()),
    st.tuples(st.just("remove_source"), FILES, st.none()),
)
SCOPES = [
    Scope(),
    Scope(labels=frozenset({"sec"})),
    Scope(labels=frozenset({"ops"})),
    Scope(tenant="acme", levels=frozenset({"staff", "senior"})),
]


async def play(index: KnowledgeIndex, steps: list[tuple]) -> dict[tuple[str, str], list]:
    """Takes the steps; returns what each file holds at the end."""
    state: dict[tuple[str, str], list] = {}
    for verb, (source, path), held in steps:
        if verb == "replace":
            state[source, path] = held
            chunks = [
                chunk_of(text, path, source=source, ordinal=ordinal, access=access)
                for ordinal, (text, access) in enumerate(held)
            ]
            await index.replace(source, record_of(path), chunks)
        elif verb == "remove":
            state.pop((source, path), None)
            await index.remove(source, [path])
        else:
            state = {place: held for place, held in state.items() if place[0] != source}
            await index.remove_source(source)
    return state


async def everything(index: KnowledgeIndex, scope: Scope) -> set[tuple]:
    """Each text with all of its places, as both halves of a search give them."""
    halves = []
    words = tuple(tokens("drain node call vendor узел вывести rotate key"))
    for search in (Search(words, None), Search((), vector_of("x"))):
        halves.append(
            {
                (
                    hit.passage.text,
                    frozenset(
                        {f"{hit.passage.source}/{hit.passage.document}", *hit.passage.also_at}
                    ),
                )
                for hit in await index.search(search, scope)
            }
        )
    assert halves[0] == halves[1]
    return halves[0]


def expected(state: dict[tuple[str, str], list], scope: Scope) -> set[tuple]:
    places: dict[tuple[str, Access], set[str]] = {}
    for (source, path), held in state.items():
        for text, access in held:
            if scope.admits(access):
                places.setdefault((text, access), set()).add(f"{source}/{path}")
    return {(text, frozenset(where)) for (text, _), where in places.items()}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEP, max_size=12))
def test_any_history_ends_in_the_same_index(kind: str, steps: list[tuple]) -> None:
    """What is found depends on what the files hold now, never on how they came to it."""

    async def compare() -> None:
        with TemporaryDirectory() as folder:
            index = await open_index(kind, Path(folder))
            try:
                state = await play(index, steps)
                for scope in SCOPES:
                    assert await everything(index, scope) == expected(state, scope)
                texts = {(t, access) for held in state.values() for t, access in held}
                assert (await index.info()).chunks == len(texts)
            finally:
                await index.close()

    asyncio.run(compare())
