"""What a server understands: the request for a prompt, and a simpler one when it was rejected."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Literal

from adapters.openai.faults import Fault
from graph.ports import Prompt


class Structure(IntEnum):
    """Ways to ask for a structured reply, the most binding last."""

    WORDS = 0  # only described in the prompt
    JSON_OBJECT = 1  # some JSON object
    JSON_SCHEMA = 2  # generation bound to the schema


_REJECTIONS = frozenset({400, 415, 422, 500, 501})
_STRUCTURE = re.compile(
    r"response_?(?:format|schema)|json_(?:schema|object|validate_failed)|structured output|grammar"
)
_ROLES = re.compile(
    r"system role|system messages? (?:is|are)? ?(?:not|un)|only user(?:,| and) assistant"
    r"|roles must alternate|(?:not|n't) support \W?system\b|role\W+system\W+(?:is )?not"
)
_TEMPERATURE = re.compile(r"temperature.*(?:support|allowed|deprecated|only)", re.DOTALL)
_LIMIT = re.compile(r"max_completion_tokens\W* instead|max_tokens\W+(?:is )?(?:not|un)\W?support")
_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_NAME_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Dialect:
    """The widest request a server has not rejected yet; one value for each model instance."""

    structure: Structure = Structure.JSON_SCHEMA
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    usage: bool = True
    system: bool = True  # a message of its own; else the user's begins with it

    def request(self, prompt: Prompt, *, room: int, stream: bool) -> dict[str, Any]:
        """The body without the model: at most `room` tokens of reply, as repeatable as can be."""
        body: dict[str, Any] = {"messages": self._messages(prompt), self.limit: room}
        if self.temperature:
            body["temperature"] = 0
        if stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        if prompt.schema is not None and self.structure is not Structure.WORDS:
            body["response_format"] = self._response_format(prompt)
        return body

    def simpler(self, fault: Fault, prompt: Prompt) -> Dialect | None:
        """What to try after a rejection; None when it was not about a part that can go."""
        if fault.status not in _REJECTIONS:
            return None
        said = fault.words
        if prompt.schema is not None and self.structure and _STRUCTURE.search(said):
            return replace(self, structure=Structure(self.structure - 1))
        return self._without_what(said)

    def _without_what(self, said: str) -> Dialect | None:
        if self.limit == "max_tokens" and _LIMIT.search(said):
            return replace(self, limit="max_completion_tokens")
        if self.system and _ROLES.search(said):
            return replace(self, system=False)
        if self.temperature and _TEMPERATURE.search(said):
            return replace(self, temperature=False)
        if self.usage and "stream_options" in said:
            return replace(self, usage=False)
        return None

    def _response_format(self, prompt: Prompt) -> dict[str, Any]:
        if self.structure is Structure.JSON_OBJECT:
            return {"type": "json_object"}
        name = _NAME.sub("_", prompt.purpose)[:_NAME_LENGTH] or "reply"
        schema = {"name": name, "schema": prompt.schema, "strict": True}
        return {"type": "json_schema", "json_schema": schema}

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        """The schema is always described: a bound model writes better JSON when it knows the aim,
        and a server that silently ignores `response_format` still gets the right reply."""
        system = prompt.system
        if prompt.schema is not None:
            schema = json.dumps(prompt.schema, ensure_ascii=False)
            system = (
                f"{system}\n\nReply with one JSON object only. Its JSON schema:\n{schema}".strip()
            )
        if system and self.system:
            rules = {"role": "system", "content": system}
            return [rules, {"role": "user", "content": prompt.user}]
        return [
            {"role": "user", "content": f"{system}\n\n{prompt.user}" if system else prompt.user}
        ]
