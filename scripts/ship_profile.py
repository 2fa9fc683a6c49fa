"""Writes what ships for small indexes: anchors, means and the commonest words of an index.

    python scripts/ship_profile.py INDEX.db

The index should hold a thousand chunks or more of runbooks in English and Russian, built with the
builtin embedder. Writes bot/ingest/data/profiles.json and graph/words/common.json.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.registry import factory
from graph.look import script
from graph.model import LANGUAGES
from graph.profile import Anchor, Pair, Profile
from graph.text import tokens

ROOT = Path(__file__).resolve().parent.parent
COMMON_SHARE = 0.02  # of the chunks of one language
DIGITS = 4


def rounded(values: Any) -> list[float]:
    return [round(float(value), DIGITS) for value in values]


def pair(anchor: Anchor) -> list[float]:
    return rounded((anchor.m, anchor.g))


async def read(path: Path) -> tuple[Profile, dict[str, float]]:
    index = await factory("index.sqlite")(path)
    try:
        counts: dict[str, Counter[str]] = {language: Counter() for language in LANGUAGES}
        sizes: Counter[str] = Counter()
        async for passage, _, _ in index.chunks():
            sizes[passage.language] += 1
            counts[passage.language].update(set(tokens(passage.text)))
        profile = await index.profile()
    finally:
        await index.close()
    shares: dict[str, float] = {}
    for language in LANGUAGES:
        for word, count in counts[language].items():
            share = count / max(sizes[language], 1)
            if share >= COMMON_SHARE and word.isalpha() and script(word) == language:
                shares[word] = max(shares.get(word, 0.0), round(share, 3))
    return profile, dict(sorted(shares.items()))


def alike(lexical: Mapping[Pair, Anchor]) -> dict[Pair, Anchor]:
    """Keyword anchors with both languages treated alike.

    The Russian part of the reference is one product's manual: its snippets share more words than
    those of an ordinary mix of runbooks, and a small index elsewhere must not pay for that.
    """
    there, back = lexical["en", "ru"], lexical["ru", "en"]
    across = Anchor((there.m + back.m) / 2, (there.g + back.g) / 2)
    return {(q, c): lexical["en", "en"] if q == c else across for q, c in lexical}


def shipped(profile: Profile) -> dict[str, Any]:
    calibration = profile.calibration
    return {
        "embedders": {
            profile.embedder: {
                "passage_means": {k: rounded(v) for k, v in calibration.passage_means.items()},
                "question_means": {k: rounded(v) for k, v in calibration.question_means.items()},
                "word_means": {k: rounded(v.mean) for k, v in profile.vocabularies.items()},
                "dense": {f"{q}-{c}": pair(a) for (q, c), a in calibration.dense.items()},
            }
        },
        "lexical": {f"{q}-{c}": pair(a) for (q, c), a in alike(calibration.lexical).items()},
        "final": {language: pair(calibration.final["en"]) for language in LANGUAGES},
    }


def main() -> None:
    profile, common = asyncio.run(read(Path(sys.argv[1])))
    for target, data in (
        (ROOT / "bot/ingest/data/profiles.json", shipped(profile)),
        (ROOT / "graph/words/common.json", common),
    ):
        target.write_text(
            json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
