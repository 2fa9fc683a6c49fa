"""Direct search: a runbook by the name of its alert or service, or by what happens.

No model is asked. A document that bears the exact name comes first, in whatever way it is typed;
only without one is it looked for by meaning, and then the policy's thresholds decide.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bot.names import Fit, Name, asked_name
from bot.reply import source_line
from bot.steps import StepBounds, first_steps
from bot.subject import alert_names
from bot.texts import literal, text
from graph.followup import cut
from graph.grading import grade
from graph.machine import Finished, Machine
from graph.model import (
    Answer,
    Citation,
    Grade,
    Language,
    Outcome,
    Passage,
    QueryType,
    Question,
    Ranked,
    Scope,
    SourceType,
    Verdict,
)
from graph.policy import confidence
from graph.ports import Search
from graph.retrieval import Found
from graph.state import State
from graph.text import question_language
from graph.trace import trace

_NOT_DOCUMENTS = (SourceType.WEB, SourceType.SESSION)
_REASONS = {
    Fit.TITLE: "the document has this name",
    Fit.HEADING: "a section has this name",
    Fit.PART: "this name stands in a title",
    Fit.TEXT: "this name stands in the text",
}


@dataclass(frozen=True, slots=True)
class RunbookBounds:
    """Counts of documents, and a lead in u."""

    listed: int = 5  # documents to choose from
    nearest: int = 3  # shown when none fits
    candidates: int = 100  # passages looked at for a name
    names: int = 3  # of a symptom that are looked for
    lead: float = 0.5  # of the best document before the next, to be the one that is meant
    steps: StepBounds = field(default_factory=StepBounds)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One document, or several to choose from, best first. `named`: its name is exact."""

    passages: tuple[Passage, ...]
    grade: Grade
    relevance: tuple[float, ...]
    others: int = 0  # of the passages, that only may fit as well
    named: bool = False
    considered: tuple[Ranked, ...] = ()
    notes: tuple[str, ...] = ()


