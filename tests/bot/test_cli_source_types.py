"""`--type` wherever documents are listed, searched or asked: one collection, types apart."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_kit import BELAY, Belay
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

QUESTION = "which port does the ledger listen on"
PORTS = {"folder": "4101", "repo": "4202", "upload": "4303", "manual": "4404", "vault": "4505"}


def page(kind: str) -> str:
    return f"# Ledger of {kind}\n\nThe ledger service listens on port {PORTS[kind]}.\n"


def repository(folder: Path, kind: str) -> str:
    folder.mkdir()
    (folder / "ledger.md").write_text(page(kind))
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder.as_uri()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    """One document about the same thing in a source of each type."""
    root = tmp_path_factory.mktemp("types")
    (root / "docs").mkdir()
    (root / "docs/ledger.md").write_text(page("folder"))
    (root / "handed.md").write_text(page("upload"))
    sources = [
        {"name": "code", "url": repository(root / "code", "repo")},
        {"name": "safe", "kind": "vault", "url": repository(root / "safe", "vault")},
        {"name": "docs", "path": str(root / "docs")},
    ]
    settings = {"SOURCES": json.dumps(sources), "GIT__PROTOCOLS": '["https", "ssh", "file"]'}
    belay = Belay(root / "home").with_(**settings)
    for words in (
        ("sync",), ("add", root / "handed.md"), ("note", page("manual"), "--publish"),
    ):  # fmt: skip
        ended = belay(*words)
        assert ended.code == 0, ended.err
    return belay


@pytest.mark.parametrize("kind", sorted(PORTS))
def test_each_type_is_found_by_itself(team: Belay, kind: str) -> None:
    found = team("search", QUESTION, "--type", kind, "--json")
    assert [hit["source_type"] for hit in found.json] == [kind]


@pytest.mark.parametrize("kind", ["repo", "vault"])
def test_an_answer_is_of_the_type_alone(team: Belay, kind: str) -> None:
    answer = team("ask", QUESTION, "--type", kind, "--json").json
    assert PORTS[kind] in answer["text"]
    assert {item["passage"]["source_type"] for item in answer["citations"]} == {kind}
    others = [port for name, port in PORTS.items() if name != kind]
    cited = "".join(item["passage"]["text"] for item in answer["citations"])
    assert not [port for port in others if port in cited]  # commits in links have any digits


@pytest.mark.parametrize(
    "named", [("--type", "repo", "--type", "manual"), ("--type", "repo,Manual")], ids=["twice", ","]
)
def test_several_types_are_asked_together(team: Belay, named: tuple[str, ...]) -> None:
    found = team("search", QUESTION, "--json", *named).json
    assert {hit["source_type"] for hit in found} == {"repo", "manual"}
    documents, sources = team("documents", "--json", *named), team("sources", "--json", *named)
    assert {row["type"] for row in documents.json} == {"repo", "manual"}
    assert {row["kind"] for row in sources.json} == {"repo", "manual"}
    chat = team("chat", *named, typed=f"{QUESTION}\n").out
    assert PORTS["folder"] not in chat
    assert PORTS["repo"] in chat or PORTS["manual"] in chat


@pytest.mark.parametrize("words", [("search", "x"), ("ask", "x"), ("chat",), ("sources",),
                                   ("documents",)], ids=lambda words: str(words[0]))  # fmt: skip
def test_a_wrong_type_is_told_with_those_that_there_are(
    team: Belay, words: tuple[str, ...]
) -> None:
    ended = team(*words, "--type", "wiki")
    ended.failed(2, "'wiki'", "folder, manual, repo, upload, vault")


def test_a_type_without_sources_answers_nothing(indexed: Belay) -> None:
    """No other type helps out, and neither does the web."""
    ended = indexed("ask", "what is the bank cut-off for payouts", "--type", "vault", "--json")
    assert (ended.json["outcome"], ended.json["citations"]) == ("not_found", [])
    assert "vault" in indexed("sources", "--type", "vault").err


def test_a_type_that_nothing_is_of_is_told_with_what_to_do(indexed: Belay) -> None:
    """Documents may come near, if there were any; the exit code is that of "not found"."""
    cut_off = "what is the bank cut-off for payouts"
    absent = "There are no documents of the type `vault`"
    instead = "There are some of the type `folder`"
    for ended in (
        indexed("search", cut_off, "--type", "vault"),
        indexed("ask", cut_off, "--type", "vault"),
        indexed("chat", "--type", "vault", typed=f"{cut_off}\n"),
    ):
        assert ended.code == 0
        assert absent in ended.out
        assert instead in ended.out
        assert "comes near" not in ended.out
        assert 'kind = "vault"' in ended.err
    quiet = indexed("search", cut_off, "--type", "vault,upload", "--json")
    assert (quiet.code, quiet.json) == (0, [])
    assert "no documents of the type `upload` or `vault`" in quiet.err
    assert "belay add FILE" in quiet.err
    answer = indexed("ask", cut_off, "--type", "vault", "--json").json
    assert (answer["outcome"], answer["citations"]) == ("not_found", [])
    assert absent in answer["text"]
    assert 'kind = "vault"' in indexed("sources", "--type", "vault").err


def test_a_type_that_documents_are_of_is_not_called_absent(indexed: Belay) -> None:
    """Nothing comes near; and without a type nobody asked for one."""
    for words in (("--type", "folder"), ("--type", "vault,folder"), ()):
        ended = indexed("search", "zebra migration season", *words)
        assert "Nothing in your documents comes near" in ended.out
        assert "of the type" not in ended.out + ended.err


def test_an_empty_index_has_no_type_to_ask_for_instead(tmp_path: Path) -> None:
    ended = Belay(tmp_path / "home")("search", "anything", "--type", "manual")
    assert ended.code == 0
    assert "no documents of the type `manual`" in ended.out
    assert "none of another type either" in ended.out
    assert "belay note TEXT --publish" in ended.err


def test_a_level_does_not_learn_of_documents_that_it_may_not_read(tmp_path: Path) -> None:
    """What is said is the same before and after there are some."""
    belay = Belay(tmp_path / "home")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/ledger.md").write_text(page("folder"))
    assert belay("sync", tmp_path / "docs").code == 0
    words = ("search", QUESTION, "--type", "upload", "--level", "staff")
    before = belay(*words)
    assert "no documents of the type `upload`" in before.out
    (tmp_path / "handed.md").write_text(page("upload"))
    assert belay("add", tmp_path / "handed.md", "--level", "director").code == 0
    after = belay(*words)
    assert (after.code, after.out, after.err) == (before.code, before.out, before.err)
    assert (
        PORTS["upload"] in belay("search", QUESTION, "--type", "upload", "--level", "director").out
    )


def test_a_listed_source_is_named_where_nothing_of_it_can_be_read(tmp_path: Path) -> None:
    sources = [{"name": "safe", "kind": "vault", "url": "https://git.example.org/safe.git"}]
    belay = Belay(tmp_path / "home").with_(SOURCES=json.dumps(sources))
    ended = belay("search", QUESTION, "--type", "vault")
    assert "no documents of the type `vault`" in ended.out
    assert "lists of this type: safe" in ended.err


async def test_agents_read_the_types_that_the_policy_opens(team: Belay) -> None:
    """By search and by id; a client that names another type opens nothing."""
    every = {hit["source_type"]: hit["id"] for hit in team("search", QUESTION, "--json").json}
    assert set(every) == set(PORTS)
    allowed = team.with_(MCP__TYPES="repo,manual")
    process = StdioServerParameters(
        command=str(BELAY), args=["mcp"], env=allowed.environment(), cwd=str(team.home.parent)
    )
    async with Client(stdio_client(process)) as client:
        for kind, name in every.items():
            arguments = {"query": QUESTION, "source_type": kind, "top_k": 20}
            result = await client.call_tool("query_knowledge", arguments)
            assert result.structured_content is not None
            hits = result.structured_content["results"]
            open_ = kind in ("repo", "manual")
            assert [hit["source_type"] for hit in hits] == [kind] * open_
            document = await client.call_tool("get_document", {"id": name})
            assert document.is_error is not open_
            assert (PORTS[kind] in str(document.content)) is open_
