"""A chat model that replies from a script: for tests, demonstrations and dry runs."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from graph.errors import ModelError, ReplyUnusable
from graph.ports import ChatModel, Completion, Prompt
from graph.reply import without_reasoning
from graph.shape import structured

Answer = str | Mapping[str, Any]
Scripted = Answer | ModelError | Callable[[Prompt], Answer]

_WORD = re.compile(r"\S*\s*")
_CHARACTERS_PER_TOKEN = 4


class ScriptedModel(ChatModel):
    """Gives its replies in order, one a call, and remembers what it was asked in `prompts`.

    A reply is text, a mapping (sent as JSON), an error to raise, or a function of the prompt.
    After the last one `default` replies for ever; without a default a further call is a mistake
    of the script and raises LookupError.
    """

    def __init__(self, *replies: Scripted, default: Scripted | None = None) -> None:
        self.prompts: list[Prompt] = []
        self._replies = deque(replies)
        self._default = default

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def remaining(self) -> int:
        """How many replies were not asked for yet."""
        return len(self._replies)

    async def complete(self, prompt: Prompt) -> Completion:
        return self._completion(prompt)

    async def stream(self, prompt: Prompt) -> AsyncIterator[str | Completion]:
        completion = self._completion(prompt)
        for word in _WORD.findall(completion.text):
            if word:
                yield word
        yield completion

    def _completion(self, prompt: Prompt) -> Completion:
        text = without_reasoning(self._text(prompt))
        if not text.strip():
            raise ReplyUnusable("the scripted reply is empty")
        data = None if prompt.schema is None else structured(text, prompt.schema)
        if prompt.schema is not None and data is None:
            raise ReplyUnusable("the scripted reply is not the promised structure")
        return Completion(text, data, _tokens(prompt.system + prompt.user), _tokens(text))

    def _text(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        reply = self._replies.popleft() if self._replies else self._default
        if reply is None:
            raise LookupError(f"the script has no reply left for {prompt.purpose!r}")
        if isinstance(reply, ModelError):
            raise reply
        answer = reply(prompt) if callable(reply) else reply
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
