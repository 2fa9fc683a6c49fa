"""Whether everybody gets what they may see and nobody anything else: `belay eval access`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.evals.access_cases import Case, leaked, load_cases
from bot.evals.access_stage import Seen, staged
from bot.evals.metrics import share
from bot.evals.tables import Table
from bot.evals.tables import share as shown
from bot.progress import Progress
from bot.settings import Settings
from graph.model import Outcome

Block = dict[str, Any]
_EVIDENT = (Outcome.ANSWERED, Outcome.PARTIAL)


@dataclass(frozen=True, slots=True)
class Played:
    """A case as it went. `leaks`: hidden strings that stood anywhere."""

    case: Case
    seen: Seen
    leaks: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.seen.outcome in self.case.accepted

    @property
    def answered(self) -> bool:
        """Whether there should be evidence, and was."""
        return bool(self.case.sources) and self.seen.outcome in _EVIDENT

    @property
    def sourced(self) -> bool:
        return self.case.well_sourced(self.seen.cited)

    @property
    def lacking(self) -> tuple[str, ...]:
        return self.case.lacking(self.seen.shown)


async def play_all(
    settings: Settings, folder: Path, cases_file: Path, progress: Progress
) -> list[Played]:
    """Every case before the whole bot, in order. Raises BotError."""
    cases = load_cases(cases_file)
    played: list[Played] = []
    async with staged(settings, folder, progress) as stage:
        progress.begin("asking", len(cases))
        for case in cases:
            seen = await stage.play(case)
            played.append(Played(case, seen, leaked(case.hidden, seen.texts)))
            progress.advance()
        progress.end()
    return played


def access_report(played: Sequence[Played]) -> Block:
    """Figures overall, by category and by language, and each case that went wrong."""
    return {
        "overall": _figures(played),
        "by_category": _by(played, [item.case.category for item in played]),
        "by_lang": _by(played, [item.case.lang for item in played]),
        "leaked": [_wrong(item) for item in played if item.leaks],
        "wrong": [_wrong(item) for item in played if not item.right],
        "unsourced": [_wrong(item) for item in played if item.answered and not item.sourced],
        "lacking": [_wrong(item) for item in played if item.answered and item.lacking],
    }


def _by(played: Sequence[Played], names: Sequence[str]) -> Block:
    groups: dict[str, list[Played]] = {}
    for name, item in zip(names, played, strict=True):
        groups.setdefault(name, []).append(item)
    return {name: _figures(group) for name, group in sorted(groups.items())}


def _figures(played: Iterable[Played]) -> Block:
    items = list(played)
    answered = [item for item in items if item.answered]
    return {
        "n": len(items),
        "hides": sum(bool(item.case.hidden) for item in items),
        "leaks": sum(bool(item.leaks) for item in items),
        "outcome": share([item.right for item in items]),
        "sources": share([item.sourced for item in answered]),
        "contains": share([not item.lacking for item in answered]),
    }


def _wrong(item: Played) -> Block:
    return {
        "id": item.case.id,
        "category": item.case.category,
        "question": item.case.question,
        "accepted": list(item.case.accepted),
        "outcome": item.seen.outcome.value,
        "cited": list(item.seen.cited),
        "expected": list(item.case.sources),
        "lacking": list(item.lacking),
        "leaks": list(item.leaks),
    }


def access_table(figures: Block) -> Table:
    """`figures` as access_report makes them."""
    blocks = {"all": figures["overall"]} | figures["by_category"]
    blocks |= {f"lang {name}": block for name, block in figures["by_lang"].items()}
    return Table(
        "Does everybody see what they may see, and nothing else?",
        ("category", "n", "hide something", "leaks", "outcome", "sources", "contains"),
        tuple(
            (
                name,
                *(str(block[key]) for key in ("n", "hides", "leaks")),
                *(shown(block[key]) for key in ("outcome", "sources", "contains")),
            )
            for name, block in blocks.items()
        ),
    )
