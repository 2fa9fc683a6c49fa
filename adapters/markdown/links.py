"""One-time links are not passed on whole: whoever reads the answer could spend them."""

from __future__ import annotations

import re

MASK = "masked"

_NAMES = (
    r"[\w.\[\]-]*(?:token|secret|passw(?:or)?d|passphrase|pwd|credential|signature|api[_-]?key"
    r"|access[_-]?key)[\w.\[\]-]*|pass|auth|otp|sig|sid|session(?:[_-]?id)?|jwt|nonce|samlresponse"
)
_DOUBTFUL = "code|ticket|invite|key|hash"  # such as ?code=WB-5031
_PLAIN = r"[A-Z][A-Z0-9]{0,9}-\d{1,9}|\d{1,5}|[a-z]{1,15}(?:[_-][a-z]{1,15})*"
_SIGN, _IS, _VALUE = r"(?:[?&#;]|%3F|%26|%23)", r"(?:=|%3D)", r"(?:(?!%26|%23)[^&#;\s)\]])+"
_ADDRESS = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)
_PARAMETER = re.compile(rf"({_SIGN}(?:{_NAMES}){_IS}){_VALUE}", re.IGNORECASE)
_PERHAPS = re.compile(
    rf"({_SIGN}(?:{_DOUBTFUL}){_IS})(?!(?-i:{_PLAIN})(?![\w%-])){_VALUE}", re.IGNORECASE
)
_LOGIN = re.compile(
    r"(\b[a-z][a-z0-9+.-]{0,30}://[^\s/@:\"'<>]*:)[^\s/@\"'<>]+(?=@)", re.IGNORECASE
)


def without_tokens(markdown: str) -> str:
    """The text with token-like parameters, and the passwords of logins, masked in its addresses."""
    return _ADDRESS.sub(_masked, _LOGIN.sub(rf"\1{MASK}", markdown))


def _masked(address: re.Match[str]) -> str:
    return _PERHAPS.sub(rf"\1{MASK}", _PARAMETER.sub(rf"\1{MASK}", address.group()))
