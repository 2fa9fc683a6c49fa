"""Which command a message calls: by a slash, below the root word, or by its bare name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.chat import Incoming
from bot.commands.add import is_hand_in
from bot.commands.call import Command, parse
from bot.commands.spoken import unasked
from bot.commands.table import find
from graph.smalltalk import asks

_FIRST = re.compile(r"\s*/?([^\W_][\w-]{0,31})(?:@\w+)?[:,]?(?![\w/.-])(.*)", re.DOTALL)
_END = " \t\r\n.!"
_SENTENCE = 3  # words from which what follows the root may be a question
_ON_CALL = re.compile(r"\s*/?on[\s-]call(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Called:
    """`command` is None for a word after a slash that names none."""

    command: Command | None
    name: str
    argument: str = ""


def called(event: Incoming, roots: Mapping[str, str], *, answered: bool) -> Called | None:
    """The command that a message calls; None for a question.

    `roots`: the root words of platforms that have one. What a person typed below the root is a
    command: without one that is known it is `help`, unless it reads like a question. `answered`:
    there is an answer in this conversation that a bare "why" can be about.
    """
    root = roots.get(event.place.platform, "")
    slashed = parse(event.text)
    if slashed is not None and root and slashed[0] == root.casefold():
        return _below_root(slashed[1])
    if event.private:
        return _below_root(event.text.lstrip("/ "))
    if slashed is not None:
        return Called(find(slashed[0]), *slashed)
    return _spoken(event, answered)


def _below_root(words: str) -> Called:
    name, rest = _first(words)
    command = find(name)
    question = command is not None and command.spoken is unasked and _asked(words)
    if command is not None and not question:
        return Called(command, name, rest)
    if _asked(words):
        return Called(find("ask"), "ask", words.strip())
    return Called(find("help"), "help", words.strip())


def _spoken(event: Incoming, answered: bool) -> Called | None:
    name, rest = _first(event.text)
    if is_hand_in(event):
        return Called(find("add"), "add", rest)
    command = find(name)
    if command is None or name in command.slash_only or not command.spoken(rest):
        return None
    if command.name == "why" and (event.quote is not None or not answered):
        return None  # it asks about the message above
    return Called(command, name, rest.strip(_END) if command.spoken("") else rest)


def _first(text: str) -> tuple[str, str]:
    """The first word in lower case, and what follows it."""
    match = _FIRST.fullmatch(_ON_CALL.sub("on-call", text, count=1))
    return (match[1].casefold(), match[2].strip()) if match else ("", text.strip())


def _asked(words: str) -> bool:
    return len(words.split()) >= _SENTENCE and asks(words)
