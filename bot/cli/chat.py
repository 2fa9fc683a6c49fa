"""Questions in the terminal: one (`ask`) or many (`chat`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bot import logs
from bot.absent_types import naming_absent
from bot.app import App, opened
from bot.auditor import TERMINAL, TERMINAL_PLACE, Auditor, open_audit
from bot.cli.adding import tell_ways
from bot.cli.output import to_json
from bot.readable_sources import readable_sources
from bot.reply import to_markdown
from bot.settings import Settings
from bot.source_types import Types, named_types
from bot.terminal import Terminal
from bot.traces import TraceLog
from graph.errors import ModelMisconfigured
from graph.model import Outcome, Question, Turn
from graph.state import Stage, Token

if TYPE_CHECKING:
    from graph.machine import Finished

GREETING = "Ask about your documents. An empty line or Ctrl-D ends the chat."
PROMPT = "> "
NOTHING_INDEXED = "No documents are indexed yet. Try: belay sync ~/runbooks"
NOT_ACCEPTED = "The chat model's name, key or address is wrong: `belay doctor` says which."
FAILED = 1  # the exit code of `ask` when something that was needed did not work
_ECHO = 200  # characters of a piped question that are repeated above its answer


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked: whose documents count, and whether the web may be searched."""

    level: str = ""
    web: bool = True
    types: tuple[str, ...] = ()  # of sources, as typed; all without any


async def ask(
    settings: Settings, terminal: Terminal, question: str, asking: Asking, as_json: bool
) -> None:
    settings.access.chosen(asking.level or settings.level)  # raises before anything is opened
    types = named_types(asking.types)
    async with opened(settings) as app:
        asked = _question(app, question, asking, types)
        finished = await _answer(app, terminal, asked)
        if as_json:
            terminal.plain(to_json(_plain(finished)))
        else:
            terminal.show(_markdown(app, finished))
        await audited(settings)(finished, asked, TERMINAL, TERMINAL_PLACE, "ask")
    if finished.answer.outcome is Outcome.FAILED:
        raise typer.Exit(FAILED)


async def chat(settings: Settings, terminal: Terminal, asking: Asking) -> None:
    settings.access.chosen(asking.level or settings.level)
    named_types(asking.types)
    async with opened(settings) as app:
        await converse(app, terminal, asking)


async def converse(app: App, terminal: Terminal, asking: Asking) -> None:
    """Answers what is typed or piped in, to its end."""
    history: list[Turn] = []
    audit, types = audited(app.settings), named_types(asking.types)
    if not (await app.index.info()).chunks:
        terminal.note(NOTHING_INDEXED)
    if terminal.interactive:
        terminal.note(GREETING)
    async for line in terminal.questions(PROMPT):
        if not line.strip() and terminal.interactive:
            return
        if not line.strip():
            continue
        asked = _question(app, line, asking, types, history)
        finished = await _answer(app, terminal, asked)
        if not terminal.interactive:
            terminal.plain(f"{PROMPT}{_shortened(line)}\n")
        terminal.show(_markdown(app, finished))
        terminal.plain("")
        await audit(finished, asked, TERMINAL, TERMINAL_PLACE, "ask")
        history += [Turn("user", line), Turn("bot", finished.answer.text)]
        del history[: -app.machine.limits.history_turns]


def _question(
    app: App, words: str, asking: Asking, types: Types, history: Sequence[Turn] = ()
) -> Question:
    """With types, documents of these types alone answer, and not the web."""
    web = asking.web and not types.known
    question = app.question(words, history=history, level=asking.level, web=web)
    return replace(question, scope=types.over(question.scope))


def audited(settings: Settings) -> Auditor:
    return Auditor(open_audit(Path(settings.home), settings.audit))


async def _answer(app: App, terminal: Terminal, question: Question) -> Finished:
    """Asks, shows the stages and tokens to a person, and keeps the trace for `belay why`. Where
    there is nothing of the types that were named, it says how to have some."""
    finished: Finished | None = None
    with logs.question(question.id):
        async for event in app.machine.ask(question):
            if isinstance(event, Stage):
                terminal.stage(f"{event.name} {event.detail}".rstrip() + " …")
            elif isinstance(event, Token):
                terminal.token(event.text)
            else:
                finished = event
    assert finished is not None
    if any(call.error == ModelMisconfigured.__name__ for call in finished.trace.calls):
        terminal.note(NOT_ACCEPTED)
    await TraceLog(Path(app.settings.home)).add(finished.trace)
    told = await naming_absent(finished, question.scope, partial(readable_sources, app.index))
    if told is not finished:
        tell_ways(app.settings, terminal, question.scope.source_types or ())
    return told


def _shortened(line: str) -> str:
    return line if len(line) <= _ECHO else f"{line[:_ECHO]}…"


def _markdown(app: App, finished: Finished) -> str:
    return to_markdown(finished.answer, stale_days=app.machine.policy.stale_days)


def _plain(finished: Finished) -> dict[str, Any]:
    answer = asdict(finished.answer)
    answer["trace"] = finished.trace.to_json()
    return answer
