"""One message in the three forms that Telegram may accept, and the calls that show it.

The cut into parts is the same for all forms: an answer that was interrupted is resumed by number,
perhaps in another form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiogram.methods import (
    EditMessageText,
    SendMessage,
    SendMessageDraft,
    SendRichMessage,
    SendRichMessageDraft,
    TelegramMethod,
)
from aiogram.types import (
    EphemeralMessageParameters,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputRichMessage,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
    User,
)

from adapters.markdown.links import without_tokens
from adapters.markdown.partial import closed
from adapters.telegram.entities import FormattedText, utf16
from adapters.telegram.render import LIMITS, suits_rich, to_plain, to_text
from adapters.telegram.rich import count_blocks, to_rich
from bot.chat import Button, Person
from bot.split import split

VALUE_BYTES = 64
_LABEL = 40  # characters; phones show no more
_ROW = 3  # buttons
_NOTHING = "…"
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, slots=True)
class Form:
    """What is shown: rich Markdown, or text with entities."""

    text: str
    entities: tuple[MessageEntity, ...] = ()
    rich: bool = False

    @property
    def message(self) -> InputRichMessage:
        return InputRichMessage(markdown=self.text, skip_entity_detection=True)


@dataclass(slots=True)
class Route:
    """Where a message goes. It changes while a message is delivered: see Conversation. With a
    `receiver` nobody else in the group sees it; `press` is the press of a button that it is for."""

    chat: int
    thread: int | None = None
    reply_to: int | None = None
    receiver: int | None = None
    press: str | None = None

    @property
    def ephemeral(self) -> EphemeralMessageParameters | None:
        if self.receiver is None:
            return None
        return EphemeralMessageParameters(
            receiver_user_id=self.receiver, callback_query_id=self.press
        )

    @property
    def reply(self) -> ReplyParameters | None:
        if self.reply_to is None:
            return None
        return ReplyParameters(message_id=self.reply_to, allow_sending_without_reply=True)


def cut(markdown: str) -> list[str]:
    """The parts of an answer, each within one message in every form; never none."""
    return split(without_tokens(markdown), _fits) or [_NOTHING]


def _fits(markdown: str) -> bool:
    return (
        to_text(markdown).units <= LIMITS.text_units
        and utf16(to_plain(markdown)) <= LIMITS.text_units
        and len(to_rich(markdown).encode()) <= LIMITS.rich_bytes
        and count_blocks(markdown) <= LIMITS.rich_blocks
    )


def forms(part: str, *, rich: bool, mentions: Sequence[Person] = ()) -> list[Form]:
    """The forms of a part, the best first. With `mentions` only text with entities comes before
    the plain one: it alone names a person by id."""
    best = to_rich(part)
    rich = rich and not mentions
    shown = [Form(best, rich=True)] if rich and best.strip() and suits_rich(part) else []
    plain = to_plain(part)
    text = _with_mentions(_form(to_text(part)), mentions)
    return [*shown, text, Form(plain if plain.strip() else _NOTHING)]


def _with_mentions(form: Form, people: Sequence[Person]) -> Form:
    """The people in a line of their own; left out where the message has no room for it."""
    text, entities = form.text, list(form.entities)
    for person in people:
        if person.platform != "telegram" or not person.id.isdecimal():
            continue
        name = " ".join(person.name.split()) or person.id
        gap = ", " if len(entities) > len(form.entities) else "\n\n"
        user = User(id=int(person.id), is_bot=False, first_name=name)
        entities.append(
            MessageEntity(
                type="text_mention", offset=utf16(text + gap), length=utf16(name), user=user
            )
        )
        text += gap + name
    return Form(text, tuple(entities)) if utf16(text) <= LIMITS.text_units else form


def frame(markdown: str, *, rich: bool) -> Form | None:
    """An answer that is still being written; None when one message cannot hold it."""
    text = closed(without_tokens(markdown))
    if not _fits(text) or not to_text(text).text.strip():
        return None
    return forms(text, rich=rich)[0]


def _form(text: FormattedText) -> Form:
    if not text.text.strip():
        return Form(_NOTHING)
    entities = tuple(MessageEntity.model_validate(item.as_dict()) for item in text.entities)
    return Form(text.text, entities)


def keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """Buttons in rows; one whose value Telegram would refuse is left out, not the message."""
    made = [
        InlineKeyboardButton(text=button.label[:_LABEL], callback_data=button.value)
        for button in buttons
        if button.label and 1 <= len(button.value.encode()) <= VALUE_BYTES
    ]
    rows = [made[start : start + _ROW] for start in range(0, len(made), _ROW)]
    return InlineKeyboardMarkup(inline_keyboard=rows) if rows else None


def send(
    form: Form, route: Route, markup: InlineKeyboardMarkup | None = None
) -> TelegramMethod[Message]:
    if form.rich:
        return SendRichMessage(
            chat_id=route.chat,
            message_thread_id=route.thread,
            rich_message=form.message,
            reply_parameters=route.reply,
            reply_markup=markup,
            ephemeral_message_parameters=route.ephemeral,
        )
    return SendMessage(
        chat_id=route.chat,
        message_thread_id=route.thread,
        text=form.text,
        entities=list(form.entities),
        link_preview_options=_NO_PREVIEW,
        reply_parameters=route.reply,
        reply_markup=markup,
        ephemeral_message_parameters=route.ephemeral,
    )


def edit(
    form: Form, route: Route, message: int, markup: InlineKeyboardMarkup | None = None
) -> TelegramMethod[Message | bool]:
    if form.rich:
        return EditMessageText(
            chat_id=route.chat,
            message_id=message,
            rich_message=form.message,
            link_preview_options=_NO_PREVIEW,
            reply_markup=markup,
        )
    return EditMessageText(
        chat_id=route.chat,
        message_id=message,
        text=form.text,
        entities=list(form.entities),
        link_preview_options=_NO_PREVIEW,
        reply_markup=markup,
    )


def draft(form: Form, route: Route, number: int, *, can_stop: bool) -> TelegramMethod[bool]:
    if form.rich:
        return SendRichMessageDraft(
            chat_id=route.chat,
            draft_id=number,
            rich_message=form.message,
            message_thread_id=route.thread,
            can_stop=can_stop,
        )
    return SendMessageDraft(
        chat_id=route.chat,
        draft_id=number,
        text=form.text,
        entities=list(form.entities),
        message_thread_id=route.thread,
        can_stop=can_stop,
    )
