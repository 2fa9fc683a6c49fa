"""The server: over standard input and output, or over HTTP on this machine alone."""

from __future__ import annotations

import hmac
import logging
from importlib.metadata import version

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.mcp.tools import DOCUMENT, INSTRUCTIONS, QUERY, READ_ONLY, TEMPLATE, Tools
from bot.agents import Agents
from bot.knowledge import Lookup

_log = logging.getLogger(__name__)

PATH = "/mcp"


class AgentServer(Agents):
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def stdio(self) -> None:
        await self._server("stdio").run_stdio_async()

    async def http(self, host: str, port: int, token: str) -> None:
        app = self._server("http").streamable_http_app(streamable_http_path=PATH, host=host)
        config = uvicorn.Config(
            WithToken(app, token), host=host, port=port, log_config=None, access_log=False
        )
        _log.warning("agents are served at http://%s:%d%s", host, port, PATH)
        await uvicorn.Server(config).serve()

    def _server(self, way: str) -> MCPServer[None]:
        server: MCPServer[None] = MCPServer(
            "belay",
            title="Belay",
            instructions=INSTRUCTIONS,
            version=version("belay-bot"),
            log_level="WARNING",
        )
        tools = Tools(self._lookup, way)
        server.add_tool(
            tools.query_knowledge,
            description=QUERY,
            annotations=READ_ONLY,
            title="Search documents",
        )
        server.add_tool(
            tools.get_document, description=DOCUMENT, annotations=READ_ONLY, title="Read a document"
        )
        server.resource(TEMPLATE, name="document", description=DOCUMENT, mime_type="text/markdown")(
            tools.resource
        )
        return server


class WithToken:
    """Lets requests through that show the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_known(scope):
            refusal = PlainTextResponse(
                "A bearer token is needed.", 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(shown) == 1 and hmac.compare_digest(shown[0], self._wanted)
