"""Masks secrets in text that is about to be written: known values, and shapes of known kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

MASK = "***"
_SHORTEST = 4  # characters; a shorter value would mask ordinary text

_KEY_WORD = (
    r"(?:pass(?:word|wd|phrase)|(?<=[_-])pass|пароль|pwd|secret|token|credential|session[_-]?id"
    r"|(?:api|access|private|signing|account)[_ -]?key|x-api-key)(?![a-z])"
)
# How a name and its value are joined: as text, in a dictionary, as a tuple of bytes.
_QUOTE = r"\\*['\"]"
_IS = rf"(?:(?:{_QUOTE})?\s*[:=]|{_QUOTE}\s*,)\s*b?(?:{_QUOTE})?"
_SHAPES = (
    # Telegram: bot id, colon, 35 characters; also inside /bot<token>/ and percent-encoded.
    r"(?<!\d)\d{6,12}(?::|%3[Aa])[A-Za-z0-9_-]{30,}",
    r"\b(?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[A-Za-z0-9-]{6,}",
    r"(?<=hooks\.slack\.com/)[\w/-]+",
    # Keys of model providers, as sent or as their servers echo them (sk-ab***yz).
    r"(?<![A-Za-z0-9])(?:sk|rk|pk|gsk|hf|xai)[-_][\w*-]{6,}",
    r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|npm_|pypi-)[\w-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}",
    r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
    r"\bhv[sbr]\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{20,}|\bdop_v1_[0-9a-f]{32,}",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}|(?<=/api/webhooks/)\d{6,}/[\w-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
)
_PATTERNS = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, flags, replacement in (
        (r"(?<=://)([^\s/@:'\"]*):[^\s/'\"]+@", 0, rf"\1:{MASK}@"),
        (r"(?<=://)[^\s/@:'\"]{8,}@", 0, f"{MASK}@"),
        (rf"(authorization{_IS}(?:[a-z]+\s+)?)[^\s'\",)]{{4,}}", re.IGNORECASE, rf"\1{MASK}"),
        (
            r"(\bbearer\s+)(?:(?=[\w.~+/=-]*\d)[\w.~+/=-]{6,}|[\w.~+/=-]{16,})",
            re.IGNORECASE,
            rf"\1{MASK}",
        ),
        ("|".join(_SHAPES), re.DOTALL, MASK),
        (rf"({_KEY_WORD}{_IS})[^\s'\",;&)}}\]]{{4,}}", re.IGNORECASE, rf"\1{MASK}"),
        (rf"(--[\w-]*{_KEY_WORD}\s+['\"]?)(?!-)[^\s'\"]{{4,}}", re.IGNORECASE, rf"\1{MASK}"),
        (r"([?&](?:ticket|sig|[\w-]*signature|code|key)=)[^\s&'\"]+", re.IGNORECASE, rf"\1{MASK}"),
    )
)


class Redactor:
    """Masks by shape, and by value for everything registered with `add`."""

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, values: Iterable[str]) -> None:
        """Registers secrets. A URL counts with its password alone too; each value also in the
        spellings that logs use: percent-encoded, and escaped as in a Python or JSON string."""
        found = set(self._values)
        for value in values:
            for secret in (value.strip(), _password(value), unquote(_password(value))):
                if len(secret) >= _SHORTEST:
                    found |= _spellings(secret)
        self._values = frozenset(found)
        longest_first = sorted(found, key=lambda item: (-len(item), item))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if found else None

    def __call__(self, text: str) -> str:
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text


def _spellings(secret: str) -> set[str]:
    quoted = (repr(secret), json.dumps(secret), json.dumps(secret, ensure_ascii=False))
    return {secret, quote(secret, safe=""), *(text[1:-1] for text in quoted)}


def _password(value: str) -> str:
    try:
        return urlsplit(value).password or ""
    except ValueError:
        return ""


redact = Redactor()
"""The redactor of this process: secrets are one set, whoever writes."""


def redact_values(values: Iterable[str]) -> None:
    """Registers the secrets of the settings: from now on they are masked wherever they appear."""
    redact.add(values)
