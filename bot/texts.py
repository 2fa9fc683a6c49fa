"""The sentences of the application around an answer, in the asker's language."""

from __future__ import annotations

import re

from graph.model import Language
from graph.text import has_words, question_language

_SENTENCES: dict[str, dict[Language, str]] = {
    # around an answer
    "sources": {"en": "Sources", "ru": "Источники"},
    "confidence": {"en": "Confidence", "ru": "Уверенность"},
    "high": {"en": "high", "ru": "высокая"},
    "medium": {"en": "medium", "ru": "средняя"},
    "low": {"en": "low", "ru": "низкая"},
    "updated": {"en": "updated {date}", "ru": "обновлено {date}"},
    "owner": {"en": "owner {owner}", "ru": "отвечает {owner}"},
    "stale": {"en": "may be out of date", "ru": "мог устареть"},
    "also_at": {"en": "also at {places}", "ru": "также в {places}"},
    "web": {"en": "web", "ru": "интернет"},
    "late_minutes": {
        "en": "You asked this {count} min ago, while I was away.",
        "ru": "Вы спросили это {count} мин. назад, меня не было на связи.",
    },
    "late_hours": {
        "en": "You asked this {count} h ago, while I was away.",
        "ru": "Вы спросили это {count} ч. назад, меня не было на связи.",
    },
    "not_read": {
        "en": "I read only the text of a message. Not read: {names}.",
        "ru": "Я читаю только текст сообщения. Не прочитано: {names}.",
    },
    # progress
    "stage_retrieve": {"en": "Searching the documents …", "ru": "Ищу в документах …"},
    "stage_decompose": {"en": "Looking at each part …", "ru": "Смотрю каждую часть вопроса …"},
    "stage_web": {"en": "Searching the web …", "ru": "Ищу в интернете …"},
    "stage_generate": {"en": "Writing the answer …", "ru": "Пишу ответ …"},
    "stage_verify": {"en": "Checking it against the sources …", "ru": "Сверяю с источниками …"},
    # buttons
    "button_sources": {"en": "Sources", "ru": "Источники"},
    "button_up": {"en": "👍", "ru": "👍"},
    "button_down": {"en": "👎", "ru": "👎"},
    "button_person": {"en": "Ask a person", "ru": "Спросить человека"},
    "button_web": {"en": "Search the web", "ru": "Искать в интернете"},
    "voted_up": {"en": "Noted: this helped.", "ru": "Записал: помогло."},
    "voted_down": {"en": "Noted: this did not help.", "ru": "Записал: не помогло."},
    "forgotten": {
        "en": "I no longer remember that answer. Please ask the question again.",
        "ru": "Этого ответа я уже не помню. Задайте вопрос ещё раз.",
    },
    "unknown_button": {
        "en": "That button is too old for me. Please ask the question again.",
        "ru": "Эта кнопка слишком старая. Задайте вопрос ещё раз.",
    },
    "nearest": {"en": "Nearest documents", "ru": "Ближайшие документы"},
    "no_sources": {"en": "That answer has no sources.", "ru": "У этого ответа нет источников."},
    "people": {"en": "Who may know: {people}.", "ru": "Кто может знать: {people}."},
    "contact": {"en": "You can always ask {contact}.", "ru": "Всегда можно спросить: {contact}."},
    "no_people": {
        "en": "The documents name no owner. Ask the person on call.",
        "ru": "В документах не указан ответственный. Спросите дежурного.",
    },
    "pass_on": {"en": "To pass on:", "ru": "Что переслать:"},
    "web_off": {"en": "Searching the web is off here.", "ru": "Поиск в интернете здесь отключён."},
    # access
    "ask_access": {
        "en": "I answer only people whom an admin has let in. Send this code to an admin: "
        "`{code}`. They write `/allow {code}` to me. The code is good for an hour.",
        "ru": "Я отвечаю только тем, кого впустил администратор. Передайте ему код: `{code}`. "
        "Он напишет мне `/allow {code}`. Код действует час.",
    },
    "ask_access_group": {
        "en": "I may not answer in this group yet. An admin lets it in with `/allow {code}`.",
        "ru": "В этой группе мне пока нельзя отвечать. Администратор впускает её командой "
        "`/allow {code}`.",
    },
    "may_ask": {
        "en": "I may answer here. Mention me, reply to me, or write `/ask`.",
        "ru": "Здесь мне можно отвечать. Упомяните меня, ответьте мне или напишите `/ask`.",
    },
    "no_access": {"en": "You have no access here.", "ru": "У вас здесь нет доступа."},
    "admins_only": {"en": "Only admins may do that.", "ru": "Это могут только администраторы."},
    "in_private": {
        "en": "Please send that to me in a private chat.",
        "ru": "Отправьте это мне в личные сообщения.",
    },
    "paired": {
        "en": "You are an admin now. `/help` shows what you can do.",
        "ru": "Теперь вы администратор. Что можно делать, покажет `/help`.",
    },
    "not_paired": {"en": "That code is not valid.", "ru": "Этот код недействителен."},
    "allowed": {
        "en": "Let in: `{key}` ({level}).",
        "ru": "Доступ открыт: `{key}` ({level}).",
    },
    "allowed_admin": {
        "en": "Let in as an admin: `{key}` ({level}).",
        "ru": "Доступ открыт, администратор: `{key}` ({level}).",
    },
    "unknown_code": {
        "en": "That code is unknown or has expired. Whoever asked gets a new one by writing to me.",
        "ru": "Код неизвестен или истёк. Новый придёт тому, кто снова мне напишет.",
    },
    "unknown_level": {
        "en": "There is no level `{level}`. Levels: {levels}.",
        "ru": "Нет уровня `{level}`. Уровни: {levels}.",
    },
    "revoked": {"en": "No longer let in: `{key}`.", "ru": "Доступ закрыт: `{key}`."},
    "not_revoked": {
        "en": "`{key}` was not let in by a command. Those who are: {keys}.",
        "ru": "`{key}` не впускали командой. Кого впустили: {keys}.",
    },
    "nobody": {"en": "nobody", "ru": "никого"},
    # commands
    "help_private": {
        "en": "Write me a question: I look for the answer in your documents and name the sources.",
        "ru": "Напишите вопрос: я поищу ответ в ваших документах и назову источники.",
    },
    "help_group": {
        "en": "Mention me, reply to me, or write `/ask`: I look for the answer in your documents "
        "and name the sources.",
        "ru": "Упомяните меня, ответьте мне или напишите `/ask`: я поищу ответ в ваших документах "
        "и назову источники.",
    },
    "unknown_command": {
        "en": "I do not know `/{name}`. `/help` lists what I know; a question needs no command.",
        "ru": "Команды `/{name}` я не знаю. Список — `/help`; вопрос можно задать без команды.",
    },
    "usage": {"en": "Write it like this: `{usage}`", "ru": "Пишите так: `{usage}`"},
    "sources_none": {
        "en": "There are no documents here that I could answer from.",
        "ru": "Документов, по которым я мог бы здесь отвечать, нет.",
    },
    "sources_head": {"en": "What I have read:", "ru": "Что я прочитал:"},
    "sources_line": {
        "en": "- **{name}**: {files} file{s}, last read {date}",
        "ru": "- **{name}**: файлов {files}, прочитано {date}",
    },
    "never": {"en": "never", "ru": "никогда"},
    "why_nothing": {
        "en": "I remember no question in this conversation.",
        "ru": "В этом разговоре я не помню ни одного вопроса.",
    },
    "why_question": {"en": "Looked for: {question}", "ru": "Искал: {question}"},
    "why_verdict": {
        "en": "Verdict: {verdict} ({reason}), relevance {relevance}, enough from {threshold}",
        "ru": "Вывод: {verdict} ({reason}), релевантность {relevance}, достаточно от {threshold}",
    },
    "why_unasked": {
        "en": "Nothing was looked up for the last message.",
        "ru": "По последнему сообщению я ничего не искал.",
    },
    "why_web": {"en": "Web: {status}", "ru": "Интернет: {status}"},
    "why_id": {"en": "Question id: `{id}`", "ru": "Номер вопроса: `{id}`"},
}

