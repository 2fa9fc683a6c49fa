"""The only place that talks through the vendor's SDK: requests out, JSON and Failures back.

The SDK's own retries are off (they would multiply time-outs and repeat an exhausted quota), and
the headers and credentials it takes from OPENAI_* variables are stripped: they were not meant for
whatever server the settings name.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any

import httpx2
import openai

from adapters.openai.endpoint import Endpoint, Timeouts
from adapters.openai.faults import NOT_THE_API, Failure, Fault

_OWN_HEADER = re.compile(
    r"host|connection|user-agent|authorization|accept(?:-.*)?|content-.*|transfer-encoding"
    r"|idempotency-key|x-stainless-.*",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"json|html")  # no stream: a server that cannot, or a page of another one
_EVENT_STREAM = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:data|event|id|retry)?:")
_BOM = b"\xef\xbb\xbf"
_END = "[DONE]"
_RETRY_IN = re.compile(
    r"\b(?:try again|retry) in (?:(?P<minutes>\d+)m)?(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|s)\b",
    re.I,
)
_NO_API = Fault(status=HTTPStatus.OK, code=NOT_THE_API)
_KEYLESS = "none"  # the SDK insists on some key


class Client:
    """Requests to one endpoint. Every method raises Failure; its caller names the error."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts

    @cached_property
    def _sdk(self) -> openai.AsyncOpenAI:
        """Made by the first request: a wrong address must not stop whoever builds the model."""
        return openai.AsyncOpenAI(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.api_key or _KEYLESS,
            admin_api_key="",
            webhook_secret="",
            max_retries=0,
            timeout=httpx2.Timeout(self._timeouts.silence, connect=self._timeouts.connect),
            http_client=openai.DefaultAsyncHttpxClient(
                event_hooks={"request": [self._strip_headers]},
                trust_env=not self._endpoint.is_local,  # a local server is never behind the proxy
            ),
        )

    async def close(self) -> None:
        if "_sdk" in vars(self):
            await self._sdk.close()

    async def chat(self, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The whole reply as the server's JSON; its chunks from a server that only streams."""
        try:
            response = await self._sdk.chat.completions.with_raw_response.create(
                model=self._endpoint.model, stream=False, **_encodable(body)
            )
        except openai.OpenAIError as error:
            raise _failure(error) from error
        return _payloads(response.http_response.content)

    async def chat_stream(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any], None]:
        """The server's chunks. Ends normally only after the reply's end mark; else Failure."""
        finished = False
        try:
            async with self._sdk.chat.completions.with_streaming_response.create(
                model=self._endpoint.model, stream=True, **_encodable(body)
            ) as response:
                if _WHOLE.search(response.headers.get("content-type", "")):
                    for payload in _payloads(await response.read()):
                        yield payload
                    return
                async for data in _events(response.iter_bytes()):
                    if data == _END:
                        return
                    chunk = _payload(data, otherwise=Fault(text="a chunk is not JSON"))
                    finished = finished or _ends_reply(chunk)
                    yield chunk
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            if not finished:
                raise _failure(error) from error
        if not finished:
            raise Failure(Fault(text="the reply broke off"))

    async def embed(self, texts: Sequence[str], seconds: float) -> Mapping[str, Any]:
        """The embeddings reply as the server's JSON. Nothing is sent before all is computed, so
        the server may be silent for the whole of `seconds`."""
        try:
            response = await self._sdk.embeddings.with_raw_response.create(
                model=self._endpoint.model,
                input=[_clean(text) for text in texts],
                encoding_format="float",
                timeout=httpx2.Timeout(seconds, connect=self._timeouts.connect),
            )
        except openai.OpenAIError as error:
            raise _failure(error) from error
        return _payload(response.http_response.content)

    async def _strip_headers(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if not _OWN_HEADER.fullmatch(name):
                del request.headers[name]
        if request.headers.get("authorization", "").startswith("Basic "):
            return  # name and password stood in the address
        request.headers.pop("authorization", None)
        if self._endpoint.api_key:
            request.headers["authorization"] = f"Bearer {self._endpoint.api_key}"


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each server-sent event; comments (keep-alives) and other fields are skipped.

    A server that ignores `stream` and calls its JSON an event stream has sent one event. Raises
    Failure for an event that is named an error.
    """
    events = _Events()
    buffer = b""
    async for chunk in chunks:
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            if data := events.data(line):
                yield data
    if data := events.data(buffer) or events.json:
        yield data


class _Events:
    """Reads lines of an event stream."""

    def __init__(self) -> None:
        self._begun = False
        self._error = False
        self._lines: list[bytes] = []

    def data(self, line: bytes) -> str:
        """The data in a line, or ""."""
        field, _, value = line.lstrip(_BOM).partition(b":")
        text = value.decode("utf-8", "replace").strip()
        if field == b"event":
            self._error = text == "error"
        elif field == b"data":
            self._begun = True
            if self._error:
                raise Failure(_fault_in(_read(text) or text, status=0, headers={}))
            return text
        elif not self._begun:
            self._lines.append(line)
        return ""

    @property
    def json(self) -> str:
        """The whole body when it was JSON and no events."""
        text = b"\n".join(self._lines).decode("utf-8", "replace").strip()
        return text if not self._begun and text.startswith("{") else ""


def _ends_reply(chunk: Mapping[str, Any]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and choice.get("finish_reason") for choice in choices
    )


def _payloads(content: bytes) -> list[Mapping[str, Any]]:
    """The chunks of a whole body: one, unless it is an event stream under another name."""
    if not _EVENT_STREAM.match(content):
        return [_payload(content)]
    events = _Events()
    found = [data for line in content.split(b"\n") if (data := events.data(line))]
    broken = Fault(text="a chunk is not JSON")
    return [_payload(data, otherwise=broken) for data in found if data != _END]


def _payload(content: bytes | str, otherwise: Fault = _NO_API) -> Mapping[str, Any]:
    """The JSON object. Raises Failure with its error, or `otherwise` when it is no such object."""
    payload = _read(content)
    if not isinstance(payload, Mapping):
        raise Failure(otherwise)
    if payload.get("error") or payload.get("object") == "error":
        raise Failure(_fault_in(payload, status=0, headers={}))
    return payload


def _read(content: bytes | str) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _failure(error: Exception) -> Failure:
    if isinstance(error, openai.APIStatusError):
        response = error.response
        return Failure(_fault_in(error.body, response.status_code, response.headers))
    cause = error.__cause__ or error
    return Failure(Fault(text=f"{type(cause).__name__} {cause}"))


def _fault_in(body: object, status: int, headers: Mapping[str, str]) -> Fault:
    """Reads OpenAI's error object and what other servers send in its place."""
    body = body[0] if isinstance(body, list) and body else body  # Gemini's
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(inner, Mapping):
        return Fault(status, text=str(inner or ""), retry_after=_retry_after(headers))
    named = [inner.get(key) for key in ("code", "type", "param")]
    details = inner.get("innererror")
    named.append(details.get("code") if isinstance(details, Mapping) else None)
    number = next((each for each in named if isinstance(each, int)), 0)
    said = inner.get("message") or inner.get("detail") or inner
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    told = _retry_after(headers)
    return Fault(
        status=status or number,
        code=" ".join(str(each) for each in named if each is not None),
        text=text,
        retry_after=_retry_in(text) if told is None else told,
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `retry-after-ms`, or `Retry-After` as a number or a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        moment = email.utils.parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((zoned - datetime.now(UTC)).total_seconds(), 0.0)


def _retry_in(text: str) -> float | None:
    """Seconds that a server's words name: "Please try again in 1m2.5s"."""
    match = _RETRY_IN.search(text)
    if match is None:
        return None
    seconds = float(match["number"]) / (1000 if match["unit"] == "ms" else 1)
    return 60 * float(match["minutes"] or 0) + seconds


def _encodable(body: Mapping[str, Any]) -> dict[str, Any]:
    messages = [{**each, "content": _clean(each["content"])} for each in body["messages"]]
    return {**body, "messages": messages}


def _clean(text: str) -> str:
    """`text` without lone surrogates, which no server can be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
