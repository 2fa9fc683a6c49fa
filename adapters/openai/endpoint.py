"""Where a model is served, and how long and how often Belay asks: values, no SDK."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SHOWN = 4  # characters of a key that a message may show
_MASKABLE = 12  # shorter keys are not shown at all


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `total` bounds one call with all its attempts, so retries never multiply it."""

    total: float = 45.0
    connect: float = 5.0
    silence: float = 30.0  # the longest wait for the next byte


@dataclass(frozen=True, slots=True)
class Persistence:
    """How far one call goes on after a failed attempt. At most one repetition for each cause."""

    patience: float = 10.0  # seconds; a longer Retry-After is handed to the caller
    pause: float = 0.5  # seconds before the repetition when the server named none
    quota_pause: float = 600.0  # seconds without any call after the account ran out of money
    growth: int = 2  # times the reply's token limit after a reply was cut by it


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server, a model on it, and the names of the settings they are from."""

    model: str
    base_url: str = OPENAI_URL
    api_key: str = field(default="", repr=False)
    model_setting: str = "BELAY_MODEL"
    url_setting: str = "BELAY_MODEL_URL"
    key_setting: str = "BELAY_MODEL_KEY"

    @property
    def is_local(self) -> bool:
        return (urlsplit(self.base_url).hostname or "") in _LOOPBACK

    @property
    def key_shown(self) -> str:
        if not self.api_key:
            return "no key"
        tail = self.api_key[-_SHOWN:] if len(self.api_key) >= _MASKABLE else ""
        return f"key ...{tail}"

    @property
    def url_shown(self) -> str:
        """The address without a password that may stand in it."""
        scheme, _, rest = self.base_url.rpartition("://")
        host, slash, path = rest.partition("/")
        return (f"{scheme}://" if scheme else "") + host.rpartition("@")[2] + slash + path

    def problem(self) -> str:
        """Why no request can be made at all, for the person who set the values; or ''."""
        try:
            url = urlsplit(self.base_url)
            usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        except ValueError:
            usable = False
        if not usable or any(char.isspace() for char in self.base_url):
            return f"{self.url_shown!r} is not an http address: check {self.url_setting}"
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            return f"the key holds characters that no key has: check {self.key_setting}"
        return "" if self.model else f"no model is named: set {self.model_setting}"

    def redacted(self, text: str) -> str:
        """A server's words, without the key in case it repeats it."""
        return text.replace(self.api_key, self.key_shown) if self.api_key else text
