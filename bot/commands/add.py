"""/add: files from a chat that become documents once they are published."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat import Incoming, Reply
from bot.commands.call import Ask, Call
from bot.texts import attachment, language_of, text
from graph.model import Language
from graph.smalltalk import is_blank
from graph.text import WORD, fold

_ADD_WORDS = "add добавь добавьте добавить"
_KEEP_WORDS = (
    "save keep store index upload import сохрани сохраните сохранить загрузи загрузите загрузить "
    "занеси занести внеси внесите внести закинь проиндексируй"
)
_OTHER_WORDS = (
    "please pls plz can could would you belay this that these those it them all both file files "
    "document documents doc docs attachment attachments pdf here to into in the a your our my "
    "knowledge base kb library index wiki and also too now as one two three new last attached "
    "above thanks runbook runbooks manual guide policy list table page spreadsheet report "
    "пожалуйста плиз плз можешь можете ты вы это этот эту эти этого его ее их файл файлы документ "
    "документы вложение вложения сюда в во на к свою свои наши базу базе знаний библиотеку "
    "документам документом и еще тоже сейчас все оба два три новый последний приложенный "
    "прикрепленный спасибо регламент инструкцию таблицу список отчет"
)
_ADDS = frozenset(_ADD_WORDS.split())
_VERBS = _ADDS.union(_KEEP_WORDS.split())
_SAID = _VERBS.union(_OTHER_WORDS.split())
_ASKING = frozenset({"can", "could", "would", "please", "можешь", "можете"})
_LEVEL = re.compile(r"\s*\b(?:for|для|level|уровень)\b[\s=:]+(\S+?)[\s.!]*\Z", re.IGNORECASE)
_WORDS = 12


def hands_in(words: str) -> bool:
    """Whether a message says that a file is to be added, and nothing else."""
    said = [fold(word) for word in WORD.findall(_LEVEL.sub("", words))]
    if not said or len(said) > _WORDS or ("?" in words and said[0] not in _ASKING):
        return False
    verbs = _VERBS.intersection(said)
    named = bool(verbs & _ADDS) or not _VERBS.issuperset(said)  # "index" alone is looked up
    return bool(verbs) and named and _SAID.issuperset(said)


def is_hand_in(event: Incoming) -> bool:
    """Whether a message is about handing in the files that came with it or before it: it says so,
    or it came without a word to the bot alone."""
    if event.text.lstrip().startswith("/"):
        return False
    alone = event.place.kind == "private" and bool(event.files) and is_blank(event.text)
    return alone or hands_in(event.text)


async def add(call: Call) -> Reply | Ask:
    """Shows what was understood of the files, with buttons that publish or discard the drafts."""
    event, curating = call.event, call.desk.curating
    language = language_of(event.text.partition(" ")[2] or event.text, event.language)
    if is_blank(event.text):
        language = language_of("", event.language)
    if curating is None or call.scope is None:
        return Reply(text("keeping_off", language), private=True)
    given = curating.hand_ins.given(event)
    if not await curating.may(event.person):
        return await curating.refusal(event, language)
    if is_blank(event.text):
        return Reply(
            text("add_how", language, names=_names([file.name for file in given.files], language))
        )
    if not given.files:
        return Reply(_nothing(given.others, language), private=True)
    found = _LEVEL.search(event.text)
    level = found[1] if found else ""
    return await curating.hand_ins(event, given, language, level=level, progress=call.progress)


def _nothing(others: Sequence[str], language: Language) -> str:
    formats = text("formats", language)
    if others:
        return text("add_no_document", language, names=_names(others, language), formats=formats)
    return text("add_nothing", language, formats=formats)


def _names(names: Sequence[str], language: Language) -> str:
    return ", ".join(dict.fromkeys(attachment(name, language) for name in names))
