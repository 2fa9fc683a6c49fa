"""`belay search` and `belay mcp`: documents without answers, for people and for agents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from ipaddress import ip_address

from bot.absent_types import AbsentTypes, absent_types
from bot.app import App, opened
from bot.auditor import TERMINAL, TERMINAL_PLACE
from bot.chat_settings import listen_address
from bot.cli.adding import tell_ways
from bot.cli.chat import NOTHING_INDEXED, audited
from bot.cli.output import to_json
from bot.errors import SettingsError
from bot.readable_sources import readable_sources
from bot.registry import factory
from bot.search import Hit, SearchBounds, hits, near
from bot.settings import Settings
from bot.source_types import DOCUMENT_TYPES, named_types
from bot.terminal import Terminal
from bot.texts import literal
from graph.errors import IndexEmpty
from graph.model import Outcome, Question, Ranked

_SNIPPET = 600  # characters of a passage in a terminal
_EXAMPLE = "127.0.0.1:8765"


async def search(
    settings: Settings,
    terminal: Terminal,
    query: str,
    *,
    kinds: Sequence[str],
    count: int,
    level: str,
    as_json: bool,
) -> None:
    types = named_types(kinds)
    settings.access.chosen(level or settings.level)  # raises before anything is opened
    if not query.strip():
        raise SettingsError("The query is empty.", "Say what to look for: belay search rotate key")
    async with opened(without_models(settings)) as app:
        asked = app.question(query, level=level, web=False)
        documents = replace(asked.scope, source_types=frozenset(DOCUMENT_TYPES))
        asked = replace(asked, scope=types.over(documents))
        started = time.perf_counter()
        try:
            found = await app.machine.search(asked.text, asked.scope)
        except IndexEmpty:
            terminal.note(NOTHING_INDEXED)
            shown: tuple[Ranked, ...] = ()
        else:
            shown = near(found, app.machine.policy, count)
            for note in found.notes:
                terminal.note(f"note: {note.replace('_', ' ')}; keywords alone were searched")
        await _audited(app, asked, shown, (time.perf_counter() - started) * 1000)
        absent = None
        if types.known and not shown:
            absent = await absent_types(asked.scope, partial(readable_sources, app.index))
        found_here = hits(shown, SearchBounds(snippet=_SNIPPET))
        _show(app, terminal, found_here, absent, as_json=as_json)


async def _audited(app: App, asked: Question, shown: Sequence[Ranked], elapsed: float) -> None:
    await audited(app.settings).looked_up(
        asked,
        person=TERMINAL,
        place=TERMINAL_PLACE,
        way="search",
        ranked=shown,
        outcome=Outcome.ANSWERED if shown else Outcome.NOT_FOUND,
        milliseconds=elapsed,
    )


def _show(
    app: App,
    terminal: Terminal,
    found: Sequence[Hit],
    absent: AbsentTypes | None,
    *,
    as_json: bool,
) -> None:
    if absent is not None:
        say = terminal.note if as_json else terminal.show
        say(absent.told("en"))
        tell_ways(app.settings, terminal, absent.asked)
    if as_json:
        terminal.plain(to_json([asdict(hit) for hit in found]))
    elif found:
        terminal.show("\n\n".join(_lines(at, hit) for at, hit in enumerate(found, start=1)))
    elif absent is None:
        floor = app.machine.policy.floor
        terminal.show(f"Nothing in your documents comes near this (relevance under {floor:g}).")


def _lines(number: int, hit: Hit) -> str:
    heading = [name for name in hit.heading if name != hit.title]
    title = " › ".join(map(literal, [hit.title, *heading]))
    place = f"{hit.source}/{hit.url}" if "://" not in hit.url else hit.url
    head = f"**{number}. {title}** · {hit.relevance:.2f} · {hit.source_type} · {place}"
    return f"{head}\n\n{hit.snippet}"


def without_models(settings: Settings) -> Settings:
    """The same settings for what asks neither a chat model nor the web."""
    return settings.model_copy(update={"model": "", "web": False})


async def serve(settings: Settings, _: Terminal, http: str) -> None:
    """Serves agents until the other side ends. Raises SettingsError."""
    address = _address(settings, http) if http else None
    async with opened(without_models(settings)) as app:
        from bot.knowledge import Knowledge

        agents = factory("agents")(Knowledge.of(app, audited(settings)))
        if address is None:
            await agents.stdio()
        else:
            await agents.http(*address, settings.mcp.token.get_secret_value())


def _address(settings: Settings, http: str) -> tuple[str, int]:
    try:
        host, port = listen_address(http)
        loopback = host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        raise SettingsError(
            f"--http: {http!r} is no address.", f"Write HOST:PORT, as in {_EXAMPLE}."
        ) from None
    if not loopback:
        raise SettingsError(
            f"--http: {host} is not an address of this machine alone.",
            f"Use {_EXAMPLE}, with a proxy that speaks TLS in front when others connect.",
        )
    if not settings.mcp.token.get_secret_value():
        raise SettingsError(
            "--http needs BELAY_MCP__TOKEN: without it whoever reaches the port may read.",
            "Set it to a long random text, and give that to the client.",
        )
    return host, port
