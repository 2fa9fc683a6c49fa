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

    async def chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The whole reply as the server's JSON."""
        try:
            response = await self._sdk.chat.completions.with_raw_response.create(
                model=self._endpoint.model, stream=False, **_encodable(body)
            )
        except openai.OpenAIError as error:
            raise _failure(error) from error
        return _payload(response.http_response.content)

    async def chat_stream(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any], None]:
        """The server's chunks. Ends normally only after the reply's end mark; else Failure."""
        finished = False
        try:
            async with self._sdk.chat.completions.with_streaming_response.create(
                model=self._endpoint.model, stream=True, **_encodable(body)
            ) as response:
                if _WHOLE.search(response.headers.get("content-type", "")):
                    yield _payload(await response.read())
                    return
                async for data in _events(response.iter_bytes()):
                    if data == "[DONE]":
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
    """The data of each server-sent event; comments (keep-alives) and other fields are skipped."""
    buffer = b""
    async for chunk in chunks:
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            if data := _data(line):
                yield data
    if data := _data(buffer):
        yield data


def _data(line: bytes) -> str:
    field, _, value = line.partition(b":")
    return value.decode("utf-8", "replace").strip() if field == b"data" else ""


def _ends_reply(chunk: Mapping[str, Any]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and choice.get("finish_reason") for choice in choices
    )


def _payload(content: bytes | str, otherwise: Fault = _NO_API) -> Mapping[str, Any]:
    """The JSON object. Raises Failure with its error, or `otherwise` when it is no such object."""
    try:
        payload = json.loads(content)
    except ValueError:
        payload = None
    if not isinstance(payload, Mapping):
        raise Failure(otherwise)
    if payload.get("error"):
        raise Failure(_fault_in(payload, status=0, headers={}))
    return payload


def _failure(error: Exception) -> Failure:
    if isinstance(error, openai.APIStatusError):
        response = error.response
        return Failure(_fault_in(error.body, response.status_code, response.headers))
    cause = error.__cause__ or error
    return Failure(Fault(text=f"{type(cause).__name__} {cause}"))


def _fault_in(body: object, status: int, headers: Mapping[str, str]) -> Fault:
    """Reads OpenAI's error object and what other servers send in its place."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(inner, Mapping):
        return Fault(status, text=str(inner or ""), retry_after=_retry_after(headers))
    named = [inner.get(key) for key in ("code", "type", "param")]
    details = inner.get("innererror")
    named.append(details.get("code") if isinstance(details, Mapping) else None)
    number = next((each for each in named if isinstance(each, int)), 0)
    text = inner.get("message") or inner.get("detail") or inner
    return Fault(
        status=status or number,
        code=" ".join(str(each) for each in named if each is not None),
        text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str),
        retry_after=_retry_after(headers),
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


def _encodable(body: Mapping[str, Any]) -> dict[str, Any]:
    messages = [{**each, "content": _clean(each["content"])} for each in body["messages"]]
    return {**body, "messages": messages}


def _clean(text: str) -> str:
    """`text` without lone surrogates, which no server can be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
