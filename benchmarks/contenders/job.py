"""What every flow is given, and what is measured of it. Plain values that travel as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import fmean, median
from typing import Self


class Verdicts(StrEnum):
    """How the instant model judges passages."""

    GOLD = "by the labels"  # relevant when a document that holds the answer is shown
    YES = "always relevant"
    NO = "never relevant"


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as Belay cut it: `text` is what was embedded."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """An answerable question. `documents` hold its answer."""

    text: str
    documents: frozenset[str]


@dataclass(frozen=True, slots=True)
class Job:
    passages: tuple[Passage, ...]
    questions: tuple[Asked, ...]

    def gold(self, question: Asked) -> frozenset[str]:
        """The texts of the passages that come from a document with the answer."""
        return frozenset(
            passage.text for passage in self.passages if passage.document in question.documents
        )

    def dumps(self) -> str:
        questions = [(item.text, sorted(item.documents)) for item in self.questions]
        return json.dumps({"passages": list(map(asdict, self.passages)), "questions": questions})

    @classmethod
    def loads(cls, text: str) -> Job:
        data = json.loads(text)
        return cls(
            tuple(Passage(**item) for item in data["passages"]),
            tuple(Asked(text, frozenset(documents)) for text, documents in data["questions"]),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One question as it went."""

    model_calls: int
    web_calls: int
    milliseconds: float  # on the wall clock
    cpu: float  # milliseconds of all threads of the process: steadier on a busy machine


@dataclass(frozen=True, slots=True)
class Figures:
    """Every question of a job through one flow, judged in one way; None where nothing is judged."""

    flow: str
    verdicts: Verdicts | None
    samples: tuple[Sample, ...]

    @property
    def model_calls(self) -> float:
        return fmean(sample.model_calls for sample in self.samples)

    @property
    def most_model_calls(self) -> int:
        return max(sample.model_calls for sample in self.samples)

    @property
    def web_calls(self) -> int:
        return sum(sample.web_calls for sample in self.samples)

    @property
    def milliseconds(self) -> float:
        """The median of a question."""
        return median(sample.milliseconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        """The median of a question."""
        return median(sample.cpu for sample in self.samples)


@dataclass(slots=True)
class Stopwatch:
    """Measures the lines of its `with` block."""

    milliseconds: float = 0.0
    cpu: float = 0.0
    _started: tuple[float, float] = (0.0, 0.0)

    def __enter__(self) -> Self:
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        wall, cpu = self._started
        self.milliseconds = (time.perf_counter() - wall) * 1000
        self.cpu = (time.process_time() - cpu) * 1000


def dump_figures(figures: Iterable[Figures]) -> str:
    return json.dumps([asdict(item) for item in figures])


def load_figures(text: str) -> Sequence[Figures]:
    return [
        Figures(
            item["flow"],
            Verdicts(item["verdicts"]) if item["verdicts"] else None,
            tuple(Sample(**sample) for sample in item["samples"]),
        )
        for item in json.loads(text)
    ]
