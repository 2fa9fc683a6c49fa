"""What the scale of relevance does to questions: how far each kind reaches, and what each
threshold lets through. Pure; `belay calibration` prints and draws it.

Three kinds of questions are compared, by the best passage that each of them found:

    everyday   questions of daily life that no team's documents answer
    foreign    sentences of one document, asked of all the others: the hardest unrelated questions
    asked      what was asked here lately, scored when it was asked

The first two are the negatives that the scale was fitted on (bot/ingest/calibrate.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite, log
from typing import Any

from bot.ingest.calibrate import ENOUGH, outgrown
from bot.ingest.shipped import probes
from graph.model import LANGUAGES, Language
from graph.policy import Policy
from graph.profile import Anchor, Calibration, Floats, Profile
from graph.relevance import MIDDLE, STEEPNESS, relevance

QUANTILES = (0.25, 0.5, 0.75, 0.95)
ENOUGH_ASKED = 20  # questions from which their distribution says something
LOOSE = 0.1  # of everyday questions; thresholds that let more through are worth a hint
TIGHT = 1 / 3  # of asked questions; so few of them over the lowest threshold is worth one too

NAMES: dict[Language, str] = {"en": "English", "ru": "Russian"}


class Kind(StrEnum):
    EVERYDAY = "everyday"
    FOREIGN = "foreign"
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions of one kind and language: `u` of the best passage of each, lowest first."""

    language: Language
    kind: Kind
    u: tuple[float, ...]

    def quantile(self, share: float) -> float | None:
        """The u that `share` of the questions do not pass, interpolated; None without any."""
        if not self.u:
            return None
        place = share * (len(self.u) - 1)
        below = int(place)
        above = min(below + 1, len(self.u) - 1)
        return self.u[below] + (place - below) * (self.u[above] - self.u[below])

    def reaching(self, threshold: float) -> float | None:
        """The share of questions whose relevance is at least `threshold`; None without any."""
        if not self.u:
            return None
        return sum(relevance(value) >= threshold for value in self.u) / len(self.u)


@dataclass(frozen=True, slots=True)
class Threshold:
    name: str
    relevance: float

    @property
    def u(self) -> float:
        """The u at which relevance is the threshold: minus or plus infinity for 0 and 1."""
        if self.relevance in (0, 1):
            return inf if self.relevance else -inf
        return MIDDLE + log(self.relevance / (1 - self.relevance)) / STEEPNESS


@dataclass(frozen=True, slots=True)
class Overview:
    """The calibration of an index beside what it does to questions."""

    embedder: str
    chunks: int
    calibration: Calibration
    outgrown: bool  # the index has changed by more than the anchors stand for
    thresholds: tuple[Threshold, ...]  # lowest first
    samples: tuple[Sample, ...]  # every language with every kind

    @property
    def asked(self) -> int:
        return sum(len(item.u) for item in self.samples if item.kind is Kind.ASKED)


def overview(
    profile: Profile, chunks: int, traces: Iterable[Mapping[str, Any]], policy: Policy
) -> Overview:
    """`chunks`: of the index now. `traces`: as bot/traces.py keeps them."""
    asked = _asked(traces)
    samples: list[Sample] = []
    for language in LANGUAGES:
        negatives = profile.calibration.negatives.get(language)
        everyday, foreign = _kinds(negatives, len(probes()[language]))
        samples += [
            Sample(language, Kind.EVERYDAY, everyday),
            Sample(language, Kind.FOREIGN, foreign),
            Sample(language, Kind.ASKED, tuple(sorted(asked[language]))),
        ]
    return Overview(
        profile.embedder,
        chunks,
        profile.calibration,
        outgrown(profile.calibration, profile.embedder, profile, chunks),
        thresholds(policy),
        tuple(samples),
    )


def thresholds(policy: Policy) -> tuple[Threshold, ...]:
    names = ("floor", "synthesis", "analytical", "factual", "certain")
    found = [Threshold(name, getattr(policy, name)) for name in names]
    return tuple(sorted(found, key=lambda item: item.relevance))


