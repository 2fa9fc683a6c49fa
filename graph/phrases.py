"""The sentences the machine itself says, in the language of the question.

Everything here is the machine speaking about its own work: what it looked for, what it did not
find, what was down. Facts about the team's systems come from documents, never from this file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from graph.model import LANGUAGES, Language
from graph.text import normalise

_TERMS = 4  # words shown that no document mentions
_LONGEST_TERM = 40  # characters of one of them; a pasted key or hash has many more

_EN = {
    "not_found": "I did not find this in your documents.",
    "insufficient": "The closest passages in your documents do not answer this.",
    "nearest": "The nearest documents:",
    "owner": "owner: {owner}",
    "never_mentioned": "The documents never mention {terms}.",
    "web_empty": "The web search found nothing either.",
    "web_useless": "The web search found nothing that answers it either.",
    "web_failed": "The web search could not be reached, so the web was not checked.",
    "web_off": "The web was not searched: it is switched off here.",
    "only_types": "Only documents of the type {types} were looked at, as you asked.",
    "web_label": "From the web, not from your documents",
    "said_label": "From an earlier conversation, not from your documents",
    "risky_web": "Commands from the web are not from your team's documents: check before running.",
    "partial_intro": "Your documents answer only a part of this.",
    "part_missing": "Nothing was found about: {parts}.",
    "low_confidence": "Nothing answers this for certain; these are the nearest passages.",
    "model_down": "The language model did not answer; these are quotations from the documents.",
    "model_busy": "The language model is overloaded; these are quotations from the documents.",
    "refused": "The language model declined to answer this.",
    "model_filtered": (
        "The model's provider blocked this request; these are quotations from the documents."
    ),
    "quota": "The language model's quota is used up; these are quotations from the documents.",
    "embedder_down": "The embedder did not answer, so the search ran on keywords only.",
    "index_down": "The index of documents could not be read, so nothing was looked up. Try again.",
    "index_empty": "No documents are indexed yet. Run `belay sync` first.",
    "deadline": "Time ran out before the answer was complete.",
    "failed": "Something went wrong on my side. Try again; if it repeats, report error {error_id}.",
    "unsupported": "not in the sources",
    "stale": "This source was last updated on {date}: it may be out of date.",
    "older_edition": "An older edition, {title} ({date}), says otherwise.",
    "disagree": "The documents disagree:",
    "which_one": "Which one do you mean: {options}? Your documents answer this for each:",
    "or": "or",
    "ask_person": "Who may know: {people}.",
    "hand_off": "If it is urgent, ask the person on call or the team that owns the system.",
    "blank_question": "I see no question there. Ask about anything in your documents, for example: "
    "“what do I check first when this alert fires?”",
    "greeting": "Hello! Ask me about anything in your documents.",
    "thanks": "Glad to help. Ask when something else comes up.",
    "cut_question": "Your message was long; I read its beginning and its end.",
    "unwritten": "The first of these pages has a section for this, but it is empty.",
    "cut_answer": "The answer was too long for the model and ends early; the documents say more.",
    "undated": "no date",
}

_RU = {
    "not_found": "В ваших документах я этого не нашёл.",
    "insufficient": "Самые близкие места в ваших документах на это не отвечают.",
    "nearest": "Ближайшие документы:",
    "owner": "отвечает: {owner}",
    "never_mentioned": "В документах ни разу не упоминается: {terms}.",
    "web_empty": "Поиск в интернете тоже ничего не дал.",
    "web_useless": "Поиск в интернете тоже не дал ответа.",
    "web_failed": "Поиск в интернете сейчас недоступен, там я не проверил.",
    "web_off": "В интернете я не искал: здесь это отключено.",
    "only_types": "Я смотрел только документы типа {types}, как вы просили.",
    "web_label": "Из интернета, не из ваших документов",
    "said_label": "Из прежнего разговора, не из ваших документов",
    "risky_web": "Команды из интернета — не из ваших документов: проверьте их перед запуском.",
    "partial_intro": "Документы отвечают только на часть вопроса.",
    "part_missing": "Ничего не нашлось о следующем: {parts}.",
    "low_confidence": "Уверенного ответа нет; вот самые близкие места.",
    "model_down": "Языковая модель не ответила; это цитаты из документов.",
    "model_busy": "Языковая модель перегружена; это цитаты из документов.",
    "refused": "Языковая модель отказалась на это отвечать.",
    "model_filtered": "Провайдер модели заблокировал запрос; это цитаты из документов.",
    "quota": "Квота языковой модели исчерпана; это цитаты из документов.",
    "embedder_down": "Векторная модель не ответила, поэтому поиск шёл только по ключевым словам.",
    "index_down": "Индекс документов не читается, поэтому поиска не было. Попробуйте ещё раз.",
    "index_empty": "Документы ещё не проиндексированы. Сначала выполните `belay sync`.",
    "deadline": "Время вышло раньше, чем ответ был готов целиком.",
    "failed": "У меня что-то сломалось. Повторите вопрос; не поможет — сообщите код {error_id}.",
    "unsupported": "нет в источниках",
    "stale": "Источник обновлялся {date}: он мог устареть.",
    "older_edition": "В более старой редакции, {title} ({date}), сказано иначе.",
    "disagree": "Документы расходятся:",
    "which_one": "Уточните, что имеется в виду: {options}? В документах есть ответ для каждого:",
    "or": "или",
    "ask_person": "Кто может знать: {people}.",
    "hand_off": "Если это срочно, спросите дежурного или команду, которая владеет системой.",
    "blank_question": "Не вижу вопроса. Спросите о чём угодно из документов, например: "
    "«что проверить первым, когда сработал этот алерт?»",
    "greeting": "Здравствуйте! Спросите о чём-нибудь из ваших документов.",
    "thanks": "Рад помочь. Спрашивайте, если появится что-то ещё.",
    "cut_question": "Сообщение было длинным; я прочитал его начало и конец.",
    "unwritten": "На первой из этих страниц есть раздел об этом, но он пуст.",
    "cut_answer": "Ответ не поместился у модели и обрывается раньше конца; в документах есть ещё.",
    "undated": "без даты",
}

_SENTENCES: dict[Language, dict[str, str]] = {"en": _EN, "ru": _RU}

_OF_ITSELF = (
    *("not_found", "insufficient", "nearest", "never_mentioned", "only_types", "partial_intro"),
    *("web_empty", "web_useless", "web_failed", "web_off", "part_missing", "low_confidence"),
    *("model_down", "model_busy", "model_filtered", "refused", "quota", "embedder_down"),
    *("index_down", "index_empty", "deadline", "failed", "ask_person", "hand_off", "cut_question"),
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def keys() -> frozenset[str]:
    """Every sentence the machine can say. Both languages have the same keys."""
    return frozenset().union(*(_SENTENCES[language] for language in LANGUAGES))


def say(key: str, language: Language, **values: object) -> str:
    """The sentence `key` in `language`. Raises KeyError for an unknown key or a missing value."""
    return _SENTENCES[language][key].format(**values)


def day(moment: datetime | None, language: Language) -> str:
    """The date of a document as YYYY-MM-DD, or that it has none."""
    return moment.date().isoformat() if moment else say("undated", language)


def listed(items: Sequence[str], language: Language, joiner: str = "") -> str:
    """Items as a reader lists them: "a, b and c"."""
    if len(items) <= 1:
        return "".join(items)
    joiner = joiner or ("and" if language == "en" else "и")
    return f"{', '.join(items[:-1])} {joiner} {items[-1]}"


def asks_which(text: str) -> bool:
    """True for a text of the machine that asks which of several things is meant."""
    heads = (_SENTENCES[language]["which_one"].partition("{")[0] for language in LANGUAGES)
    return text.startswith(tuple(heads))


def is_of_itself(sentence: str) -> bool:
    """True for a sentence of the machine about its work, which tells nothing of a subject."""
    return normalise(sentence).startswith(_heads())


@cache
def _heads() -> tuple[str, ...]:
    texts = [_SENTENCES[language][key] for language in LANGUAGES for key in _OF_ITSELF]
    sentences = [sentence for text in texts for sentence in _SENTENCE.split(text)]
    return tuple(normalise(sentence.partition("{")[0]) for sentence in sentences)


def never_mentioned(terms: Sequence[str], language: Language) -> str:
    """That no document mentions these words, the first few of them; empty for none."""
    shown = [f"`{_term(term)}`" for term in terms[:_TERMS]]
    return say("never_mentioned", language, terms=listed(shown, language)) if shown else ""


def _term(term: str) -> str:
    """A word of the question as it can stand in a code span, cut to what can be read at a look."""
    word = " ".join(term.replace("`", "'").split())
    return word if len(word) <= _LONGEST_TERM else f"{word[: _LONGEST_TERM - 1].rstrip()}…"
