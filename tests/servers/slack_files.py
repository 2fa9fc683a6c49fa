"""Files of the loopback Slack: what files.info tells of them, and their download.

Whoever lacks the scope or the token is shown the page to sign in, with status 200.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

from aiohttp import web

from tests.servers.slack_workspace import Json, Refused, Workspace

SIGN_IN = b"<!DOCTYPE html><html><title>Sign in | Slack</title></html>"


class Files:
    """`redirect` is where downloads are sent on to, `status` what they get instead of a file;
    `delivered` are the bytes that are given in place of the stored ones, by file."""

    def __init__(
        self,
        at: Workspace,
        token: str,
        scopes: Collection[str],
        note: Callable[[str, Json], None],
        held: Mapping[str, asyncio.Event],
    ) -> None:
        self._at, self._token, self._scopes = at, token, scopes
        self._note, self._held = note, held
        self.redirect = ""
        self.status = 200
        self.delivered: dict[str, bytes] = {}
        self.signed_out = False  # the token opens no file, though Slack tells of them

    def info(self, p: Json) -> Json:
        """files.info. Raises Refused."""
        if "files:read" not in self._scopes:
            raise Refused("missing_scope", needed="files:read")
        known = self._at.files.get(str(p.get("file")))
        if known is None:
            raise Refused("file_not_found")
        if known[0]["mode"] == "tombstone":
            raise Refused("file_deleted")
        return {"file": known[0]}

    def deletes(self, file: Any) -> None:
        """Somebody deletes a file: its messages show a tombstone."""
        self._at.files[file["id"]][0].update(mode="tombstone")

    async def serve(self, http: web.Request) -> web.StreamResponse:
        known = self._at.files.get(http.match_info["file"])
        self._note("download", {"file": http.match_info["file"]})
        if "download" in self._held:
            await self._held["download"].wait()
        if self.redirect:
            raise web.HTTPFound(self.redirect)
        if known is None or known[0]["mode"] == "tombstone":
            raise web.HTTPNotFound
        allowed = http.headers.get("Authorization") == f"Bearer {self._token}"
        if self.signed_out or not allowed or "files:read" not in self._scopes:
            return web.Response(body=SIGN_IN, content_type="text/html")
        body = self.delivered.get(http.match_info["file"], known[1])
        return web.Response(body=body, content_type=known[0]["mimetype"], status=self.status)
