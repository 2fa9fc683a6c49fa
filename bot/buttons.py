"""The buttons under an answer. Their values are short and opaque: a letter and a question's id.

Telegram refuses a message with a value over 64 bytes, so nothing of a document goes into one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.chat import Button
from bot.texts import text
from graph.machine import Finished
from graph.model import Language, Outcome

_VALUE = re.compile(r"([sudpwc]):([0-9a-f]{12})")


class Action(StrEnum):
    SOURCES = "s"
    UP = "u"
    DOWN = "d"
    PERSON = "p"
    WEB = "w"
    POST = "c"


_LABELS = {
    Action.SOURCES: "button_sources",
    Action.UP: "button_up",
    Action.DOWN: "button_down",
    Action.PERSON: "button_person",
    Action.WEB: "button_web",
    Action.POST: "button_post",
}


@dataclass(frozen=True, slots=True)
class Press:
    action: Action
    question_id: str


def value_of(action: Action, question_id: str) -> str:
    return f"{action}:{question_id}"


def parse(value: str) -> Press | None:
    """What a pressed button means; None for a value that this bot never gave out."""
    match = _VALUE.fullmatch(value)
    return Press(Action(match[1]), match[2]) if match else None


def under(finished: Finished, *, web: bool, post: bool = False) -> tuple[Button, ...]:
    """The buttons that help with this answer. `web`: the web may be searched for this question;
    `post`: it was given in private and may be shown to the channel.

    Small talk gets none, a failure only the way to a person.
    """
    answer, trace = finished.answer, finished.trace
    if answer.outcome is Outcome.FAILED:
        return _buttons([Action.PERSON], answer.question_id, answer.language)
    if not trace.verdict:
        return ()
    actions = [Action.UP, Action.DOWN, Action.PERSON]
    if answer.citations or answer.nearest:
        actions.insert(0, Action.SOURCES)
    open_end = answer.outcome in (Outcome.NOT_FOUND, Outcome.PARTIAL)
    if web and open_end and trace.web == "not asked":
        actions.append(Action.WEB)
    if post and answer.outcome is not Outcome.NOT_FOUND:
        actions.insert(0, Action.POST)
    return _buttons(actions, answer.question_id, answer.language)


def post(question_id: str, language: Language) -> tuple[Button, ...]:
    """Under a command's private reply."""
    return _buttons([Action.POST], question_id, language)


def _buttons(actions: list[Action], question_id: str, language: Language) -> tuple[Button, ...]:
    return tuple(
        Button(text(_LABELS[action], language), value_of(action, question_id)) for action in actions
    )
