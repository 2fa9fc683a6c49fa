"""mockpost's Telegram, with what it leaves out of webhooks. As a script in a folder of its own:

python mockpost_server.py    prints the port it listens on, then the address of each webhook

Telegram repeats the secret of setWebhook in a header of each update, and in a private chat the
chat has its person's id; mockpost does neither. It brings updates to applications that were made
known to it; here a webhook does that, with the token as the name. Its mail and file servers are not
started.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from mockpost import db
from mockpost.apps import upsert_app
from mockpost.routers import api_messages, telegram

HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(frozen=True, slots=True)
class Hook:
    url: str
    secret: str


@asynccontextmanager
async def life(_: FastAPI) -> AsyncIterator[None]:
    await db.init_db()
    yield
    await db.close_db()


app = FastAPI(lifespan=life)
hooks: dict[str, Hook] = {}


def told(line: object) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@app.post("/telegram/bot{token}/setWebhook", response_model=None)
async def set_webhook(token: str, request: Request) -> object:
    given = await telegram.read_params(request)
    hooks[token] = Hook(given["url"], given.get("secret_token", ""))
    await upsert_app(token, {"telegram_token": token})
    own = str(request.url_for("bring", token=token))
    answer = await telegram.m_set_webhook(token, {**given, "url": own}, request)
    told(given["url"])
    return answer


@app.post("/bring/{token}")
async def bring(token: str, request: Request) -> Response:
    hook, update = hooks[token], await request.json()
    message = update["message"]
    if message["chat"]["type"] == "private":
        message["from"]["id"] = message["chat"]["id"]
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(hook.url, json=update, headers={HEADER: hook.secret})
    return Response(status_code=answer.status_code)


app.include_router(telegram.router)
app.include_router(api_messages.router)


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        told(listening.getsockname()[1])
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
