"""`belay doctor`: checks what Belay depends on, one line each, and says what to fix."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import typer

from bot.app import make_embedder, make_model, make_web, open_index, require_compatible
from bot.auditor import open_audit
from bot.cli.output import to_json
from bot.cli.schedules import checked
from bot.engines import Content, chosen, open_store
from bot.errors import BotError
from bot.http import HttpServer
from bot.oncall import Watch, make_watch
from bot.operations import opened_tracer
from bot.platforms import configured, make_platforms
from bot.ports import Checkable, Finding, SourceRecord, SyncState
from bot.redaction import redact
from bot.registry import factory
from bot.roll import opened_roll
from bot.seen import seen_sources
from bot.session_runs import TURNS_FILE, open_log
from bot.settings import Settings, config_path, unknown_variables
from bot.shared import shared_server
from bot.sync_lead import ONE_MACHINE, unguarded
from bot.terminal import Terminal
from graph.context import language_name
from graph.errors import GraphError
from graph.model import SourceType
from graph.ports import Embedder, Prompt

_TRIAL = 65_536  # bytes


async def doctor(settings: Settings, terminal: Terminal, as_json: bool) -> None:
    findings = [finding async for finding in _findings(settings)]
    if as_json:
        rows = [asdict(finding) for finding in findings]
        terminal.plain(to_json(rows))
    else:
        for finding in findings:
            terminal.plain(f"{finding.state:<5} {finding.check:<10} {finding.message}")
            if finding.remedy:
                terminal.plain(f"{'':<17}{finding.remedy}")
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


async def _findings(settings: Settings) -> AsyncIterator[Finding]:
    checks: tuple[tuple[str, Callable[[Settings], Awaitable[Finding]]], ...] = (
        ("settings", _settings),
        ("home", _home),
        ("embedder", _embedder),
        ("index", _index),
        ("schedules", _schedules),
        ("sessions", _sessions),
        ("audit", _audit),
        ("model", _model),
        ("web", _web),
        ("telemetry", _telemetry),
    )
    for name, check in checks:
        try:
            yield await check(settings)
        except BotError as error:
            yield Finding(name, "bad", redact(str(error)), error.remedy)
        except GraphError as error:
            yield Finding(name, "bad", redact(str(error)))
    if settings.expansion.enabled:
        yield _expansion(settings)
    for finding in await _shared(settings):
        yield finding
    if configured(settings):
        for finding in await _messengers(settings):
            yield finding
    watch = make_watch(settings.oncall, settings.home)
    if watch is not None:
        for finding in await _on_call(watch, configured(settings)):
            yield finding


def _expansion(settings: Settings) -> Finding:
    if not settings.model:
        message = "[expansion] is enabled, and there is no model: documents get no lines"
        return Finding("expansion", "note", message, "set BELAY_MODEL, or take it out")
    names = " and ".join(language_name(language) for language in settings.expansion.languages)
    message = f"{settings.model} writes {settings.expansion.lines} lines a document in {names}"
    return Finding("expansion", "ok", message)


async def _on_call(watch: Watch, platforms: Sequence[str]) -> list[Finding]:
    """Each calendar, and people in them whom no messenger can mention."""
    findings = list(await watch.roster.check())
    unknown = await watch.unmapped(platforms) if platforms else ()
    if unknown:
        names = ", ".join(unknown)
        message = f"in calendars, but nobody on {' or '.join(platforms)}: {names}"
        findings.append(Finding("oncall", "note", message, "add them to [[oncall.people]]"))
    return findings


async def _messengers(settings: Settings) -> list[Finding]:
    """What each platform says of itself, and whether anybody may talk to the bot."""
    findings: list[Finding] = []
    for platform in make_platforms(settings, http=HttpServer()):
        try:
            if isinstance(platform, Checkable):
                findings += await platform.check()
        except BotError as error:
            findings.append(Finding(platform.name, "bad", redact(str(error)), error.remedy))
        finally:
            await platform.close()
    try:
        findings.append(await _access(settings))
    except BotError as error:
        findings.append(Finding("access", "bad", redact(str(error)), error.remedy))
    return findings


async def _shared(settings: Settings) -> Sequence[Finding]:
    """What several machines share, and what keeps them apart."""
    if unguarded(settings):
        message = "Weaviate without Redis: nothing keeps two machines from syncing at once"
        return [Finding("sync", "note", message, ONE_MACHINE)]
    if not settings.redis_url:
        return []
    try:
        async with shared_server(settings, wait=False) as server:
            return await server.check()
    except BotError as error:
        return [Finding("redis", "bad", redact(str(error)), error.remedy)]


async def _access(settings: Settings) -> Finding:
    async with opened_roll(settings) as roll:
        grants = await roll.grants()
    admins = {grant.key for grant in grants if grant.admin} | set(settings.admins)
    others = {grant.key for grant in grants} - admins
    if not admins:
        message = "nobody is an admin: nobody can let anybody in"
        return Finding("access", "note", message, "`belay run` prints a code; or set BELAY_ADMINS")
    counted = f"{len(admins)} admin{'s' * (len(admins) != 1)}"
    return Finding("access", "ok", f"{counted}, {len(others)} other people and groups")


async def _settings(settings: Settings) -> Finding:
    path = config_path()
    where = f"from {path} and the environment" if path else "from the environment, no belay.toml"
    unknown = unknown_variables()
    if unknown:
        return Finding(
            "settings",
            "note",
            f"{where}; not understood: {', '.join(unknown)}",
            "check the spelling against docs/settings.md",
        )
    return Finding("settings", "ok", where)


async def _home(settings: Settings) -> Finding:
    if not settings.weaviate_url:
        index = await open_index(settings)
        await index.close()
    try:
        await asyncio.to_thread(_try_to_write, settings.home)
    except OSError as error:
        message = f"{settings.home} cannot be written ({error.strerror}): questions are answered, "
        message += "and nothing new can be indexed"
        return Finding("home", "bad", message, "free some space, or give this user write access")
    return Finding("home", "ok", f"{settings.home} can be written")


def _try_to_write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(_TRIAL))


async def _main_embedder(settings: Settings) -> Embedder:
    if settings.embedder == "builtin":
        builtin: Embedder = factory("embedder.builtin")()
        return builtin
    return await make_embedder(settings)


async def _embedder(settings: Settings) -> Finding:
    embedder = await _main_embedder(settings)
    try:
        vectors = await embedder.embed_questions(["Is anybody there?"])
    finally:
        await _close(embedder)
    return Finding("embedder", "ok", f"{embedder.name}, {vectors.shape[1]} dimensions")


async def _index(settings: Settings) -> Finding:
    index = await open_index(settings)
    embedder = await _main_embedder(settings)
    try:
        server = await index.check() if isinstance(index, Checkable) else ()
        for finding in server:
            if finding.state == "bad":
                return finding
        info = await require_compatible(index, embedder)
        records = await seen_sources(settings, index)
        if not info.chunks:
            return Finding("index", "bad", "no documents are indexed", "run belay sync DIR")
    finally:
        await index.close()
        await _close(embedder)
    broken = [r for r in records if r.state in (SyncState.INTERRUPTED, SyncState.FAILED)]
    summary = f"{info.chunks} chunks from {len(records)} source{'s' * (len(records) != 1)}"
    runs = [record.last_run for record in records if record.last_run is not None]
    summary += f", the oldest read on {min(runs):%Y-%m-%d}" if runs else ""
    summary = "; ".join([summary, *(finding.message for finding in server)])
    if broken:
        names = ", ".join(f"{record.name} ({record.state.value})" for record in broken)
        return Finding("index", "note", f"{summary}; not complete: {names}", "run belay sync")
    missing = await asyncio.to_thread(_gone, settings, records)
    if missing:
        remedy = "mount it again, or take it out with belay forget NAME"
        return Finding("index", "note", f"{summary}; gone: {', '.join(missing)}", remedy)
    return Finding("index", "ok", summary)


async def _schedules(settings: Settings) -> Finding:
    index = await open_index(settings)
    try:
        return await checked(settings, await seen_sources(settings, index))
    finally:
        await index.close()


async def _sessions(settings: Settings) -> Finding:
    """What was said before; without it questions are answered, and follow-ups are not known."""
    if not settings.redis_url and (settings.home / TURNS_FILE).exists():
        await open_log(settings).recent("", 1)
    if not settings.sessions.recall:
        return Finding("sessions", "note", "not searched ([sessions] recall is off)")
    index = await open_store(settings, chosen(settings), Content.SESSIONS)
    try:
        known = (await index.info()).chunks
    finally:
        await index.close()
    return Finding("sessions", "ok", f"{known} passage{'s' * (known != 1)} of conversations")


async def _audit(settings: Settings) -> Finding:
    extent = await open_audit(settings.home, settings.audit).extent()
    since = f" since {extent.oldest.date().isoformat()}" if extent.oldest else ""
    count = f"{extent.count} question{'s' * (extent.count != 1)}{since}"
    return Finding("audit", "ok", f"{count}, kept for {settings.audit.days} days")


def _gone(settings: Settings, records: Sequence[SourceRecord]) -> list[str]:
    """Folders that were synced or are to be synced, and are not there."""
    folders = (r for r in records if r.location and r.kind is SourceType.FOLDER)
    paths = [Path(r.location) for r in folders]
    paths += [item.place() for item in settings.sources if item.path]
    return sorted({str(path) for path in paths if not path.exists()})


async def _model(settings: Settings) -> Finding:
    model = await make_model(settings)
    if model is None:
        message = "none configured: answers are quotations from the documents"
        return Finding("model", "note", message, "set BELAY_MODEL and BELAY_MODEL_URL for prose")
    prompt = Prompt("doctor", "Reply with one word.", "Say: ready", max_tokens=16)
    try:
        await model.complete(prompt)
    finally:
        await _close(model)
    return Finding("model", "ok", f"{model.name} answered")


async def _web(settings: Settings) -> Finding:
    web = make_web(settings)
    if web is None:
        return Finding("web", "note", "off (BELAY_WEB=off)")
    try:
        found = await web.search("status page", language="en", limit=1)
    except GraphError as error:
        message = f"not reachable ({error}); questions outside the documents get no web answer"
        return Finding("web", "note", message, "allow outgoing HTTPS, or set BELAY_WEB=off")
    finally:
        await _close(web)
    return Finding("web", "ok", f"searched, {len(found)} result" + "s" * (len(found) != 1))


async def _telemetry(settings: Settings) -> Finding:
    """Where figures and traces are to be had, and whether the collector can be reached."""
    chosen = settings.telemetry
    pages = f"/readyz{' and /metrics' if chosen.metrics else ''} on {settings.http}"
    if not chosen.endpoint:
        return Finding("telemetry", "ok", f"{pages}; no traces")
    async with opened_tracer(settings):
        pass
    parts = urlsplit(chosen.endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(chosen.check_timeout):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        message = f"{pages}; nothing listens at {parts.hostname}:{port}: traces are lost"
        return Finding("telemetry", "note", message, "start the collector, or correct the endpoint")
    writer.close()
    return Finding("telemetry", "ok", f"{pages}; traces go to {parts.hostname}:{port}")


async def _close(port: object) -> None:
    close = getattr(port, "close", None)
    if close is not None:
        await close()
