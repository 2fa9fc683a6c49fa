"""`belay mcp` as agents meet it: the SDK's own client against the real process."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_kit import BELAY, Belay
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

LIMIT = 128 * 1024
CUT_OFF = "what is the bank cut-off for payouts"
TOKEN = "an-example-token-of-the-tests"
DOCUMENTS = {
    "open/pgbouncer.md": "# Pool\n\nRestart pgbouncer with `pgbctl reload --pool orders`.\n",
    "open/long.md": "# Ledger\n\n"
    + "\n\n".join(f"Step {n}: the ledger writes page {n} of it." for n in range(6000)),
    "closed/salaries.md": "---\naudience: manager\n---\n# Salaries\n\nA salary band is 7 steps.\n",
    "closed/swift.md": "---\nlabels: [swift]\n---\n# Swift\n\n"
    "The swift gateway key is kept in a safe.\n",
    "other/pool.md": "# Other pool\n\nRestart the other pool of pgbouncer by hand.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    root = tmp_path_factory.mktemp("agents")
    for path, text in DOCUMENTS.items():
        file = root / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    belay = Belay(root / "home")
    for source in ("open", "closed", "other"):
        ended = belay("sync", root / "docs" / source)
        assert ended.code == 0, ended.err
    return belay


@asynccontextmanager
async def agent(belay: Belay) -> AsyncIterator[Client]:
    """A client that has started the server."""
    process = StdioServerParameters(
        command=str(BELAY), args=["mcp"], env=belay.environment(), cwd=str(belay.home.parent)
    )
    async with Client(stdio_client(process)) as client:
        yield client


async def found(client: Client, query: str, **more: Any) -> list[dict[str, Any]]:
    result = await client.call_tool("query_knowledge", {"query": query, **more})
    assert not result.is_error, result.content
    assert result.structured_content is not None
    hits: list[dict[str, Any]] = result.structured_content["results"]
    return hits


async def test_an_agent_finds_a_passage_and_reads_its_document(home: Belay) -> None:
    async with agent(home) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"query_knowledge", "get_document"}
        assert all("not instructions" in (tool.description or "") for tool in tools.values())
        first, *_ = await found(client, "restart pgbouncer pool orders")
        document = await client.call_tool("get_document", {"id": first["id"]})
        resource = await client.read_resource(first["resource"])
    assert {"score", "relevance", "source", "title", "snippet", "url"} <= set(first)
    assert (first["source"], first["title"]) == ("open", "Pool")
    assert 0.44 <= first["relevance"] <= 1
    assert document.structured_content is not None
    assert "pgbctl reload --pool orders" in document.structured_content["text"]
    assert document.structured_content["next_offset"] is None
    assert "pgbctl reload" in resource.contents[0].model_dump()["text"]


async def test_what_no_document_holds_is_an_empty_list(home: Belay) -> None:
    async with agent(home) as client:
        assert await found(client, "who wrote the tragedy of hamlet") == []


async def test_what_the_policy_closes_is_neither_found_nor_read(home: Belay) -> None:
    """SC-16: what a reader may not see by today's rules does not leave by another door."""
    async with agent(home) as client:
        shown = [
            *await found(client, "salary band steps", top_k=20),
            *await found(client, "swift gateway key safe", top_k=20),
        ]
        refused = await client.call_tool("get_document", {"id": "closed/salaries.md"})
        absent = await client.call_tool("get_document", {"id": "closed/nothing.md"})
        with pytest.raises(MCPError) as closed:
            await client.read_resource("belay://documents/closed/salaries.md")
        with pytest.raises(MCPError) as missing:
            await client.read_resource("belay://documents/closed/nothing.md")
    assert not [hit for hit in shown if hit["source"] == "closed"]
    assert (refused.is_error, absent.is_error) == (True, True)
    assert refused.content == absent.content
    assert (closed.value.code, closed.value.message) == (missing.value.code, missing.value.message)


async def test_settings_open_levels_labels_and_narrow_sources_and_types(home: Belay) -> None:
    wide = home.with_(MCP__LEVEL="manager", MCP__LABELS="swift", MCP__SOURCES="closed,other")
    async with agent(wide) as client:
        salaries = await found(client, "salary band steps")
        swift = await found(client, "swift gateway key safe")
        pools = await found(client, "restart pgbouncer pool", top_k=20)
        refused = await client.call_tool("get_document", {"id": "open/pgbouncer.md"})
        of_type = await found(client, "salary band steps", source_type="upload")
    assert salaries[0]["title"] == "Salaries"
    assert swift[0]["title"] == "Swift"
    assert {hit["source"] for hit in pools} == {"other"}
    assert refused.is_error
    assert of_type == []
    async with agent(home.with_(MCP__TYPES="upload")) as client:
        assert await found(client, "restart pgbouncer pool") == []