class Runbooks:
    """Looks documents up within a question's scope."""

    def __init__(self, machine: Machine, bounds: RunbookBounds | None = None) -> None:
        self._machine, self._bounds = machine, bounds or RunbookBounds()

    async def by_name(self, question: Question) -> Finished:
        """The runbook of the alert or service that `question.text` names."""
        return await self._finished(question, [asked_name(question.text)], QueryType.FACTUAL)

    async def by_symptom(self, question: Question) -> Finished:
        """What to do about `question.text`: by the names in it, else by its meaning."""
        names = alert_names(question.text)[: self._bounds.names]
        return await self._finished(question, names, QueryType.ANALYTICAL)

    async def _finished(
        self, question: Question, names: Sequence[str], query_type: QueryType
    ) -> Finished:
        """Like a run of the machine, it ends in an answer, whatever breaks."""
        started = time.perf_counter()
        question = replace(
            question, text=cut(question.text, self._machine.limits.question_characters)
        )
        language = question_language(question.text)
        state: State = {"question": question, "resolved": question.text, "language": language}
        try:
            if not Name.of(question.text).pieces:
                answer = _plain(question, text("runbook_what", language), language)
            else:
                chosen = await self._choose(question, names, query_type)
                state = {**state, "grade": chosen.grade, "considered": chosen.considered}
                answer = await self._written(question, chosen, language)
        except Exception as error:  # the machine's last resort, too: the asker learns an error id
            answer = self._machine.failure(question, error)
        total = (time.perf_counter() - started) * 1000
        return Finished(answer, trace(state, answer, self._machine.policy, total))

    # Choosing

    async def _choose(
        self, question: Question, names: Sequence[str], query_type: QueryType
    ) -> _Chosen:
        for name in names:
            found = await self._named(name, question.scope)
            if found:
                return await self._of_name(found, question)
        anything = await self._machine.search(question.text, question.scope)
        return self._by_meaning(anything, query_type)

    async def _named(self, text: str, scope: Scope) -> list[tuple[Fit, Passage]]:
        """The documents that bear the name best, each with the passage that does."""
        retriever = self._machine.ports.retriever
        name = Name.of(text).cut((await retriever.profile()).statistics.known)
        search = Search(name.terms, None, lexical_limit=self._bounds.candidates)
        best: dict[tuple[str, str], tuple[Fit, Passage]] = {}
        for candidate in sorted(
            await retriever.search(search, scope), key=lambda item: item.passage.lines
        ):
            passage, fit = candidate.passage, name.fits(candidate.passage)
            known = best.get(_key(passage))
            if fit is not None and _is_document(passage) and (known is None or fit < known[0]):
                best[_key(passage)] = (fit, passage)
        closest = min((fit for fit, _ in best.values()), default=None)
        return sorted(
            (item for item in best.values() if item[0] is closest),
            key=lambda item: (item[1].title, item[1].document),
        )

    async def _of_name(self, found: Sequence[tuple[Fit, Passage]], question: Question) -> _Chosen:
        fit = found[0][0]
        passages = [passage for _, passage in found]
        verdict = Grade(Verdict.RELEVANT, _REASONS[fit], relevance=1.0, coverage=1.0)
        if len(passages) == 1:
            return _Chosen(tuple(passages), verdict, (1.0,), named=fit is Fit.TITLE)
        order = await self._machine.search(question.text, question.scope)
        places = {_key(item.passage): at for at, item in reversed([*enumerate(order.ranked)])}
        passages.sort(key=lambda passage: places.get(_key(passage), len(places)))
        shown = tuple(passages[: self._bounds.listed])
        return _Chosen(shown, verdict, (1.0,) * len(shown), considered=order.ranked)

    def _by_meaning(self, found: Found, query_type: QueryType) -> _Chosen:
        """One document with a clear lead, several without; for a symptom always the best one."""
        bounds = self._bounds
        verdict = grade(found.view, found.ranked, query_type, self._machine.policy)
        ranked = _documents(found.ranked)
        if verdict.verdict is not Verdict.RELEVANT or not ranked:
            shown = ranked[: bounds.nearest]
        else:
            near = ranked[0].scores.u - bounds.lead
            shown = [item for item in ranked if item.scores.u > near][: bounds.listed]
        return _Chosen(
            tuple(item.passage for item in shown),
            verdict,
            tuple(item.scores.relevance for item in shown),
            others=len(shown) - 1 if query_type is QueryType.ANALYTICAL and shown else 0,
            considered=found.ranked,
            notes=found.notes,
        )

    # Writing

    async def _written(self, question: Question, chosen: _Chosen, language: Language) -> Answer:
        name = f"“{literal(asked_name(question.text))}”"
        if chosen.grade.verdict is not Verdict.RELEVANT or not chosen.passages:
            return self._nothing_sure(question, chosen, name, language)
        passages = list(chosen.passages)
        first = len(passages) - chosen.others
        if first > 1:
            words = text("runbook_several", language, name=name)
        else:
            words, passages[0] = await self._document(chosen, question.scope, language)
        others = [f"- {_title(passages[at])} [{at + 1}]" for at in range(first, len(passages))]
        if others:
            words += "\n\n" + "\n".join([text("runbook_also", language), "", *others])
        cited = zip(passages, chosen.relevance, strict=True)
        return Answer(
            question_id=question.id,
            outcome=Outcome.ANSWERED,
            text=words,
            language=language,
            citations=tuple(Citation(at, *item) for at, item in enumerate(cited, start=1)),
            confidence=confidence(chosen.relevance[0]),
            notes=chosen.notes,
        )

    async def _document(
        self, chosen: _Chosen, scope: Scope, language: Language
    ) -> tuple[str, Passage]:
        """Where it is from with its first steps, and the passage that holds them."""
        passage = chosen.passages[0]
        document = await self._machine.ports.retriever.document(passage, scope)
        matched = None if chosen.named else passage
        steps = first_steps(document or [passage], matched, self._bounds.steps)
        place = f"**{_title(passage, steps.heading if steps else ())}**"
        if steps is None:
            return text("runbook_found", language, place=place), passage
        lines = [text("runbook_found", language, place=place) + ":", steps.text]
        if not steps.whole:
            lines.append(f"*{text('runbook_more', language)}*")
        return "\n\n".join(lines), steps.passage

    def _nothing_sure(
        self, question: Question, chosen: _Chosen, name: str, language: Language
    ) -> Answer:
        """The nearest documents where the policy finds that they come near, else that there are
        none."""
        near = chosen.grade.verdict is Verdict.PARTIAL and chosen.passages
        shown = _documents(chosen.considered)[: len(chosen.passages)] if near else []
        lines = [text("runbook_nearest" if near else "runbook_none", language, name=name)]
        stale, now = self._machine.policy.stale_days, question.scope.now
        for number, item in enumerate(shown, start=1):
            cited = Citation(number, item.passage, item.scores.relevance)
            lines += [
                *([""] if number == 1 else []),
                f"- {source_line(cited, language, stale, now)}",
            ]
        return Answer(
            question_id=question.id,
            outcome=Outcome.NOT_FOUND,
            text="\n".join(lines),
            language=language,
            nearest=tuple(shown),
            notes=chosen.notes,
        )


def _plain(question: Question, words: str, language: Language) -> Answer:
    return Answer(question.id, Outcome.NOT_FOUND, words, language)


def _documents(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The best passage of each document, best first."""
    best: dict[tuple[str, str], Ranked] = {}
    for item in ranked:
        if _is_document(item.passage):
            best.setdefault(_key(item.passage), item)
    return list(best.values())


def _is_document(passage: Passage) -> bool:
    return passage.source_type not in _NOT_DOCUMENTS


def _key(passage: Passage) -> tuple[str, str]:
    return passage.source, passage.document


def _title(passage: Passage, heading: Sequence[str] = ()) -> str:
    """Title and section, once when they are the same."""
    title = passage.title or passage.document
    names = [title, *(name for name in heading[-1:] if name != title)]
    return " › ".join(map(literal, names))
