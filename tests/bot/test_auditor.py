"""What the running bot writes down of questions, and that no answer pays for it."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from answering_kit import ANN, BOSS, GROUP, NOW, STRANGER, Bot, private
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.memory.audit import MemoryAudit
from adapters.memory.conversation import MemoryConversation
from adapters.sqlite.audit import SqliteAudit
from bot.audit import AuditQuery, AuditRecord
from bot.auditor import Auditor
from bot.chat import Incoming, Kind, Reply
from bot.errors import PlatformGone, StorageError
from bot.redaction import redact_values
from graph.model import Outcome


def audited(audit: MemoryAudit) -> Bot:
    return Bot(options={"auditor": Auditor(audit)})


async def written(audit: MemoryAudit) -> list[AuditRecord]:
    return await audit.find(AuditQuery())


@pytest.fixture
def audit() -> MemoryAudit:
    return MemoryAudit(now=lambda: NOW)


async def test_a_question_of_a_group_with_the_rights_of_the_group(audit: MemoryAudit) -> None:
    bot = audited(audit)
    await bot.let_in(GROUP)
    await bot.let_in(ANN, "director")
    await bot.says(ANN, "which port does billing use?", GROUP)
    (row,) = await written(audit)
    assert (row.person, row.place.id, row.place.title) == (ANN.key, GROUP.id, "ops")
    assert (row.question, row.resolved) == ("which port does billing use?", "")
    assert (row.rights.tenant, row.rights.levels) == ("default", ("staff",))
    assert (row.outcome, row.hits, row.model_calls) == (Outcome.FAILED, (), 0)  # nothing is indexed
    assert row.question_id == bot.traces[0].question_id
    assert row.milliseconds > 0


async def test_the_name_of_a_private_chat_is_a_persons_and_is_not_kept(audit: MemoryAudit) -> None:
    bot = audited(audit)
    await bot.says(BOSS, "hello, any runbooks?", replace(private(BOSS), title="Boss Bosson"))
    (row,) = await written(audit)
    assert "Bosson" not in repr(row)


async def test_who_was_not_let_in_has_asked_nothing(audit: MemoryAudit) -> None:
    bot = audited(audit)
    await bot.says(STRANGER, "what is the prod DB host?")
    await bot.says(BOSS, "/help")
    assert await written(audit) == []


@pytest.mark.parametrize(
    ("typed", "way"),
    [
        ("/ask what now?", "ask"),
        ("/runbook redis", "runbook"),
        ("/incident redis down", "incident"),
    ],
)
async def test_every_way_to_ask_is_written_down(audit: MemoryAudit, typed: str, way: str) -> None:
    bot = audited(audit)
    await bot.says(BOSS, typed)
    assert [row.way for row in await written(audit)] == [way]


class Gone(MemoryConversation):
    async def answer(self, reply: Reply) -> None:
        raise PlatformGone("blocked")


async def test_an_answer_that_nobody_took_was_still_asked_for(audit: MemoryAudit) -> None:
    bot = audited(audit)
    event = Incoming(Kind.QUESTION, private(BOSS), BOSS, "1", text="any runbooks?", at=NOW)
    with pytest.raises(PlatformGone):
        await bot.handler(event, Gone(), 1, late=False)
    assert [row.question for row in await written(audit)] == ["any runbooks?"]


class Stuck(MemoryAudit):
    """A store that takes for ever."""

    async def save(self, record: AuditRecord) -> None:
        await asyncio.Event().wait()


async def test_an_answer_does_not_wait_for_the_audit() -> None:
    bot, conversation = audited(Stuck()), MemoryConversation()
    event = Incoming(Kind.QUESTION, private(BOSS), BOSS, "1", text="any runbooks?", at=NOW)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(bot.handler(event, conversation, 1, late=False))
        while not conversation.answers:
            await asyncio.sleep(0)
        assert not asking.done()
        asking.cancel()


class Full(MemoryAudit):
    """A store on a disk that has no room, for the time being."""

    full = True

    async def save(self, record: AuditRecord) -> None:
        if self.full:
            raise StorageError("The audit cannot be used: disk is full", "Free some space.")
        await super().save(record)


async def test_op_08_a_full_disk_costs_no_answer_and_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    audit = Full(now=lambda: NOW)
    bot = audited(audit)
    with caplog.at_level(logging.WARNING):
        for number in range(5):
            assert (await bot.says(BOSS, f"any runbooks for redis{number}?")).answers
        (line,) = caplog.messages
        assert "disk is full" in line
        assert "Free some space." in line
        audit.full = False
        await bot.says(BOSS, "and now?")
    assert len(await written(audit)) == 1
    (_, line) = caplog.messages
    assert "5 questions" in line


async def test_a_folder_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    bot = Bot(options={"auditor": Auditor(SqliteAudit(tmp_path / "home" / "audit.db"))})
    assert (await bot.says(BOSS, "any runbooks?")).answers


@pytest.mark.parametrize("text", ["half \ud83d", "nul \x00 inside", "\u202eturned", "🔥" * 9000])
async def test_any_text_can_be_written_down(tmp_path: Path, text: str) -> None:
    audit = SqliteAudit(tmp_path / "audit.db", now=lambda: NOW)
    bot = Bot(options={"auditor": Auditor(audit)})
    assert (await bot.says(BOSS, text)).answers
    assert len(await audit.find(AuditQuery())) == 1


LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
KINDS = {
    "telegram": (r"", 35, "123456789:AA{}"),
    "slack": (r"", 24, "xoxb-1234567890-{}"),
    "github": (r"", 36, "ghp_{}"),
    "model": (r"", 40, "sk-{}"),
    "bearer": (r"1", 30, "Authorization: Bearer {}"),
    "password": (r"Z9!", 12, "password: {}"),
    "assigned": (r"Z9!", 12, 'DB_PASSWORD="{}"'),
    "address": (r"Z9", 14, "postgres://app:{}@db-1.internal/app"),
    "own": (r"", 20, "{}"),
}


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    tail=st.text(LETTERS, min_size=40, max_size=40),
    before=st.text("abc где \n«»()", max_size=40),
    after=st.text("abc где \n«»()", max_size=40),
)
def test_no_secret_of_a_question_reaches_the_file(
    kind: str, tail: str, before: str, after: str
) -> None:
    """Whatever stands around it: values of known shapes, and those that the settings name."""
    end, length, shape = KINDS[kind]
    secret = tail[: length - len(end)] + end
    if kind == "own":
        redact_values([secret])
    question = f"{before} {shape.format(secret)} {after} is refused"

    async def asked(folder: Path) -> bytes:
        audit = SqliteAudit(folder / "audit.db", now=lambda: NOW)
        bot = Bot(options={"auditor": Auditor(audit)})
        group = replace(GROUP, title=f"ops {shape.format(secret)}")
        await bot.let_in(group)
        assert (await bot.says(ANN, question, group)).answers
        assert len(await audit.find(AuditQuery())) == 1
        return b"".join(file.read_bytes() for file in folder.iterdir())

    with tempfile.TemporaryDirectory() as folder:
        assert secret.encode() not in asyncio.run(asked(Path(folder)))
