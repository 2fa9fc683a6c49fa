"""Showing a private answer to the channel it was asked in, after its rights were asked again.

What an asker may see is not what everybody in the channel may see. The access rules are asked for
the channel, and unless the whole answer passes them it is made anew from what the channel may see.
When nothing is left of it nothing is posted, and only the asker is told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.access import Access
from bot.asking import Asking, Way
from bot.buttons import Press
from bot.chat import Incoming, Kind, Reply, question_id
from bot.commands.call import parse
from bot.ingest.secrets import hidden
from bot.ports import Conversation
from bot.recall import Offer, Recall, Remembered, covers
from bot.source_types import split_types
from bot.texts import literal, text
from graph.errors import GraphError
from graph.machine import Finished
from graph.model import Answer, Language, Outcome, Question, Scope, SourceType

Rerun = Callable[[Incoming, Scope], Awaitable[Reply]]
"""Runs a command again for the audience of a place."""


class Posting:
    def __init__(
        self, asking: Asking, access: Access, recall: Recall, rerun: Rerun, *, web: bool
    ) -> None:
        self._asking, self._access, self._recall = asking, access, recall
        self._rerun, self._web = rerun, web

    async def __call__(
        self, event: Incoming, press: Press, language: Language, conversation: Conversation
    ) -> None:
        """Raises StorageError, and what the conversation raises."""
        offer = self._recall.offered(press.question_id, event)
        if offer is None:
            await conversation.say(Reply(text("forgotten", language), private=True))
            return
        posted = replace(event, kind=Kind.QUESTION, private=False, text=offer.line)
        scope = await self._access.scope(posted)
        if scope is None:
            await conversation.say(Reply(text("post_closed", language), private=True))
            return
        told = await self._post(posted, offer, press, scope, conversation)
        await conversation.say(told or Reply(text("posted", language), private=True))

    async def _post(
        self,
        event: Incoming,
        offer: Offer,
        press: Press,
        scope: Scope,
        conversation: Conversation,
    ) -> Reply | None:
        """What the asker is told beside that it was posted."""
        name, argument = parse(offer.line) or ("", "")
        if name not in set(Way):
            reply = await self._rerun(event, scope)
            await conversation.answer(reply)
            self._recall.withdraw(press.question_id)
            if reply.outcome is not None:
                question = Question(argument or event.text, question_id(event), scope)
                await self._asking.note(question, event, "post", reply.outcome)
            return None
        way, known = Way(name), self._recall.answer(press.question_id, event.place)
        words, types = split_types(argument)
        web = self._web and not types.known
        question = Question(hidden(words), question_id(event), types.over(scope), web_allowed=web)
        finished = await self._same(known, question) or await self._asking.ask(question, None, way)
        try:
            return await self._shown(finished, question, event, press, conversation)
        finally:
            await self._asking.audit(finished, question, event, "post")

    async def _shown(
        self,
        finished: Finished,
        question: Question,
        event: Incoming,
        press: Press,
        conversation: Conversation,
    ) -> Reply:
        """Shows the answer to everybody in the place, when there is one."""
        name, argument = parse(event.text) or ("", "")
        known = self._recall.answer(press.question_id, event.place)
        answer = finished.answer
        if answer.outcome is Outcome.FAILED:
            return Reply(answer.text, private=True)
        if answer.outcome is Outcome.NOT_FOUND:
            return Reply(text("not_posted", answer.language), private=True)
        shown = f"> {literal(argument)}\n\n{self._asking.shown(finished, question)}"
        await self._asking.deliver(
            finished, question, event, conversation, way=Way(name), shown=shown
        )
        self._recall.withdraw(press.question_id)
        anew = known is None or _documents(known.answer) != _documents(answer)
        return Reply(text("posted_anew" if anew else "posted", answer.language), private=True)

    async def _same(self, known: Remembered | None, question: Question) -> Finished | None:
        """The answer that the asker saw, when the channel may see all of it."""
        if known is None or not covers(question.scope, known.scope):
            return None
        if not await self._visible(known.answer, question.scope):
            return None
        return Finished(
            replace(known.answer, question_id=question.id),
            replace(known.trace, question_id=question.id),
        )

    async def _visible(self, answer: Answer, scope: Scope) -> bool:
        """Whether every document behind the answer is still open to everybody in `scope`."""
        retriever = self._asking.machine.ports.retriever
        passages = [item.passage for item in answer.citations]
        passages += [item.passage for item in answer.nearest]
        try:
            for passage in passages:
                if passage.source_type is not SourceType.WEB:
                    open_to_all = await retriever.document(passage, scope)
                    if passage.id not in {item.id for item in open_to_all}:
                        return False
        except GraphError:
            return False
        return True


def _documents(answer: Answer) -> set[tuple[str, str]]:
    return {(item.passage.source, item.passage.document) for item in answer.citations}
