"""One-time links are not passed on whole: whoever reads the answer could spend them."""

from __future__ import annotations

import re

MASK = "masked"

_NAMES = (
    r"[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|pwd|credential|signature|api[_-]?key"
    r"|access[_-]?key)[\w.-]*|auth|code|otp|ticket|sig|sid|session(?:[_-]?id)?|jwt|invite|nonce"
)
_ADDRESS = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)
_PARAMETER = re.compile(rf"([?&#;](?:{_NAMES})=)[^&#;\s)\]]+", re.IGNORECASE)


def without_tokens(markdown: str) -> str:
    """The text with the values of token-like parameters masked in all its addresses."""
    return _ADDRESS.sub(lambda address: _PARAMETER.sub(rf"\1{MASK}", address.group()), markdown)