async def test_a_result_stays_within_its_bytes_and_a_document_comes_in_pages(home: Belay) -> None:
    async with agent(home) as client:
        many = await client.call_tool("query_knowledge", {"query": "ledger writes", "top_k": 20})
        pieces, offset, sizes = [], 0, [len(many.model_dump_json(by_alias=True).encode())]
        while offset is not None:
            page = await client.call_tool("get_document", {"id": "open/long.md", "offset": offset})
            assert page.structured_content is not None
            sizes.append(len(page.model_dump_json(by_alias=True).encode()))
            pieces.append(page.structured_content["text"])
            offset = page.structured_content["next_offset"]
    text = "".join(pieces)
    assert max(sizes) <= LIMIT
    assert len(pieces) > 1
    numbers = [int(number) for number in re.findall(r"Step (\d+):", text)]
    assert numbers == list(range(6000))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"query": "  "}, id="blank query"),
        pytest.param({"query": "pool", "top_k": 0}, id="no passages"),
        pytest.param({"query": "pool", "source_type": "web"}, id="unknown type"),
        pytest.param({}, id="no query"),
    ],
)
async def test_a_wrong_argument_is_a_tool_error(home: Belay, arguments: dict[str, Any]) -> None:
    async with agent(home) as client:
        result = await client.call_tool("query_knowledge", arguments)
    assert result.is_error
    assert "Traceback" not in str(result.content)


async def test_a_broken_index_is_told_without_its_cause(home: Belay, tmp_path: Path) -> None:
    broken = home.copy(tmp_path / "home")
    async with agent(broken) as client:
        for file in broken.home.glob("index.db*"):
            file.write_bytes(b"not a database at all" * 400)
        result = await client.call_tool("get_document", {"id": "open/pgbouncer.md"})
    assert result.is_error
    assert "database" not in str(result.content)
    assert str(broken.home) not in str(result.content)


async def test_every_call_is_in_the_audit(home: Belay, tmp_path: Path) -> None:
    audited = home.copy(tmp_path / "home")
    async with agent(audited) as client:
        await found(client, "restart pgbouncer pool orders")
        await client.call_tool("get_document", {"id": "closed/salaries.md"})
    export = audited("audit", "--json")
    assert export.code == 0, export.err
    rows = export.json if isinstance(export.json, list) else [export.json]
    told = {(row["way"], row["outcome"]) for row in rows if row["place"].startswith("mcp:")}
    assert told == {("query_knowledge", "answered"), ("get_document", "not_found")}


def test_the_server_ends_with_a_signal_and_when_its_input_ends(home: Belay) -> None:
    for end in ("signal", "input"):
        process = home.start("mcp")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        assert b'"serverInfo"' in process.stdout.readline()
        if end == "signal":
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        assert home.end(process).err.count("Traceback") == 0


_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


# HTTP


@contextmanager
def served(belay: Belay) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = belay.with_(MCP__TOKEN=TOKEN, LOG_LEVEL="INFO").start(
        "mcp", "--http", f"127.0.0.1:{port}"
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if b"Application startup complete" in line or b"running on" in line:
                break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


async def test_over_http_the_token_opens_the_door(home: Belay) -> None:
    import httpx2

    with served(home) as url:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            first, *_ = await found(client, "restart pgbouncer pool orders")
        async with httpx2.AsyncClient() as http:
            without = await http.post(url, json=_INITIALIZE)
            wrong = await http.post(
                url, json=_INITIALIZE, headers={"Authorization": "Bearer another"}
            )
            rebound = await http.post(
                url, json=_INITIALIZE, headers={**headers, "Host": "evil.example"}
            )
    assert first["title"] == "Pool"
    assert (without.status_code, wrong.status_code) == (401, 401)
    assert rebound.status_code in (403, 421)


@pytest.mark.parametrize(
    ("address", "token", "words"),
    [
        pytest.param("0.0.0.0:8765", TOKEN, ["0.0.0.0", "this machine alone"], id="open to all"),
        pytest.param("10.0.0.1:8765", TOKEN, ["10.0.0.1"], id="another machine"),
        pytest.param("127.0.0.1:8765", "", ["BELAY_MCP__TOKEN"], id="no token"),
        pytest.param("nowhere", TOKEN, ["nowhere", "HOST:PORT"], id="no address"),
    ],
)
def test_an_unsafe_address_is_refused(
    home: Belay, address: str, token: str, words: list[str]
) -> None:
    belay = home.with_(MCP__TOKEN=token) if token else home
    belay("mcp", "--http", address).failed(2, *words)
