"""The sentences of the application around an answer, in the asker's language."""

from __future__ import annotations

from graph.model import Language

_SENTENCES: dict[str, dict[Language, str]] = {
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
}


def text(key: str, language: Language, **values: object) -> str:
    """The sentence `key` in `language`. Raises KeyError for an unknown key."""
    return _SENTENCES[key][language].format(**values)
