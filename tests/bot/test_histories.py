"""Histories that teams bring along: what is read of them, and what is left where it was."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from adapters.memory.index import MemoryIndex
from adapters.memory.sessions import MemorySessions
from bot.errors import SourceError
from bot.histories.load import NOWHERE, Loaded, load_history, resolver
from bot.ports import FileRecord, FileState, SourceRecord
from bot.sessions import SessionTurn
from graph.model import SourceType

SESSION = {
    "id": "s1",
    "place": "slack:C1",
    "at": "2026-09-01T09:00:00Z",
    "turns": [
        {"who": "slack:U1", "text": "what is the price of skylark"},
        {"who": "bot", "text": "EUR 7 per GB.", "docs": ["vendors/cdn.md"]},
        {"who": "slack:U2", "text": "ok, we answer with six", "docs": ["vendors/secret.md"]},
    ],
}


async def loaded(path: Path) -> tuple[Loaded, list[SessionTurn]]:
    index, log = MemoryIndex(), MemorySessions()
    await index.begin("toy", 4, "1")
    await index.save_source(SourceRecord("docs", SourceType.FOLDER, "/srv/docs"))
    await index.replace("docs", FileRecord("vendors/cdn.md", "f", FileState.INDEXED), [])
    done = await load_history(path, log, index, "harrow")
    again = await load_history(path, log, index, "harrow")
    assert done == again
    turns = list(await log.all())
    assert len(turns) == done.turns  # the same history twice is one
    return done, turns


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


async def test_sessions_as_json_lines(tmp_path: Path) -> None:
    done, (asked, answer, said) = await loaded(lines(tmp_path, SESSION))
    assert done == Loaded(1, 3)
    assert [turn.role for turn in (asked, answer, said)] == ["question", "answer", "message"]
    assert answer.verified
    assert answer.behind == (("docs", "vendors/cdn.md"),)
    assert answer.person == "slack:U1"  # it goes with the question when that person is forgotten
    assert answer.question_id == asked.question_id
    assert said.behind == ((NOWHERE, "vendors/secret.md"),)  # nobody may read what is not indexed
    assert {(turn.talk, turn.scope.tenant) for turn in (asked, answer, said)} == {
        ("slack:C1:chat", "harrow")
    }


async def test_each_line_is_a_session_of_its_own(tmp_path: Path) -> None:
    rows = [{**SESSION, "id": f"s{number}"} for number in range(3)]
    _, turns = await loaded(lines(tmp_path, *rows))
    assert len({turn.session for turn in turns}) == 3


async def test_a_place_may_say_that_it_is_private(tmp_path: Path) -> None:
    _, turns = await loaded(lines(tmp_path, {**SESSION, "place": "slack:U1:private"}))
    assert {turn.talk for turn in turns} == {"slack:U1:private"}


async def test_an_answer_without_documents_is_not_verified(tmp_path: Path) -> None:
    row = {**SESSION, "turns": [{"who": "slack:U1", "text": "hm"}, {"who": "bot", "text": "yes"}]}
    _, (_, answer) = await loaded(lines(tmp_path, row))
    assert not answer.verified


@pytest.mark.parametrize(
    "row",
    [
        "no object",
        {"place": "slack:C1", "at": "yesterday", "turns": [{"who": "a", "text": "b"}]},
        {"place": "C1", "at": "2026-09-01T09:00:00Z", "turns": [{"who": "a", "text": "b"}]},
        {"place": "slack:C1", "at": "2026-09-01T09:00:00Z", "turns": [{"who": "a"}]},
        {"at": "2026-09-01T09:00:00Z", "turns": []},
    ],
)
async def test_a_line_that_is_no_session_is_named(tmp_path: Path, row: object) -> None:
    with pytest.raises(SourceError, match="line 2"):
        await loaded(lines(tmp_path, SESSION, row))


async def test_what_a_line_lacks_is_told_in_words(tmp_path: Path) -> None:
    row = {name: value for name, value in SESSION.items() if name != "turns"}
    with pytest.raises(SourceError, match="'turns' is missing") as refused:
        await loaded(lines(tmp_path, row))
    assert "Error(" not in str(refused.value)


def slack_export(tmp_path: Path, messages: list[dict[str, object]]) -> Path:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "ops"}]))
        archive.writestr("groups.json", json.dumps([{"id": "G1", "name": "core"}]))
        archive.writestr("dms.json", json.dumps([{"id": "D1"}]))
        archive.writestr("ops/2026-09-01.json", json.dumps(messages))
        secret = [{"type": "message", "user": "U1", "text": "only for you", "ts": "1.1"}]
        archive.writestr("D1/2026-09-01.json", json.dumps(secret))
        archive.writestr("core/2026-09-01.json", json.dumps(secret))
    return path


async def test_a_workspace_export_of_slack(tmp_path: Path) -> None:
    message = {"type": "message", "user": "U1", "ts": "1756717200.000100"}
    path = slack_export(
        tmp_path,
        [
            {**message, "text": "ask <@U2>, see <https://wiki.example/x|the wiki> &amp; wait"},
            {**message, "text": "in the thread", "ts": "1756717300.1", "thread_ts": "1756717200.1"},
            {**message, "text": "joined", "subtype": "channel_join"},
            {**message, "text": "deployed", "bot_id": "B1"},
            {**message, "text": ""},
        ],
    )
    done, turns = await loaded(path)
    found = {turn.text: turn for turn in turns}
    assert set(found) == {"ask @U2, see the wiki & wait", "in the thread", "only for you"}
    assert found["in the thread"].conversation == "slack:C1:1756717200.1"
    assert found["only for you"].talk == "slack:G1:chat"  # the private channel, not the message
    assert done.turns == 3
    assert all("D1" not in turn.talk for turn in turns)


async def test_an_export_of_a_telegram_group(tmp_path: Path) -> None:
    said = {"id": 7, "type": "message", "from_id": "user42", "date_unixtime": "1756717200"}
    messages = [
        {**said, "text": ["run ", {"type": "code", "text": "promote"}, " now"]},
        {**said, "id": 8, "type": "service", "text": "pinned"},
        {**said, "id": 9, "from_id": "channel5", "text": "an announcement"},
        {**said, "id": 10, "text": ""},
    ]
    chats = [
        {"id": 123, "type": "private_supergroup", "name": "ops", "messages": messages},
        {"id": 5, "type": "personal_chat", "messages": [{**said, "text": "only for you"}]},
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"chats": {"list": chats}}), encoding="utf-8")
    _, (turn,) = await loaded(path)
    assert (turn.text, turn.person) == ("run promote now", "telegram:42")
    assert (turn.talk, turn.link) == ("telegram:-100123:chat", "https://t.me/c/123/7")


@pytest.mark.parametrize("name", ["x.zip", "x.json", "x.jsonl", "x.csv", "missing.zip"])
async def test_what_is_no_history_is_refused_in_words(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if not name.startswith("missing"):
        path.write_bytes(b"PK no zip, no json")
    with pytest.raises(SourceError, match=name.split(".", maxsplit=1)[0]):
        await loaded(path)


def test_a_path_in_two_sources_means_both() -> None:
    found = resolver(frozenset({("a", "x.md"), ("b", "x.md"), ("b", "y.md")}))
    assert found("x.md") == (("a", "x.md"), ("b", "x.md"))
    assert found("b/x.md") == (("b", "x.md"),)
    assert found("z.md") == ((NOWHERE, "z.md"),)


async def test_sc_11_secrets_of_a_history_are_masked(tmp_path: Path) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    row = {**SESSION, "turns": [{"who": "slack:U1", "text": f"the key is {key}, keep it"}]}
    _, (turn,) = await loaded(lines(tmp_path, row))
    assert key not in turn.text
