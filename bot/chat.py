"""Chats as the application sees them, whatever the platform: places, people, messages, replies.

Names and titles come from strangers: they are data, and never part of a prompt or of markup.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Literal

from bot.attachments import Attachment
from graph.model import Answer, Outcome

_ID_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Place:
    """Where people talk. `thread` is a topic or thread inside it, "" for none."""

    platform: str  # "telegram", "slack", "console"
    id: str  # the platform's id of the chat or channel
    kind: Literal["private", "group", "channel"] = "private"
    thread: str = ""
    title: str = ""
    outsiders: bool = False  # people of other organisations read along

    @property
    def conversation(self) -> str:
        """What belongs together: questions of one conversation are answered in order."""
        return f"{self.platform}:{self.id}:{self.thread}"


@dataclass(frozen=True, slots=True)
class Person:
    platform: str
    id: str
    name: str = ""
    is_bot: bool = False
    outsider: bool = False  # a guest, or of another organisation

    @property
    def key(self) -> str:
        """As admins write it in BELAY_ADMINS: `telegram:42`."""
        return f"{self.platform}:{self.id}"


class Kind(StrEnum):
    """What happened. Only a QUESTION is answered; the others change pending ones or the place."""

    QUESTION = "question"
    EDIT = "edit"  # a pending question was changed: its newest text counts
    DELETE = "delete"  # a pending question was taken back
    PRESS = "press"  # a button under an answer
    STOP = "stop"  # the asker stopped the answer that is being written
    ADDED = "added"  # the bot was added to a place by `person`
    REMOVED = "removed"  # the bot was removed or blocked: nothing is sent there any more
    MOVED = "moved"  # the place has a new id (`moved_to`)


@dataclass(frozen=True, slots=True)
class Quote:
    """What somebody else wrote: the message that a question replies to, one that was said before
    it, a file that came with it. Context, not authority."""

    text: str
    author: str = ""
    message_id: str = ""  # "" where it is no message of its own


@dataclass(frozen=True, slots=True)
class Incoming:
    """One event of a platform. (platform, place id, message id, kind) names it for ever."""

    kind: Kind
    place: Place
    person: Person
    message_id: str
    text: str = ""  # without the mention of the bot, command word included ("/ask …")
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    addressed: bool = True  # False: said in a group, but not to the bot
    quote: Quote | None = None
    attachments: tuple[str, ...] = ()  # names of files and pictures that came along, not read
    files: tuple[Attachment, ...] = ()  # those that came along and can be fetched
    nearby: tuple[Attachment, ...] = ()  # files of the message it replies to, or of its thread
    album: str = ""  # what several messages share that were sent as one, such as pictures
    language: str = ""  # the person's interface language, a hint
    value: str = ""  # of a pressed button
    moved_to: str = ""
    reference: str = ""  # the platform's own handle (a callback id), opaque
    private: bool = False  # asked so that only the asker should see the answer
    context: tuple[Quote, ...] = ()  # what the thread said before the question, oldest first
    sign: str = ""  # its handle of the message that shows the work on this event, once there is one

    @property
    def key(self) -> str:
        return f"{self.place.platform}:{self.place.id}:{self.message_id}:{self.kind}"


def question_id(event: Incoming) -> str:
    """12 hexadecimal digits, the same for every attempt at the event."""
    return sha256(event.key.encode()).hexdigest()[:_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Button:
    """`value` is short and opaque: platforms limit it to 64 bytes."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: canonical Markdown with buttons. `answer` is set for answers.

    `mentions` are people of this platform to be linked, and told where the platform does that, in
    a line of their own under the text. Nothing inside `markdown` ever is a live mention.
    """

    markdown: str
    buttons: tuple[Button, ...] = ()
    answer: Answer | None = None
    mentions: tuple[Person, ...] = ()
    private: bool = False  # for the asker's eyes, as far as the platform can do that
    outcome: Outcome | None = None  # of a question that a command answered without a search