_KINDS_RU = {
    "photo": "фото",
    "live photo": "фото",
    "voice": "голосовое сообщение",
    "video": "видео",
    "video note": "видеосообщение",
    "animation": "анимация",
    "audio": "аудио",
    "document": "документ",
    "sticker": "стикер",
    "story": "история",
    "poll": "опрос",
    "checklist": "список дел",
    "contact": "контакт",
    "venue": "место на карте",
    "location": "геопозиция",
}
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")
_SHOWN = 80  # characters of a name


def text(key: str, language: Language, /, **values: object) -> str:
    """The sentence `key` in `language`. Raises KeyError for an unknown key."""
    return _SENTENCES[key][language].format(**values)


def known(key: str) -> bool:
    return key in _SENTENCES


def language_of(words: str, interface: str) -> Language:
    """That of a person's words; of their interface (an IETF tag, a hint) when they wrote none."""
    if has_words(words):
        return question_language(words)
    return "ru" if interface.lower().startswith("ru") else "en"


def attachment(name: str, language: Language) -> str:
    """What came along with a message, by its file name or by its kind, in one line of Markdown."""
    return literal(_KINDS_RU.get(name, name) if language == "ru" else name)


def literal(words: str) -> str:
    """A stranger's words (names, titles) as plain text in one line of Markdown, cut to fit."""
    return _MARKUP.sub(r"\\\1", _cut(words))


def literal_code(words: str) -> str:
    """A stranger's words as they can stand between backticks."""
    return _cut(words).replace("`", "'")


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
