"""The verdict over a ranking: pure arithmetic on calibrated relevance, no model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.model import Grade, QueryType, Ranked, Verdict
from graph.policy import Policy
from graph.split import split
from graph.text import fold, parts, tokens
from graph.view import Coverage, QuestionView

_ENOUGH_WORDS = 3  # asked words beside the name from which their absence means something
_HARDLY_ANY = 0.1  # coverage of those words
_NEAR_FLOOR = 0.15  # of relevance
_NEARLY_ALL = 0.8  # coverage from which the floor is enough
_SOME_WORDS = 0.6  # coverage under which a missing word, or a second question, may matter
_MOST_WORDS = 0.5  # coverage
SPREAD_UNIT = 0.10  # of relevance-like spread for one unit of u


def grade(
    view: QuestionView, ranked: Sequence[Ranked], query_type: QueryType, policy: Policy
) -> Grade:
    """Relevant, partial or none, with the reason.

    `ranked`: every candidate, best first. None: nothing found, below the floor, every named thing
    unknown to the documents, or noise (a flat ranking without a certain passage).
    """
    if not ranked:
        return Grade(Verdict.NONE, "no passage found", unknown_terms=_unknown(view))
    best = ranked[0]
    width = spread(ranked, policy.noise_k)
    verdict, reason = _verdict(view, best, width, policy.threshold(query_type), policy)
    bare = holds_only_the_name(view, ranked)
    if verdict is Verdict.RELEVANT and bare:
        verdict, reason = Verdict.PARTIAL, f"{best.passage.title} says nothing of what was asked"
    critical = (
        verdict is Verdict.PARTIAL
        or best.scores.coverage < policy.low_coverage
        or best.passage.stub
    )
    return Grade(
        verdict,
        reason,
        relevance=best.scores.relevance,
        coverage=best.scores.coverage,
        spread=width,
        unknown_terms=_unknown(view),
        critical=critical,
        answerability=answerability(best, unknown=bool(_unknown(view)), bare=bare),
    )


def _verdict(
    view: QuestionView, best: Ranked, width: float | None, threshold: float, policy: Policy
) -> tuple[Verdict, str]:
    value, missing = best.scores.relevance, _unknown(view)
    nothing = _why_nothing(view, best, width, policy)
    if nothing:
        return Verdict.NONE, nothing
    coverage = best.scores.coverage
    if missing and (value < policy.certain or coverage < _SOME_WORDS):
        return Verdict.PARTIAL, f"no document mentions {', '.join(missing)}"
    if coverage < _SOME_WORDS and len(split(view.text, policy.sub_questions)) > 1:
        return Verdict.PARTIAL, f"asks for several things, coverage {coverage:.2f}"
    if value >= threshold:
        return Verdict.RELEVANT, f"best relevance {value:.2f} reaches {threshold:.2f}"
    if value >= policy.floor and coverage >= _NEARLY_ALL and len(view.words) > 1:
        return Verdict.RELEVANT, f"best relevance {value:.2f}, and nearly all asked words are there"
    return Verdict.PARTIAL, f"best relevance {value:.2f} is under {threshold:.2f}"


def _why_nothing(view: QuestionView, best: Ranked, width: float | None, policy: Policy) -> str:
    """The reason for the verdict none, or an empty string."""
    value = best.scores.relevance
    if value < policy.floor and not _well_covered(view, best, policy):
        return f"best relevance {value:.2f} is under the floor {policy.floor:.2f}"
    if view.named and len(view.unknown_names) == len(view.named):
        return f"no document mentions {', '.join(view.unknown_names)}"
    if width is not None and width < policy.noise_spread and value < policy.certain:
        return f"noise: spread {width:.3f} over {policy.noise_k} documents"
    return ""


def _well_covered(view: QuestionView, best: Ranked, policy: Policy) -> bool:
    """A little under the floor, yet every word is known and most stand in the passage."""
    near = best.scores.relevance >= policy.floor - _NEAR_FLOOR
    return near and best.scores.coverage >= _MOST_WORDS and not _unknown(view)


def spread(ranked: Sequence[Ranked], k: int) -> float | None:
    """0.10 (u1 - uk) over the best chunks of k distinct documents; None when there are fewer.

    Documents with the same file name count as one: copies in two places are not noise.
    """
    best: dict[str, float] = {}
    for item in ranked:
        name = item.passage.document.rsplit("/", 1)[-1]
        best.setdefault(name, item.scores.u)
        if len(best) == k:
            values = list(best.values())
            return SPREAD_UNIT * (values[0] - values[-1])
    return None


def holds_only_the_name(view: QuestionView, ranked: Sequence[Ranked]) -> bool:
    """True when the best document matches by its name and holds almost no other asked word.

    "KubeClientErrors: which qps and burst values?" finds the page of that alert, however empty
    it is. Asked only within one language: translations miss too many words to tell.
    """
    best = ranked[0].passage
    if best.language != view.language:
        return False
    name = frozenset(tokens(f"{best.title} {best.document.rsplit('/', 1)[-1].rsplit('.', 1)[0]}"))
    beside = [word for word in view.words if not name & word.worths(best.language).keys()]
    if len(beside) < _ENOUGH_WORDS:
        return False
    coverage = Coverage(replace(view, words=tuple(beside)), best.language)
    found: frozenset[str] = frozenset()
    for item in ranked:
        if (item.passage.source, item.passage.document) == (best.source, best.document):
            found |= coverage.found(" ".join((*item.passage.heading, item.passage.text)))
            if coverage.of(found) >= _HARDLY_ANY:  # more text only covers more
                return False
    return True


def _unknown(view: QuestionView) -> tuple[str, ...]:
    """Words as they were asked: of `KubePodCrashLooping`, the whole and not the unknown piece."""
    whole = {fold(piece): name for name in view.named for piece in parts(name)}
    words = [whole.get(fold(word), word) for word in (*view.unknown, *view.unknown_names)]
    return tuple({fold(word): word for word in words}.values())


def answerability(best: Ranked, *, unknown: bool, bare: bool) -> float:
    """How likely the documents hold the answer, in u: for ordering questions only.

    Relevance alone cannot see "right document, missing fact". Coverage of the question's words
    adds what it can; a word that no document mentions, or a page that holds only the asked name,
    costs as much as one negative spread.
    """
    return best.scores.u + best.scores.coverage - unknown - bare
