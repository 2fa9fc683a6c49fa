"""A conversation that only remembers what it was given: for tests and dry runs."""

from __future__ import annotations

from bot.chat import Reply
from bot.ports import Conversation


class MemoryConversation(Conversation):
    def __init__(self) -> None:
        self.progress_lines: list[str] = []
        self.streamed: list[str] = []
        self.answers: list[Reply] = []
        self.said: list[Reply] = []

    async def progress(self, stage: str) -> None:
        self.progress_lines.append(stage)

    async def stream(self, markdown: str) -> None:
        self.streamed.append(markdown)

    async def answer(self, reply: Reply) -> None:
        self.answers.append(reply)

    async def say(self, reply: Reply) -> None:
        self.said.append(reply)

    @property
    def shown(self) -> str:
        """Everything that could be seen, in one text."""
        texts = [reply.markdown for reply in (*self.said, *self.answers)]
        labels = [button.label for reply in self.answers for button in reply.buttons]
        return "\n".join([*self.progress_lines, *self.streamed, *texts, *labels])
