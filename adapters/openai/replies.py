"""What the server sent: pieces of a reply in its JSON, put together into a Completion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.openai.faults import Failure, Fault
from graph.errors import ContentFiltered, ModelRefused, ReplyUnusable
from graph.ports import Completion, Prompt
from graph.reply import ThinkFilter
from graph.shape import structured

_BROKEN = frozenset({"error", "abort"})  # how gateways and vLLM end a reply that they lost
_FIRST_HALF = re.compile("[\ud800-\udbff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A streamed chunk, or a whole reply as one chunk. Reasoning fields are left out."""

    has_choice: bool = False
    text: str = ""
    refusal: str = ""
    finish: str = ""
    usage: tuple[int, int] | None = None  # prompt tokens, completion tokens


def piece_of(payload: Mapping[str, Any]) -> Piece:
    """Reads a chunk or a whole reply; metadata chunks without a choice give an empty piece."""
    usage = _usage(payload.get("usage"))
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return Piece(usage=usage)
    choice = choices[0]
    message = choice.get("delta") or choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    return Piece(
        has_choice=True,
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        finish=_text(choice.get("finish_reason")),
        usage=usage,
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts: text and, with some servers, thinking
        parts = [part for part in content if isinstance(part, Mapping)]
        return "".join(_text(part.get("text")) for part in parts if part.get("type") == "text")
    return ""


def _usage(usage: Any) -> tuple[int, int] | None:
    if not isinstance(usage, Mapping):
        return None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return (_count(counts[0]), _count(counts[1]))


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


class Reply:
    """A reply in the making. The caller sees its text without reasoning blocks."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self._visible = ThinkFilter()
        self._refusal = ""
        self._usage = (0, 0)
        self._begun = False
        self._half = ""
        self.finish = ""  # the server's finish_reason

    def add(self, piece: Piece) -> str:
        """The text that became visible with this piece."""
        self._begun = self._begun or piece.has_choice
        self._refusal += piece.refusal
        self._usage = piece.usage or self._usage
        self.finish = piece.finish or self.finish
        return self._visible.feed(self._readable(piece.text))

    def rest(self) -> str:
        """The text that was held back until the end was known."""
        return self._visible.close()

    def _readable(self, text: str) -> str:
        """`text` without what no chat can show: control characters, halves of a character. A
        half at the end waits for the other one, which the next piece may bring."""
        text = self._half + text
        self._half = text[-1:] if _FIRST_HALF.match(text[-1:]) else ""
        whole = text[: len(text) - len(self._half)]
        if whole.isascii() and whole.isprintable():
            return whole
        return _CONTROL.sub("", whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    @property
    def may_be_repeated(self) -> bool:
        """An empty reply is a slip of the server, a cut one needs more room; others are final."""
        return not self._begun or self.finish == "length"

    def completion(self) -> Completion:
        """Raises ModelRefused, ContentFiltered, ReplyUnusable, or Failure when it broke off."""
        if self._refusal:
            raise ModelRefused("the model declined to reply")
        if self.finish in _BROKEN:
            raise Failure(Fault(text=f"the reply broke off: {self.finish}"))
        if self.finish == "content_filter":
            raise ContentFiltered("the provider's filter stopped the reply")
        text = self._visible.text
        cut = self.finish == "length"
        if not text.strip():
            raise ReplyUnusable("the reply is empty", cut=cut)
        if self.prompt.schema is None:
            return Completion(text, None, *self._usage, cut=cut)
        data = structured(text, self.prompt.schema)
        if data is None:
            raise ReplyUnusable("the reply is not the promised structure", cut=cut)
        return Completion(text, data, *self._usage)
