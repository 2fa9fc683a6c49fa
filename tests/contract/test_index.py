"""What every knowledge index finds, and for whom, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from contract.index_chunks import (
    by_meaning,
    by_words,
    chunk_of,
    put,
    record_of,
    vector_of,
)

from bot.ports import KnowledgeIndex
from graph.errors import IndexMismatch
from graph.model import Access, Scope, SourceType, Status, levels_up_to
from graph.ports import Search
from graph.terms import counts_of, term_hashes
from graph.text import tokens

NOW = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
EVER, FOR_EVER = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


class TestFinding:
    async def test_a_hit_carries_all_that_scoring_needs(self, index: KnowledgeIndex) -> None:
        chunk = chunk_of("Drain the node db-orders-02.", heading="Nodes")
        chunk = replace(
            chunk,
            passage=replace(
                chunk.passage,
                owner="sre",
                updated_at=NOW,
                document_chunks=4,
                stub=True,
                behind=(("runbooks", "a.md"), ("vault", "b.md")),
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
    ("a space around", Access(labels=frozenset({" sec"})), scope(labels={"sec"})),
    ("a wildcard", Access(labels=frozenset({"sec-admins"})), scope(labels={"sec*", "sec?admins"})),
    ("quotes", Access(labels=frozenset({'"sec"'})), scope(labels={"sec", '"'})),
    ("no label at all", Access(labels=frozenset()), scope(labels={"sec", ""})),
    ("levels of nobody", Access(), scope(levels=frozenset())),
    ("another case", Access(labels=frozenset({"Sec"})), scope(labels={"sec"})),
    ("no common label", Access(labels=frozenset({"hr", "fin"})), scope(labels={"sec", "ops"})),
    ("a draft", Access(status=Status.DRAFT), scope()),
    ("a superseded page", Access(status=Status.SUPERSEDED), scope()),
    ("not yet in force", Access(effective_from=NOW + HOUR), scope()),
    ("no longer in force", Access(effective_until=NOW), scope()),
    ("another type", Access(), scope(source_types=frozenset({SourceType.REPO}))),
    ("said elsewhere", Access(place="slack:C1:chat"), scope(place="slack:C2:chat")),
    ("said in a look-alike place", Access(place="slack:C1:chat"), scope(place="slack:C1:shared")),
    ("said somewhere, asked nowhere", Access(place="slack:C1:chat"), scope()),
]
ADMITTED = [
    ("the same tenant", Access(tenant="acme"), scope(tenant="acme")),
    ("a lower level", Access(audience="staff"), scope(levels=frozenset({"staff", "senior"}))),
    ("one common label", Access(labels=frozenset({"sec", "hr"})), scope(labels={"sec"})),
    ("a page for all labels", Access(), scope(labels=frozenset({"sec"}))),
    ("a reader of all labels", Access(labels=frozenset({"sec"})), scope()),
    ("one odd label", Access(labels=frozenset({' "sec"\\* '})), scope(labels={' "sec"\\* '})),
    (
        "in force since ever and for ever",
        Access(effective_from=EVER, effective_until=FOR_EVER),
        scope(),
    ),
    ("in force from now", Access(effective_from=NOW), scope()),
    (
        "another time zone",
        Access(effective_from=datetime.fromisoformat("2026-05-04T05:30:00+03:00")),
        scope(),
    ),
    ("the wanted type", Access(), scope(source_types=frozenset({SourceType.FOLDER}))),
    ("said in the same place", Access(place="slack:C1:chat"), scope(place="slack:C1:chat")),
    ("bound to no place", Access(), scope(place="slack:C1:chat")),
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
        assert await index.files_in(scope) == {}
        assert await index.readable([("runbooks", "hidden.md")], scope) == frozenset()

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
        assert await index.files_in(scope) == {"runbooks": 1}
        assert await index.readable([("runbooks", "page.md")], scope) == {("runbooks", "page.md")}

    async def test_only_documents_that_may_be_read_are_counted(self, index: KnowledgeIndex) -> None:
        secret = Access(audience="director")
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        await put(index, "copy.md", "Drain the node.")
        await put(index, "hidden.md", "Drain it at night.", access=secret)
        await put(index, "salaries.md", "Nobody knows.", source="board", access=secret)
        assert await index.files_in(Scope()) == {"runbooks": 2}
        director = Scope(levels=levels_up_to("director"))
        assert await index.files_in(director) == {"runbooks": 3, "board": 1}

    async def test_which_documents_may_be_read(self, index: KnowledgeIndex) -> None:
        """SC-16: what is gone, and what is closed now, may not be read; other documents may."""
        closed = Access(audience="senior")
        await put(index, "open.md", "Drain the node.")
        await put(index, "twin.md", "Drain the node.")  # the same text at another place
        await put(index, "closed.md", "Drain the secret node.", access=closed)
        await put(index, "gone.md", "Drain the old node.")
        await index.remove("runbooks", ["gone.md"])
        names = ("open.md", "twin.md", "closed.md", "gone.md", "never.md")
        asked = [("runbooks", name) for name in names]
        found = {("runbooks", "open.md"), ("runbooks", "twin.md")}
        assert await index.readable(asked, Scope()) == found
        assert await index.readable([("other", "open.md")], Scope()) == frozenset()
        assert await index.readable([], Scope()) == frozenset()

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
