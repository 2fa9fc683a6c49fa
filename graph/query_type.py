"""Which kind of question it is: one fact, a judgement, or a collection from several sources.

A multinomial logistic regression over the builtin embedder's unit vector and cue words in English
and Russian. scripts/train_query_types.py makes the weights; they belong to that embedder alone.
Without a vector a second, smaller set of weights reads the cues only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from graph.model import QueryType
from graph.ports import Vector
from graph.query_cues import cues
from graph.state import TypeDecision

Features = npt.NDArray[np.float64]

TYPES = tuple(QueryType)
"""The order of columns in the weights and of `TypeDecision.probabilities`."""

CUE_SCALE = 0.2
"""Weight of a cue beside a vector of unit length, chosen by cross-validation."""


def features(question: str, vector: Vector) -> Features:
    """The unit vector followed by the scaled cues: shape (dimension + cues,)."""
    return np.concatenate([vector.astype(np.float64), CUE_SCALE * cues(question)])


def margin(decision: TypeDecision) -> float:
    """How far the likeliest type is ahead of the next, in probability: 0 is a tie."""
    ordered = sorted(decision.probabilities)
    return ordered[-1] - ordered[-2]


@dataclass(frozen=True, slots=True)
class Linear:
    """One set of weights, shape (features, types), and a bias for each type."""

    weights: Features
    bias: Features

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Linear:
        return cls(np.array(entry["weights"]), np.array(entry["bias"]))

    def probabilities(self, row: Features) -> tuple[float, float, float]:
        scores = row @ self.weights + self.bias
        shares = np.exp(scores - scores.max())
        factual, analytical, synthesis = (shares / shares.sum()).tolist()
        return factual, analytical, synthesis


@dataclass(frozen=True, slots=True)
class QueryTypeModel:
    """Decides the type of a question locally, in well under a millisecond."""

    embedder: str  # names the vector space that `full` belongs to
    full: Linear
    cues_only: Linear

    @classmethod
    def from_json(cls, text: str) -> QueryTypeModel:
        """Raises KeyError or ValueError when `text` is not a weights file of this version."""
        data = json.loads(text)
        return cls(
            data["embedder"],
            Linear.from_json(data["full"]),
            Linear.from_json(data["cues_only"]),
        )

    @classmethod
    @cache
    def shipped(cls) -> QueryTypeModel:
        """The weights that come with the package, read once."""
        text = files("graph").joinpath("weights", "query_types.json").read_text(encoding="utf-8")
        return cls.from_json(text)

    def decide(self, question: str, vector: Vector | None) -> TypeDecision:
        """The likeliest type. `vector` is of `graph.text.spaced(question)`; without one the cue
        words decide alone."""
        if vector is None:
            shares = self.cues_only.probabilities(cues(question))
        else:
            shares = self.full.probabilities(features(question, vector))
        return TypeDecision(TYPES[int(np.argmax(shares))], "local", shares)
