"""The sentences around files that are handed in by chat."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.attachments import Trouble
from bot.ingest.report import Reason
from graph.model import Language

SENTENCES: dict[str, dict[Language, str]] = {
    "add_how": {
        "en": "To add {names} to my documents, say `add this`. I show what I understood before "
        "anything is published.",
        "ru": "Чтобы добавить {names} в мои документы, напишите `добавь это`. До публикации я "
        "покажу, что понял.",
    },
    "add_nothing": {
        "en": "I see no file to add. Send a document with the words `add this`, or reply to one. "
        "{formats} To keep a message, reply to it with `remember this`.",
        "ru": "Не вижу файла, который нужно добавить. Пришлите документ со словами `добавь это` "
        "или ответьте так на него. {formats} Чтобы сохранить сообщение, ответьте на него "
        "`запомни это`.",
    },
    "add_no_document": {
        "en": "I cannot add {names}: only documents, sent as files. {formats}",
        "ru": "Не могу добавить: {names}. Нужен документ, отправленный файлом. {formats}",
    },
    "formats": {
        "en": "I read PDF, Word (.docx), Excel (.xlsx), Markdown, text, HTML, CSV, "
        "notebooks, YAML and JSON.",
        "ru": "Я читаю PDF, Word (.docx), Excel (.xlsx), Markdown, текст, HTML, CSV, "
        "блокноты, YAML и JSON.",
    },
    "add_hint": {
        "en": "To add it to my documents, say `add this`.",
        "ru": "Чтобы добавить в мои документы, напишите `добавь это`.",
    },
    "add_level": {
        "en": "There is no level {level} here; use one of: {levels}.",
        "ru": "Уровня {level} здесь нет; есть: {levels}.",
    },
    "add_head": {
        "en": "This is what I understood. Nothing is found until you publish it.",
        "ru": "Вот что я понял. До публикации ничего из этого не находится.",
    },
    "add_left": {"en": "Not added:", "ru": "Не добавлено:"},
    "add_failed": {"en": "Nothing was added.", "ru": "Ничего не добавлено."},
    "stage_read": {"en": "Reading the file …", "ru": "Читаю файл …"},
    "file_draft": {
        "en": "**{title}** ({name}), draft `{id}`",
        "ru": "**{title}** ({name}), черновик `{id}`",
    },
    "file_sections": {"en": "Sections, {count}: {names}", "ru": "Разделы, {count}: {names}"},
    "file_no_sections": {"en": "No sections", "ru": "Без разделов"},
    "file_passages": {"en": "Passages: {count}", "ru": "Фрагментов: {count}"},
    "file_problem": {"en": "Note: {what}", "ru": "Замечание: {what}"},
    "file_masked": {"en": "Secrets masked: {count}", "ru": "Скрыто секретов: {count}"},
    "file_replaces": {
        "en": "Replaces `{id}` of {date}, for the same readers",
        "ru": "Заменит `{id}` от {date}, читатели те же",
    },
    "file_copy": {
        "en": "Its text stands already in {document}",
        "ru": "Этот текст уже есть в {document}",
    },
    "file_status": {
        "en": "Its front matter says {status}: it is not found, published or not",
        "ru": "В его заголовке указано {status}: его не найти и после публикации",
    },
    "file_from": {
        "en": "By its front matter found from {date} on",
        "ru": "По его заголовку находится с {date}",
    },
    "file_until": {"en": "Found until {date}", "ru": "Находится до {date}"},
    "file_more_readers": {
        "en": "For more readers, say `add this for {level}`",
        "ru": "Чтобы читало больше людей, напишите `добавь это для {level}`",
    },
    "file_known": {
        "en": "{name}: kept already, as `{id}`, {title}",
        "ru": "{name}: уже сохранён, `{id}`, {title}",
    },
    "file_left": {"en": "{name}: {why}", "ru": "{name}: {why}"},
    "file_too_many": {
        "en": "{name}: more than {count} files in one message",
        "ru": "{name}: больше {count} файлов в одном сообщении",
    },
    "readers": {
        "en": "Readers: level {level}, labels {labels}",
        "ru": "Кто прочтёт: уровень {level}, метки {labels}",
    },
    "button_publish_all": {"en": "Publish all", "ru": "Опубликовать все"},
    "button_discard_all": {"en": "Discard all", "ru": "Удалить все"},
    "size_mb": {"en": "{count:g} MB", "ru": "{count:g} МБ"},
    f"fetch_{Trouble.GONE}": {"en": "it is not there any more", "ru": "этого файла уже нет"},
    f"fetch_{Trouble.TOO_LARGE}": {
        "en": "too large, the limit is {limit}; split it, or hand it in with `belay add`",
        "ru": "слишком большой, предел {limit}; разделите его или передайте через `belay add`",
    },
    f"fetch_{Trouble.FORBIDDEN}": {
        "en": "I may not read files here; whoever runs me finds the reason in the log and with "
        "`belay doctor`",
        "ru": "мне нельзя читать файлы здесь; причина в журнале и в `belay doctor`",
    },
    f"fetch_{Trouble.ELSEWHERE}": {
        "en": "it is only a link to another service; upload the file itself",
        "ru": "это лишь ссылка на другой сервис; загрузите сам файл",
    },
    f"fetch_{Trouble.UNREACHABLE}": {
        "en": "it could not be fetched just now; please send it again",
        "ru": "сейчас его не получить; пришлите ещё раз",
    },
    f"skip_{Reason.NO_TEXT}": {
        "en": "no text in it; a scan needs a text layer",
        "ru": "в нём нет текста; скану нужен текстовый слой",
    },
    f"skip_{Reason.BINARY}": {"en": "it is no text", "ru": "это не текст"},
    f"skip_{Reason.ENCODING}": {
        "en": "its encoding was not recognised; save it as UTF-8",
        "ru": "кодировка не распознана; сохраните в UTF-8",
    },
    f"skip_{Reason.TOO_LARGE}": {
        "en": "too large; split it",
        "ru": "слишком большой; разделите его",
    },
    f"skip_{Reason.UNSUPPORTED}": {
        "en": "I do not read this format",
        "ru": "этот формат я не читаю",
    },
    f"skip_{Reason.SECRET_FILE}": {
        "en": "files of keys and passwords are never kept",
        "ru": "файлы с ключами и паролями не сохраняются",
    },
    f"skip_{Reason.ENCRYPTED}": {
        "en": "it is encrypted; save it without a password",
        "ru": "он зашифрован; сохраните без пароля",
    },
    f"skip_{Reason.MISNAMED}": {
        "en": "its content does not fit its name",
        "ru": "содержимое не соответствует имени",
    },
    f"skip_{Reason.BROKEN}": {"en": "it is damaged", "ru": "он повреждён"},
    f"skip_{Reason.UNSAFE}": {"en": "it is not safe to read", "ru": "читать его небезопасно"},
    f"skip_{Reason.OVER_LIMIT}": {
        "en": "reading it goes over a limit; split it",
        "ru": "чтение превышает предел; разделите его",
    },
    f"skip_{Reason.LFS_POINTER}": {
        "en": "it only points at content in Git LFS",
        "ru": "это лишь указатель на содержимое в Git LFS",
    },
}

_RU: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"pages? ([\d, -]+): no text layer.*", r"страницы \1: нет текстового слоя"),
        (r"pages? ([\d, -]+): (.*)", r"страницы \1: \2"),
        (r"pictures left out: (\d+)", r"пропущено картинок: \1"),
        (r"comments left out: (\d+)", r"пропущено комментариев: \1"),
        (r"tracked changes read as accepted", "исправления прочитаны как принятые"),
        (r"hidden sheet (.*) left out", r"пропущен скрытый лист \1"),
        (r"chart (.*) left out", r"пропущена диаграмма \1"),
        (r"line (\d+): (.*)", r"строка \1: \2"),
        (r"(.*), an? .*; save it as (.*)", r"\1; сохраните как \2"),
        (r"(.*), an? .*; export it as (.*)", r"\1; экспортируйте как \2"),
        (r"(.*), an archive; .*", r"\1, архив; распакуйте его"),
        (r"it is (?:an? )?(.*)", r"это \1"),
    )
)


def problem(message: str, language: Language) -> str:
    """What the reader of a document has to say of it; its rarer remarks stay in English."""
    if language == "ru":
        for pattern, words in _RU:
            if pattern.fullmatch(message):
                return pattern.sub(words, message)
    return message
