"""Builds the adapter's objects from plain values, as settings hold them."""

from __future__ import annotations

from adapters.openai.chat import OpenAIChat
from adapters.openai.embedder import Batches, OpenAIEmbedder
from adapters.openai.endpoint import OPENAI_URL, Endpoint, Persistence, Timeouts

_MINUTE = 60.0


def create_chat(
    model: str,
    base_url: str = "",
    api_key: str = "",
    *,
    timeout: float = 45.0,
    connect_timeout: float = 5.0,
    silence_timeout: float = 30.0,
    patience: float = 10.0,
    quota_minutes: float = 10.0,
) -> OpenAIChat:
    """A chat model. Without `base_url` it is OpenAI's; local servers need no key.

    Times are in seconds: `timeout` for a whole call with its repetitions, `silence_timeout` for
    the next byte, `patience` for the longest Retry-After that is waited for. For `quota_minutes`
    after the account was used up no call is made.
    """
    return OpenAIChat(
        _endpoint(model, base_url, api_key, "BELAY_MODEL"),
        Timeouts(timeout, connect_timeout, silence_timeout),
        Persistence(patience=patience, quota_pause=quota_minutes * _MINUTE),
    )


def create_embedder(
    model: str,
    base_url: str = "",
    api_key: str = "",
    *,
    dimension: int | None = None,
    timeout: float = 15.0,
    passage_timeout: float = 120.0,
    connect_timeout: float = 5.0,
    patience: float = 30.0,
    quota_minutes: float = 10.0,
    batch_texts: int = 32,
    batch_characters: int = 32_000,
) -> OpenAIEmbedder:
    """An embedder on the same server as the chat model, with the values of `create_chat`.

    `timeout` is for questions, `passage_timeout` for each batch of passages. A given `dimension`
    is checked against what the server gives, else it is found by `probe`.
    """
    return OpenAIEmbedder(
        _endpoint(model, base_url, api_key, "BELAY_EMBEDDER"),
        Timeouts(timeout, connect_timeout, timeout),
        Persistence(patience=patience, quota_pause=quota_minutes * _MINUTE),
        Batches(batch_texts, batch_characters, passage_timeout),
        dimension=dimension,
    )


def _endpoint(model: str, base_url: str, api_key: str, setting: str) -> Endpoint:
    return Endpoint(
        model.strip(), base_url.strip() or OPENAI_URL, api_key.strip(), model_setting=setting
    )
