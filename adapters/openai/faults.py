"""What went wrong with a request, and the error it is for the answering machine.

Servers that speak the protocol name the same trouble in different words (status codes, `code`,
`type`, prose), so each kind is recognised by all of them. The order of the rules matters: an
overlong prompt comes as 400, 413 or 500, an empty account as 429.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from adapters.openai.endpoint import Endpoint
from graph.errors import (
    ContentFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    QuotaExhausted,
)

NO_ANSWER = 0
NOT_THE_API = "not_the_api"  # a code of ours: a 2xx reply that is not JSON of this protocol

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length"
    r"|(?:maximum|available|model'?s?|max(?:imum)? model) context (?:length|size|window)"
    r"|exceeds? (?:the |its )?(?:\w+ ){0,3}(?:context|token limit|maximum number of tokens)"
    r"|context (?:window|length|size) (?:is |was )?(?:exceeded|overflow|too)"
    r"|(?:prompt|input|request|message)s? (?:is|are) too (?:long|large)|too many (?:input )?tokens"
    r"|too large to process|reduce the length|longer than the (?:\w+'?s? )*context"
    r"|max_new_tokens. must be"
)
_FILTERED = re.compile(
    r"content_filter|content_policy_violation|content management policy|responsible ?ai ?policy"
    r"|content[ _]policy|safety system|data_inspection_failed"
)
_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active"
    r"|insufficient (?:balance|credit|fund)|out of credits"
)
_BUSY = re.compile(r"rate_limit_exceeded|rate limit (?:exceeded|reached)|too many requests")
_NO_KEY = re.compile(r"api[ _]key(?:_invalid| not valid)|(?:invalid|incorrect)_? ?api[ _]key")
_UNKNOWN_MODEL = re.compile(
    r"model_?not_?found|deployment_?not_?found|invalid_model"
    r"|model[^.\n]{0,200}(?:not found|not exist|not available|unknown)"
    r"|(?:unknown|invalid|no such) model|not a valid model|no access to model"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed request. NO_ANSWER as `status`: no HTTP answer came, or only a part of it."""

    status: int = NO_ANSWER
    code: str = ""  # the server's codes, or NOT_THE_API
    text: str = ""  # the server's words
    retry_after: float | None = None  # seconds

    @property
    def words(self) -> str:
        return f"{self.code} {self.text}".lower()

    def is_about(self, pattern: re.Pattern[str], status: int | None = None) -> bool:
        return self.status == status or pattern.search(self.words) is not None


class Failure(Exception):
    """Carries a Fault from the transport to the call that decides what to do about it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def model_error(fault: Fault, endpoint: Endpoint) -> ModelError:
    """The error for the answering machine, with a message for the log and for `belay doctor`."""
    for applies, build in _RULES:
        if applies(fault):
            return build(fault, endpoint)
    return _rejected(fault, endpoint)


def _overflow(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ContextOverflow(
        _words(f"the prompt is too long for {endpoint.model!r}", fault, endpoint)
    )


def _filtered(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ContentFiltered(_words("the provider refused the prompt", fault, endpoint))


def _quota(fault: Fault, endpoint: Endpoint) -> ModelError:
    return QuotaExhausted(
        _words(
            f"the account of {endpoint.key_shown} at {endpoint.url_shown} is used up:"
            f" check its billing, or {endpoint.key_setting}",
            fault,
            endpoint,
        )
    )


def _busy(fault: Fault, endpoint: Endpoint) -> ModelError:
    message = _words(f"{endpoint.url_shown} limits the rate of requests", fault, endpoint)
    return ModelBusy(message, fault.retry_after)


def _key(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ModelMisconfigured(
        _words(
            f"{endpoint.url_shown} does not accept {endpoint.key_shown} for {endpoint.model!r}"
            f" ({fault.status}): check {endpoint.key_setting}",
            fault,
            endpoint,
        )
    )


def _model(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ModelMisconfigured(
        _words(
            f"{endpoint.url_shown} has no model {endpoint.model!r} ({fault.status}):"
            f" check {endpoint.model_setting}",
            fault,
            endpoint,
        )
    )


def _address(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ModelMisconfigured(
        f"{endpoint.url_shown} does not speak the OpenAI protocol ({fault.status}):"
        f" check {endpoint.url_setting}, which mostly ends in /v1"
    )


def _unavailable(fault: Fault, endpoint: Endpoint) -> ModelError:
    status = f" ({fault.status})" if fault.status else ""
    return ModelUnavailable(
        _words(
            f"no answer from {endpoint.url_shown}{status}:"
            f" is the server up, and {endpoint.url_setting} right?",
            fault,
            endpoint,
        )
    )


def _rejected(fault: Fault, endpoint: Endpoint) -> ModelError:
    return ModelMisconfigured(
        _words(
            f"{endpoint.url_shown} rejects requests to {endpoint.model!r} ({fault.status})",
            fault,
            endpoint,
        )
    )


_KEY_STATUS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_MODEL_STATUS = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}
)
_ADDRESS_STATUS = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE, *range(300, 400)}
)
_PASSING_STATUS = frozenset(
    {NO_ANSWER, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
    | set(range(500, 600))
)

_Rule = tuple[Callable[[Fault], bool], Callable[[Fault, Endpoint], ModelError]]
_RULES: tuple[_Rule, ...] = (
    (lambda fault: fault.code == NOT_THE_API, _address),
    (lambda fault: fault.is_about(_OVERFLOW, HTTPStatus.REQUEST_ENTITY_TOO_LARGE), _overflow),
    (lambda fault: fault.is_about(_FILTERED), _filtered),
    (lambda fault: fault.is_about(_QUOTA, HTTPStatus.PAYMENT_REQUIRED), _quota),
    (lambda fault: fault.is_about(_BUSY, HTTPStatus.TOO_MANY_REQUESTS), _busy),
    (lambda fault: fault.status in _KEY_STATUS or fault.is_about(_NO_KEY), _key),
    (lambda fault: fault.status in _MODEL_STATUS and fault.is_about(_UNKNOWN_MODEL), _model),
    (lambda fault: fault.status == HTTPStatus.NOT_FOUND and "model" in fault.words, _model),
    (lambda fault: fault.status in _ADDRESS_STATUS, _address),
    (lambda fault: fault.status in _PASSING_STATUS, _unavailable),
)

_QUOTED = 300  # characters of a server's words in a message


def _words(message: str, fault: Fault, endpoint: Endpoint) -> str:
    said = " ".join(fault.text.split())
    return f"{message} [{endpoint.redacted(said)[:_QUOTED]}]" if said else message
