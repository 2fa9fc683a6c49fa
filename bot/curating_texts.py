"""The sentences around what curators keep from a chat: notes, and documents handed in."""

from __future__ import annotations

from graph.model import Language

SENTENCES: dict[str, dict[Language, str]] = {
    "curators_only": {
        "en": "Only curators and admins may add, publish and delete documents.",
        "ru": "Добавлять, публиковать и удалять документы могут только кураторы и администраторы.",
    },
    "curators_who": {
        "en": "Only curators and admins may add, publish and delete documents. You can ask:",
        "ru": "Добавлять, публиковать и удалять документы могут только кураторы и администраторы. "
        "Можно попросить:",
    },
    "noted_here": {
        "en": "Noted for this conversation: I can bring it up when somebody asks here. For the "
        "documents, a curator replies to your message with `remember this`.",
        "ru": "Записал для этого разговора: смогу напомнить, когда здесь спросят. Чтобы это "
        "попало в документы, куратор ответит на ваше сообщение `запомни это`.",
    },
    "keeping_off": {
        "en": "Nothing can be kept from this chat.",
        "ru": "Из этого чата ничего нельзя сохранить.",
    },
    "remember_what": {
        "en": "Reply to a message with `remember this`, or write the note behind it: "
        "`remember the night porter answers at 112`.",
        "ru": "Ответьте на сообщение словами `запомни это` или напишите заметку следом: "
        "`запомни ночной вахтёр отвечает по номеру 112`.",
    },
    "note_byline": {"en": "Said by {author} on {date}.", "ru": "Сказано: {author}, {date}."},
    "note_refused": {
        "en": "I could not read a note in that. Please write it in words.",
        "ru": "Я не нашёл в этом заметки. Напишите её словами.",
    },
    "note_known": {
        "en": "This is kept already, as `{id}`.",
        "ru": "Это уже сохранено: `{id}`.",
    },
    "note_draft": {
        "en": "Draft `{id}`: **{title}**\n\n```\n{shown}\n```\n\n{readers}. Publish it?",
        "ru": "Черновик `{id}`: **{title}**\n\n```\n{shown}\n```\n\n{readers}. Опубликовать?",
    },
    "button_publish": {"en": "Publish", "ru": "Опубликовать"},
    "button_discard": {"en": "Discard", "ru": "Удалить черновик"},
    "kept_gone": {
        "en": "There is no document `{id}` any more.",
        "ru": "Документа `{id}` уже нет.",
    },
    "draft_gone": {
        "en": "There is no document `{id}` any more; drafts are kept for {days} days.",
        "ru": "Документа `{id}` уже нет; черновики хранятся {days} дн.",
    },
    "kept_published": {
        "en": "Published: {title} (`{id}`). I can answer from it now.",
        "ru": "Опубликовано: {title} (`{id}`). Теперь я могу отвечать по нему.",
    },
    "kept_discarded": {
        "en": "Discarded: {title} (`{id}`).",
        "ru": "Черновик удалён: {title} (`{id}`).",
    },
    "kept_deleted": {
        "en": "Deleted: {title} (`{id}`). I do not answer from it any more.",
        "ru": "Удалено: {title} (`{id}`). Больше я по нему не отвечаю.",
    },
    "kept_public": {
        "en": "`{id}` is published. To take it out: `{delete} {id}`",
        "ru": "`{id}` уже опубликован. Удалить его: `{delete} {id}`",
    },
    "kept_failed": {
        "en": "The index could not be changed just now, perhaps because a sync is running. "
        "Nothing was changed; please try again.",
        "ru": "Индекс сейчас не изменить, возможно, идёт обновление. "
        "Ничего не изменилось, попробуйте ещё раз.",
    },
    "kept_foreign": {
        "en": "`{id}` was not handed in; it is changed where it is kept.",
        "ru": "`{id}` не был передан боту; его меняют там, где он хранится.",
    },
    "kept_none": {
        "en": "No documents were handed in that you may read here.",
        "ru": "Переданных документов, которые можно читать здесь, нет.",
    },
    "kept_line": {"en": "- `{id}` {title} ({state})", "ru": "- `{id}` {title} ({state})"},
    "kept_from": {"en": ", from {origin}", "ru": ", отсюда: {origin}"},
    "kept_state_draft": {"en": "draft", "ru": "черновик"},
    "kept_state_published": {"en": "published", "ru": "опубликован"},
    "kept_head": {
        "en": "Documents handed in; `{delete} ID` deletes one:",
        "ru": "Переданные документы; `{delete} ID` удаляет:",
    },
}
