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
    assert not [port for port in others if port in json.dumps(answer["citations"])]


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
