"""The contract of the audit: every store of it keeps these promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.memory.audit import MemoryAudit
from adapters.sqlite.audit import SqliteAudit
from bot.audit import Audit, AuditQuery, AuditRecord, Hit, Rights
from bot.chat import Place
from bot.errors import StorageError
from graph.model import Outcome

ANN, BORIS = "telegram:1", "slack:U2"
GROUP = Place("telegram", "-100", "group", title="Дежурные")
THREAD = Place("slack", "C1", "channel", "17.5", title="ops")
PRIVATE = Place("telegram", "1")
RECORD = AuditRecord(
    "aaaaaaaaaaaa",
    datetime(2026, 3, 1, 3, 0, tzinfo=UTC),
    ANN,
    GROUP,
    "ask",
    "and on staging?",
    "which port does staging use",
    Rights("default", ("manager", "staff"), (("brindle", "core"), ("all",))),
    (Hit("c1", "runbooks/staging.md", 0.91), Hit("c2", "runbooks/ports.md", 0.4)),
    ("c1",),
    Outcome.ANSWERED,
    412.5,
    2,
)


@dataclass
class Clock:
    now: datetime = RECORD.at

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


MakeAudit = Callable[..., Audit]


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> MakeAudit:
    if request.param == "memory":
        return lambda **options: MemoryAudit(now=clock, **options)
    return lambda **options: SqliteAudit(tmp_path / "home" / "audit.db", now=clock, **options)


@pytest.fixture
def audit(make: MakeAudit) -> Audit:
    return make()


def numbered(number: int, **changes: Any) -> AuditRecord:
    """The question of that minute."""
    base = replace(RECORD, question_id=f"{number:012x}", at=RECORD.at + timedelta(minutes=number))
    return replace(base, **changes)


async def ids(audit: Audit, **query: Any) -> list[str]:
    return [record.question_id.lstrip("0") for record in await audit.find(AuditQuery(**query))]


async def test_an_empty_audit(audit: Audit) -> None:
    assert await audit.find(AuditQuery()) == []
    assert await audit.forget(ANN) == 0
    extent = await audit.extent()
    assert (extent.count, extent.oldest) == (0, None)


async def test_a_question_is_found_as_it_was_written(audit: Audit) -> None:
    second = numbered(1, person=BORIS, place=THREAD, hits=(), outcome=Outcome.FAILED, resolved="")
    await audit.save(RECORD)
    await audit.save(second)
    assert await audit.find(AuditQuery()) == [second, RECORD]
    assert (RECORD.relevance, second.relevance) == (0.91, 0.0)
    extent = await audit.extent()
    assert (extent.count, extent.oldest) == (2, RECORD.at)


async def test_a_second_attempt_at_a_question_replaces_the_first(audit: Audit) -> None:
    await audit.save(replace(RECORD, outcome=Outcome.FAILED))
    await audit.save(RECORD)
    assert await audit.find(AuditQuery()) == [RECORD]


async def test_the_newest_come_first_whatever_was_written_first(audit: Audit) -> None:
    for number in (2, 3, 1):
        await audit.save(numbered(number))
    assert await ids(audit) == ["3", "2", "1"]
    assert await ids(audit, limit=2) == ["3", "2"]
    assert await ids(audit, since=RECORD.at + timedelta(minutes=2)) == ["3", "2"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"person": ANN}, ["1"]),
        ({"person": "telegram:11"}, []),
        ({"place": "telegram:-100"}, ["1"]),
        ({"place": "slack:C1"}, ["2"]),
        ({"place": "slack:C1:17.5"}, ["2"]),
        ({"place": "slack:C1:17"}, []),
        ({"place": "slack:C"}, []),
        ({"place": "дежурные"}, ["1"]),
        ({"outcomes": frozenset({Outcome.NOT_FOUND, Outcome.WEB})}, ["2"]),
        ({"contains": "ПОЧЕМУ УПАЛ"}, ["2"]),
        ({"contains": "всё"}, ["2"]),
        ({"contains": "port does STAGING"}, ["1"]),
        ({"contains": "%"}, []),
        ({"contains": "_"}, []),
        ({"person": ANN, "contains": "упал"}, []),
        ({"contains": "упал", "limit": 1}, ["2"]),
    ],
)
async def test_questions_are_found_by(
    audit: Audit, query: dict[str, Any], found: list[str]
) -> None:
    question = "Почему упал PatroniNoLeader и все встало?"
    await audit.save(numbered(1))
    await audit.save(
        numbered(2, person=BORIS, place=THREAD, question=question, resolved="",
                 outcome=Outcome.NOT_FOUND)
    )  # fmt: skip
    assert await ids(audit, **query) == found


async def test_questions_are_kept_as_long_as_was_set(make: MakeAudit, clock: Clock) -> None:
    audit = make(kept=timedelta(days=30))
    await audit.save(numbered(1))
    await audit.save(numbered(2))
    clock.now = RECORD.at + timedelta(days=30, minutes=2)
    assert await ids(audit) == ["2"]
    clock.now += timedelta(minutes=1)
    assert (await audit.extent()).count == 0
    await audit.save(numbered(3, at=clock.now))
    clock.now -= timedelta(days=1)
    assert await ids(audit) == ["3"]


async def test_what_a_person_asked_is_deleted(audit: Audit) -> None:
    for number, person in enumerate((ANN, BORIS, ANN, "telegram:11")):
        await audit.save(numbered(number, person=person))
    assert await audit.forget(ANN) == 2
    assert [record.person for record in await audit.find(AuditQuery())] == ["telegram:11", BORIS]
    assert await audit.forget(ANN) == 0


async def test_a_forgotten_person_has_one_name_that_says_nothing(make: MakeAudit) -> None:
    """The private chat goes as well: its id is the person's."""
    audit = make(pseudonyms=True)
    await audit.save(numbered(1))
    await audit.save(numbered(2, place=PRIVATE))
    await audit.save(numbered(3, person=BORIS))
    assert await audit.forget(ANN) == 2
    third, second, first = await audit.find(AuditQuery())
    assert first.person == second.person != third.person == BORIS
    assert (first.place, first.question) == (GROUP, RECORD.question)
    assert second.place.kind == "private"
    assert second.place.id != PRIVATE.id
    assert "telegram" not in first.person
    assert await audit.forget(ANN) == 0


async def test_two_forgotten_people_are_not_mixed_up(make: MakeAudit) -> None:
    audit = make(pseudonyms=True)
    await audit.save(numbered(1))
    await audit.save(numbered(2, person=BORIS))
    for person in (ANN, BORIS):
        assert await audit.forget(person) == 1
    assert len({record.person for record in await audit.find(AuditQuery())}) == 2


@pytest.mark.parametrize("pseudonyms", [False, True])
async def test_nothing_of_a_forgotten_person_stays_in_the_file(
    tmp_path: Path, pseudonyms: bool
) -> None:
    """Deleted rows must not be readable in free pages of the file."""
    path = tmp_path / "audit.db"
    person = "telegram:4242424242"
    place = Place("telegram", "4242424242")
    audit = SqliteAudit(path, pseudonyms=pseudonyms, now=Clock())
    for number in range(50):
        await audit.save(
            numbered(number, person=person, place=place, question=f"secretive {number}")
        )
    await audit.forget(person)
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"4242424242" not in left
    assert (b"secretive" in left) is pseudonyms


async def test_the_audit_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    await SqliteAudit(path, now=Clock()).save(RECORD)
    assert await SqliteAudit(path, now=Clock()).find(AuditQuery()) == [RECORD]


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    path.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(StorageError, match="audit"):
        await SqliteAudit(path).save(RECORD)
