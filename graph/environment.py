"""Deployment environments: a question about staging is not answered with production's values."""

from __future__ import annotations

import re

_EN_PLACE = (
    r"(?:env|environment|cluster|server|host|node|db|database|stand|namespace|instance|machine"
    r"|vm|site|network|system)s?"
)
_RU_PLACE = (
    r"(?:сред|окружени|стенд|кластер|баз|бд|контур|сервер|хост|нод|неймспейс|машин|площадк"
    r"|инстанс|виртуалк|систем)[а-я]*"
)
_PLACE = rf"(?:{_EN_PLACE}|{_RU_PLACE})"
_AT = r"(?:on|in|at|for|to|from|на|в|во|с|со|для|из) (?:the |our )?"
_ENDING = r"(?:ый|ий|ая|ое|ые|ой|ом|ого|ому|ую|ым|ыми|ых)"
_NO_PLACE = r"(?! (?:cases?|coverage|data|plans?|reports?|results?|runs?|suites?)\b)"

_ASKED = {
    "prod": r"(?<!pre )(?<!non )(?:prod|production|prd)"
    rf"|прод(?:а|е|у|ом)?|продов{_ENDING}|продакш[а-я]+|боев{_ENDING}"
    rf"|продуктив(?:а|е|у|ом|н{_ENDING})?|на проме|пром(?:ышленн[а-я]+)? {_RU_PLACE}",
    "staging": r"staging|stg|pre ?prod(?:uction)?"
    rf"|{_AT}stage(?! \d)|stage {_PLACE}"
    r"|стейдж[а-я]*|препрод[а-я]*|предпрод(?!аж)[а-я]*",
    "test": rf"(?:on|in|at|for|from) (?:the |our )?(?:test|qa){_NO_PLACE}"
    rf"|(?:test|testing|qa|тест) {_PLACE}|{_AT}тест(?:е|а|у|ом)?|тестов{_ENDING} {_RU_PLACE}",
    "dev": rf"{_AT}(?:dev|development)|(?:dev|development) {_PLACE}"
    rf"|дев(?:а|е|у|ом|ов{_ENDING})?|разработческ[а-я]+|{_RU_PLACE} разработки",
    "uat": rf"uat|(?:user )?acceptance {_EN_PLACE}|приемочн{_ENDING} {_RU_PLACE}",
    "sandbox": r"sandbox|песочниц[а-я]+",
}
_ACTIVITY = "".join(  # a load test is a thing to do, not a place
    rf"(?<!\b{word} )"
    for word in (
        "load", "smoke", "stress", "unit", "integration", "regression", "restore", "recovery",
        "failover", "backup", "chaos", "performance", "acceptance", "penetration", "pen", "to",
        "нагрузочный", "как",
    )
)  # fmt: skip
_NAMED = _ASKED | {
    "staging": _ASKED["staging"] + "|stage(?! \\d)",
    "test": rf"{_ASKED['test']}|{_ACTIVITY}(?:test|qa|тест){_NO_PLACE}",
    "dev": _ASKED["dev"] + "|dev|development",
}
_IN_QUESTION = {name: re.compile(rf"\b(?:{p})\b") for name, p in _ASKED.items()}
_IN_NAME = {name: re.compile(rf"\b(?:{p})\b") for name, p in _NAMED.items()}
_JOINERS = re.compile(r"[\s_\-./:]+")


_APART = re.compile(r"\bpre[\s-](?=prod(?:uction)?\b)", re.IGNORECASE)


def spelt_together(question: str) -> str:
    """`question` with "pre-prod" as one word: as two, it would also speak of production."""
    return _APART.sub("pre", question)


def asked_environments(question: str) -> frozenset[str]:
    """The environments a question speaks of; "how do I test it" names none."""
    return _matches(question, _IN_QUESTION)


def named_environments(name: str) -> frozenset[str]:
    """The environments that a file name, title or heading names; "Load test" names none."""
    return _matches(name, _IN_NAME)


def _matches(text: str, patterns: dict[str, re.Pattern[str]]) -> frozenset[str]:
    spaced = _JOINERS.sub(" ", text).lower().replace("ё", "е")
    return frozenset(name for name, pattern in patterns.items() if pattern.search(spaced))
