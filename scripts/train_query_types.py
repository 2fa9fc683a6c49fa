"""Trains the query-type weights of graph/query_type.py and prints how well they generalise.

    python scripts/train_query_types.py QUESTIONS.jsonl [--out FILE]

Rows: question, lang, type, group. Rows of one group (translations of each other) never stand on
both sides of a fold. Our own rows in scripts/query_types_extra.jsonl always take part.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.use import UseEmbedder
from graph.query_cues import cues
from graph.query_type import TYPES, features
from graph.text import spaced

ROOT = Path(__file__).resolve().parents[1]
EXTRA = ROOT / "scripts" / "query_types_extra.jsonl"
WEIGHTS = ROOT / "graph" / "weights" / "query_types.json"

INVERSE_PENALTY = 10.0  # C of the usual notation; 3 to 30 differ by less than a standard error
ITERATIONS = 400
FOLDS, SEEDS = 10, 3
DECIMALS = 3

Array = npt.NDArray[np.float64]
Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def fit(rows: Array, labels: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """Penalised maximum likelihood by accelerated gradient descent (Nesterov 1983), full batch.

    The step is 1/L with L = C |X|^2 / 2 + 1, a bound of the curvature, so it always converges.
    """
    inputs = np.hstack([rows, np.ones((len(rows), 1))])
    wanted = np.eye(len(TYPES))[labels]
    penalty = np.ones((inputs.shape[1], 1))
    penalty[-1] = 0.0  # the bias is free
    step = 1 / (INVERSE_PENALTY * np.linalg.norm(inputs, 2) ** 2 / 2 + 1)
    weights = np.zeros((inputs.shape[1], len(TYPES)))
    ahead, momentum = weights, 1.0
    for _ in range(ITERATIONS):
        error = softmax(inputs @ ahead) - wanted
        moved = ahead - step * (INVERSE_PENALTY * inputs.T @ error + penalty * ahead)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / following * (moved - weights)
        weights, momentum = moved, following
    return weights[:-1], weights[-1]


def softmax(scores: Array) -> Array:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fold_of(groups: Sequence[str], seed: int) -> npt.NDArray[np.int64]:
    names = sorted(set(groups))
    np.random.default_rng(seed).shuffle(names)
    place = {name: number % FOLDS for number, name in enumerate(names)}
    return np.array([place[group] for group in groups])


def held_out(rows: Array, labels: npt.NDArray[np.int64], groups: Sequence[str]) -> Array:
    """Probabilities of each row by models that never saw its group, averaged over SEEDS."""
    shares = np.zeros((len(rows), len(TYPES)))
    for seed in range(SEEDS):
        folds = fold_of(groups, seed)
        for fold in range(FOLDS):
            rest = folds != fold
            weights, bias = fit(rows[rest], labels[rest])
            shares[~rest] += softmax(rows[~rest] @ weights + bias) / SEEDS
    return shares


def report(title: str, rows: list[Row], right: npt.NDArray[np.bool_]) -> None:
    print(f"{title}: {right.mean():.3f} of {len(rows)}")
    for key in ("type", "lang", "style"):
        parts = []
        for value in sorted({row[key] for row in rows}):
            chosen = np.array([row[key] == value for row in rows])
            parts.append(f"{value} {right[chosen].mean():.3f} ({chosen.sum()})")
        print("   ", ", ".join(parts))


def rounded(weights: Array, bias: Array) -> dict[str, Any]:
    return {
        "weights": np.round(weights, DECIMALS).tolist(),
        "bias": np.round(bias, DECIMALS).tolist(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()

    given, own = read(options.questions), read(EXTRA)
    rows = given + own
    texts = [row["question"] for row in rows]
    embedder = UseEmbedder()
    vectors = asyncio.run(embedder.embed_questions([spaced(text) for text in texts]))
    full = np.array([features(text, row) for text, row in zip(texts, vectors, strict=True)])
    words = np.array([cues(text) for text in texts])
    labels = np.array([TYPES.index(row["type"]) for row in rows])
    groups = [row["group"] for row in rows]

    for title, inputs in (("vector and cues", full), ("cues only", words)):
        right = held_out(inputs, labels, groups).argmax(axis=1) == labels
        report(f"{title}, given rows", given, right[: len(given)])
        report(f"{title}, own rows", own, right[len(given) :])

    model = {
        "embedder": embedder.name,
        "full": rounded(*fit(full, labels)),
        "cues_only": rounded(*fit(words, labels)),
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{options.out.name}: {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