def _kinds(
    negatives: Floats | None, probe_count: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(everyday, foreign): calibration keeps the snippets first and the probe questions last."""
    values = [] if negatives is None else [float(value) for value in negatives]
    border = max(len(values) - probe_count, 0)
    return tuple(sorted(values[border:])), tuple(sorted(values[:border]))


def _asked(traces: Iterable[Mapping[str, Any]]) -> dict[Language, list[float]]:
    """The best u of each question that was looked up; small talk is not."""
    found: dict[Language, list[float]] = {language: [] for language in LANGUAGES}
    for trace in traces:
        candidates = trace.get("candidates") or ()
        if candidates and trace.get("language") in found:
            found[trace["language"]].append(float(candidates[0]["u"]))
    return found


def hints(view: Overview) -> list[str]:
    """What to know before a threshold is changed, and which of them look wrong."""
    return [*_scale_hints(view), *_asked_hints(view), *_loose_hints(view)]


def _scale_hints(view: Overview) -> list[str]:
    found = []
    if view.outgrown:
        found.append(
            f"The index has {view.chunks} chunks, the scale was fitted on "
            f"{view.calibration.chunks}: run `belay sync` to fit it again."
        )
    if view.calibration.origin != "fitted":
        found.append(
            f"The index is small: part of the scale is the one that ships with Belay, until "
            f"{ENOUGH} different paragraphs in a language say what is unrelated here."
        )
    return found


def _asked_hints(view: Overview) -> list[str]:
    if view.asked < ENOUGH_ASKED:
        return [
            f"Questions asked here so far: {view.asked}. Under {ENOUGH_ASKED} their distribution "
            "says little; ask more before you change a threshold."
        ]
    floor = next(item for item in view.thresholds if item.name == "floor")
    lowest = next(item for item in view.thresholds if item.name != "floor")
    found = []
    for sample in view.samples:
        if sample.kind is not Kind.ASKED or len(sample.u) < ENOUGH_ASKED:
            continue
        share = sample.reaching(lowest.relevance)
        if share is not None and share < TIGHT:
            below = 1 - (sample.reaching(floor.relevance) or 0)
            found.append(
                f"Only {share:.0%} of the {NAMES[sample.language]} questions asked here reach "
                f"`{lowest.name}`, and {below:.0%} stay under the floor: the documents lack what "
                "is asked (`belay why` names it), or the thresholds are too high."
            )
    return found


def _loose_hints(view: Overview) -> list[str]:
    """Thresholds that many everyday questions reach, with the value that few of them would."""
    found = []
    for sample in view.samples:
        enough = sample.quantile(1 - LOOSE)
        if sample.kind is not Kind.EVERYDAY or enough is None:
            continue
        loose = [
            f"`{item.name}` {item.relevance:.2f}"
            for item in view.thresholds
            if (sample.reaching(item.relevance) or 0) > LOOSE
        ]
        if loose:
            found.append(
                f"{', '.join(loose)}: more than {LOOSE:.0%} of {NAMES[sample.language]} everyday "
                f"questions get through; at {relevance(enough):.2f} it would be {LOOSE:.0%}."
            )
    return found


def to_json(view: Overview) -> dict[str, Any]:
    """Everything as plain data. Quantiles are keyed by their share, "0.5" for the median."""
    calibration = view.calibration
    return {
        "embedder": view.embedder,
        "chunks": view.chunks,
        "fitted_at": calibration.fitted_at.isoformat(),
        "fitted_chunks": calibration.chunks,
        "origin": calibration.origin,
        "outgrown": view.outgrown,
        "anchors": {
            "cosine": {f"{q}-{c}": _anchor(a) for (q, c), a in calibration.dense.items()},
            "words": {f"{q}-{c}": _anchor(a) for (q, c), a in calibration.lexical.items()},
            "fused": {language: _anchor(a) for language, a in calibration.final.items()},
        },
        "thresholds": {
            item.name: {"relevance": item.relevance, "u": item.u if isfinite(item.u) else None}
            for item in view.thresholds
        },
        "questions": {
            language: {
                item.kind.value: _sample(item, view.thresholds)
                for item in view.samples
                if item.language == language
            }
            for language in LANGUAGES
        },
        "hints": hints(view),
    }


def _anchor(anchor: Anchor) -> dict[str, float]:
    return {"m": anchor.m, "g": anchor.g}


def _sample(sample: Sample, lines: Sequence[Threshold]) -> dict[str, Any]:
    quantiles = {str(share): sample.quantile(share) for share in QUANTILES}
    return {
        "n": len(sample.u),
        "u": quantiles,
        "relevance": {
            share: None if value is None else relevance(value) for share, value in quantiles.items()
        },
        "reaching": {item.name: sample.reaching(item.relevance) for item in lines},
        "values": [round(value, 3) for value in sample.u],
    }
