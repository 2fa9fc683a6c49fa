"""The sentences of the application around an answer, in the asker's language."""

from __future__ import annotations

import re

from bot import curating_texts, upload_texts
from bot.oncall_texts import SENTENCES
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
    "said_before": {
        "en": "from an earlier conversation, {date}",
        "ru": "из прежнего разговора, {date}",
    },
    "late_minutes": {
        "en": "You asked this {count} min ago, while I was away.",
        "ru": "Вы спросили это {count} мин. назад, меня не было на связи.",
    },
    "late_hours": {
        "en": "You asked this {count} h ago, while I was away.",
        "ru": "Вы спросили это {count} ч. назад, меня не было на связи.",
    },
    "not_read": {
        "en": "I read text only. Not read: {names}.",
        "ru": "Я читаю только текст. Не прочитано: {names}.",
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
    "button_post": {"en": "Post to channel", "ru": "Показать в канале"},
    "posted": {"en": "Posted to the channel.", "ru": "Опубликовано в канале."},
    "posted_anew": {
        "en": "Posted to the channel, made anew from what everybody there may see.",
        "ru": "Опубликовано в канале: ответ составлен заново из того, что там можно видеть всем.",
    },
    "not_posted": {
        "en": "Nothing was posted: the channel may not see the documents of this answer.",
        "ru": "Ничего не опубликовано: документы этого ответа каналу видеть нельзя.",
    },
    "post_closed": {
        "en": "Nothing was posted: this channel has not been let in.",
        "ru": "Ничего не опубликовано: этому каналу доступ не открыт.",
    },
    "on_call_now": {"en": "On call now: {people}.", "ru": "Сейчас дежурит: {people}."},
    "web_off": {"en": "Searching the web is off here.", "ru": "Поиск в интернете здесь отключён."},
    # access
    "ask_access": {
        "en": "I answer only people whom an admin has let in. Send this code to an admin: "
        "`{code}`. They write `{allow} {code}` to me. The code is good for an hour.",
        "ru": "Я отвечаю только тем, кого впустил администратор. Передайте ему код: `{code}`. "
        "Он напишет мне `{allow} {code}`. Код действует час.",
    },
    "ask_access_group": {
        "en": "I may not answer here yet. An admin lets this chat in with `{allow} {code}`.",
        "ru": "Здесь мне пока нельзя отвечать. Администратор впускает этот чат командой "
        "`{allow} {code}`.",
    },
    "may_ask": {
        "en": "I may answer here. Mention me, reply to me, or write `{ask}`.",
        "ru": "Здесь мне можно отвечать. Упомяните меня, ответьте мне или напишите `{ask}`.",
    },
    "no_access": {"en": "You have no access here.", "ru": "У вас здесь нет доступа."},
    "admins_only": {"en": "Only admins may do that.", "ru": "Это могут только администраторы."},
    "in_private": {
        "en": "Please send that to me in a private chat.",
        "ru": "Отправьте это мне в личные сообщения.",
    },
    "paired": {
        "en": "You are an admin now. `{help}` shows what you can do.",
        "ru": "Теперь вы администратор. Что можно делать, покажет `{help}`.",
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
    "in_settings": {
        "en": "`{key}` has its rights from the settings file: they are changed there.",
        "ru": "Права для `{key}` записаны в файле настроек: там их и меняют.",
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
        "en": "Mention me, reply to me, or write `{ask}`: I look for the answer in your documents "
        "and name the sources.",
        "ru": "Упомяните меня, ответьте мне или напишите `{ask}`: я поищу ответ в ваших документах "
        "и назову источники.",
    },
    "unknown_command": {
        "en": "I do not know `/{name}`. `{help}` lists what I know; a question needs no command.",
        "ru": "Команды `/{name}` я не знаю. Список — `{help}`; вопрос можно задать без команды.",
    },
    "unknown_word": {
        "en": "I do not know the command `{word}`.",
        "ru": "Команды `{word}` я не знаю.",
    },
    "usage": {"en": "Write it like this: `{usage}`", "ru": "Пишите так: `{usage}`"},
    "unknown_type": {
        "en": "There is no type of source `{name}`. The types are: {types}.",
        "ru": "Типа источников `{name}` нет. Есть такие: {types}.",
    },
    "type_absent": {
        "en": "There are no documents of the type {types} that I could answer from here.",
        "ru": "Документов типа {types}, по которым я мог бы здесь отвечать, нет.",
    },
    "types_readable": {
        "en": "There are some of the type {types}: ask for that type, or name none.",
        "ru": "Есть документы типа {types}: спросите о них или не называйте тип.",
    },
    "types_none": {
        "en": "There are none of another type either.",
        "ru": "Документов других типов тоже нет.",
    },
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
    "muted": {
        "en": "I stay silent in this thread until somebody mentions me again.",
        "ru": "Молчу в этом треде, пока меня снова не упомянут.",
    },
    "mute_private": {
        "en": "In a private chat I answer every message; there is nothing to mute.",
        "ru": "В личных сообщениях я отвечаю на всё, отключать здесь нечего.",
    },
    "mute_where": {
        "en": "Write `mute` in the thread itself, with a mention of me.",
        "ru": "Напишите `mute` в самом треде, упомянув меня.",
    },
    "forgot": {
        "en": "Forgotten in this conversation: {count} turns, your questions and my answers.",
        "ru": "Забыто в этом разговоре реплик: {count} — ваши вопросы и мои ответы.",
    },
    "forgot_everywhere": {
        "en": "Forgotten in all our conversations: {count} turns, your questions and my answers.",
        "ru": "Забыто во всех наших разговорах реплик: {count} — ваши вопросы и мои ответы.",
    },
    "forgot_conversation": {
        "en": "Forgotten, all of this conversation: {count} turns.",
        "ru": "Забыт весь этот разговор, реплик: {count}.",
    },
    "forgot_person": {
        "en": "Forgotten, everything of `{key}`: {count} turns.",
        "ru": "Забыто всё, что связано с `{key}`, реплик: {count}.",
    },
    "forgot_more": {
        "en": "Gone, too: {votes} votes, {audited} questions from the audit.",
        "ru": "Удалено также: голосов — {votes}, вопросов из журнала — {audited}.",
    },
    "forgot_later": {
        "en": "The search in earlier conversations could not be cleaned just now; I clean it with "
        "its next run.",
        "ru": "Поиск по прежним разговорам сейчас не удалось очистить; очищу при следующем обходе.",
    },
    "forgot_nothing": {
        "en": "I remember nothing of yours in this conversation: 0 turns.",
        "ru": "В этом разговоре я ничего вашего не помню: реплик 0.",
    },
    # runbooks
    "runbook_found": {"en": "From {place} [1]", "ru": "Из документа {place} [1]"},
    "runbook_more": {"en": "More in the document.", "ru": "Дальше — в документе."},
    "runbook_also": {"en": "These may fit as well:", "ru": "Подойти могут и эти:"},
    "runbook_several": {
        "en": "Several documents fit {name}. The title of one, or more words, tells them apart.",
        "ru": "К {name} подходит несколько документов. Уточните названием одного из них.",
    },
    "runbook_nearest": {
        "en": "No document is named {name}, and none is surely about it. The nearest:",
        "ru": "Документа с названием {name} нет, и ни один не точно об этом. Ближайшие:",
    },
    "runbook_none": {
        "en": "Your documents have nothing named {name} and nothing about it.",
        "ru": "В ваших документах нет ничего с названием {name} и ничего об этом.",
    },
    "runbook_what": {
        "en": "I see no name to look for. Name an alert, a service or a symptom.",
        "ru": "Не вижу, что искать. Назовите алерт, сервис или симптом.",
    },
    # the bot's own page
    "home_sources": {"en": "What I have read", "ru": "Что я прочитал"},
    "home_commands": {"en": "What you can write", "ru": "Что можно написать"},
    "home_source": {
        "en": "{name}: {files} file{s}, last read {date}; {state}",
        "ru": "{name}: файлов {files}, прочитано {date}; {state}",
    },
    "sync_never": {"en": "not read yet", "ru": "ещё не прочитано"},
    "sync_running": {"en": "being read now", "ru": "читаю сейчас"},
    "sync_complete": {"en": "up to date", "ru": "всё прочитано"},
    "sync_interrupted": {"en": "interrupted, not complete", "ru": "прервано, не полностью"},
    "sync_failed": {"en": "could not be read the last time", "ru": "в последний раз не удалось"},
    "suggest_sources": {"en": "What have you read?", "ru": "Что ты прочитал?"},
    "suggest_oncall": {"en": "Who is on call now?", "ru": "Кто сейчас дежурит?"},
    "suggest_help": {"en": "What can I ask you?", "ru": "Что можно спросить?"},
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
_SENTENCES |= SENTENCES
_SENTENCES |= curating_texts.SENTENCES
_SENTENCES |= upload_texts.SENTENCES

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
    line = "".join(filter(str.isprintable, " ".join(words.split())))
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
