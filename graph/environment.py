"""Deployment environments: a question about staging is not answered with production's values."""

from __future__ import annotations

import re

_ASKED = {
    "prod": r"prod|production|prd|прод(?:а|е|у|ом)?|продакш[а-я]+|боев[а-я]+",
    "staging": r"staging|stg|preprod|(?:on|in|for|to|from|на|в|с) stage"
    r"|стейдж[а-я]*|предпрод[а-я]*",
    "test": r"(?:on|in|for|на|в|для) (?:the )?(?:test|qa|тест(?:е|а|у|ом)?)"
    r"|(?:test|qa) (?:env|environment|cluster|server|db|database|stand)"
    r"|тестов[а-я]+ (?:сред|стенд|кластер|баз|контур|сервер)[а-я]*",
    "dev": r"(?:on|in|for|на|в|для) (?:the )?(?:dev|деве?)"
    r"|dev (?:env|environment|cluster|server|db)",
    "sandbox": r"sandbox|песочниц[а-я]",
}
_NAMED = _ASKED | {
    "staging": _ASKED["staging"] + "|stage",
    "test": _ASKED["test"] + "|test|qa|тест",
    "dev": _ASKED["dev"] + "|dev|development",
}
_IN_QUESTION = {name: re.compile(rf"\b(?:{p})\b", re.IGNORECASE) for name, p in _ASKED.items()}
_IN_NAME = {name: re.compile(rf"\b(?:{p})\b", re.IGNORECASE) for name, p in _NAMED.items()}
_JOINERS = re.compile(r"[\s_\-./:]+")


def asked_environments(question: str) -> frozenset[str]:
    """The environments a question speaks of; "how do I test it" names none."""
    return _matches(question, _IN_QUESTION)


def named_environments(name: str) -> frozenset[str]:
    """The environments that a file name, title or heading names."""
    return _matches(name, _IN_NAME)


def _matches(text: str, patterns: dict[str, re.Pattern[str]]) -> frozenset[str]:
    spaced = _JOINERS.sub(" ", text)
    return frozenset(name for name, pattern in patterns.items() if pattern.search(spaced))
