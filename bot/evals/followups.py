"""Whether the last messages of labelled conversations are understood: `belay eval followups`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.app import App
from bot.evals.conversations import Conversation, same
from bot.evals.metrics import any_part_at, share
from bot.evals.tables import Table
from bot.evals.tables import share as shown
from bot.progress import Progress
from graph.model import Scope

_TOP = 5  # documents
Ranking = tuple[str, ...]
Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resolution:
    """One last message as it was understood. Rankings: documents found by the resolved question
    and by the message as it was typed; None when no documents were searched."""

    row: Conversation
    resolved: str
    model_calls: int
    ranking: Ranking | None = None
    typed_ranking: Ranking | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        return self.row.missing(self.resolved)

    @property
    def forbidden(self) -> tuple[str, ...]:
        return self.row.forbidden(self.resolved)

    @property
    def too_long(self) -> bool:
        return self.row.too_long(self.resolved)

    @property
    def unchanged(self) -> bool:
        return same(self.resolved, self.row.last)

    @property
    def right(self) -> bool:
        """Says all that it must and nothing else, at no great length; unchanged where it must."""
        if self.row.stands_alone and not self.unchanged:
            return False
        return not (self.missing or self.forbidden or self.too_long)


async def resolve_all(
    app: App, rows: Sequence[Conversation], progress: Progress, *, search: bool
) -> list[Resolution]:
    """Results in the order of `rows`. `search`: the documents of the app's index are asked too."""
    results: list[Resolution] = []
    progress.begin("resolving", len(rows))
    for row in rows:
        question = app.question(row.last, history=row.history)
        state = await app.machine.resolve(question)
        resolved, calls = state["resolved"], len(state.get("calls", ()))
        found: tuple[Ranking | None, Ranking | None] = (None, None)
        if search and row.parts:
            found = (
                await _ranking(app, resolved, question.scope),
                await _ranking(app, row.last, question.scope),
            )
        results.append(Resolution(row, resolved, calls, *found))
        progress.advance()
    progress.end()
    return results


async def _ranking(app: App, text: str, scope: Scope) -> Ranking:
    found = await app.machine.search(text, scope)
    documents = (item.passage.document for item in found.ranked)
    return tuple(dict.fromkeys(documents))


def followups_report(results: Sequence[Resolution]) -> Block:
    """Figures overall, by kind and by language, and each row that went wrong with the reason."""
    return {
        "overall": _figures(results),
        "by_kind": _by(results, lambda item: item.row.kind),
        "by_lang": _by(results, lambda item: item.row.lang),
        "wrong": [_wrong(item) for item in results if not item.right],
    }


def _by(results: Iterable[Resolution], name: Callable[[Resolution], str]) -> Block:
    groups: dict[str, list[Resolution]] = {}
    for item in results:
        groups.setdefault(name(item), []).append(item)
    return {key: _figures(group) for key, group in groups.items()}


def _figures(results: Sequence[Resolution]) -> Block:
    alone = [item for item in results if item.row.stands_alone]
    return {
        "n": len(results),
        "right": share([item.right for item in results]),
        "must_pass_unchanged": len(alone),
        "unchanged": share([item.unchanged for item in alone]),
        "too_long": sum(item.too_long for item in results),
        "model_calls": sum(item.model_calls for item in results),
        "recall_at_5": _recall(results, lambda item: item.ranking),
        "recall_at_5_as_typed": _recall(results, lambda item: item.typed_ranking),
    }


def _recall(
    results: Iterable[Resolution], ranking: Callable[[Resolution], Ranking | None]
) -> float | None:
    found = [(item.row.parts, ranking(item)) for item in results]
    return share([any_part_at(parts, names, _TOP) for parts, names in found if names is not None])


def _wrong(item: Resolution) -> Block:
    return {
        "id": item.row.id,
        "kind": item.row.kind,
        "last": item.row.last,
        "resolved": item.resolved,
        "missing": list(item.missing),
        "forbidden": list(item.forbidden),
        "too_long": item.too_long,
        "changed": item.row.stands_alone and not item.unchanged,
    }


def followups_table(figures: Block) -> Table:
    """`figures` as followups_report makes them."""
    blocks = {"all": figures["overall"]} | figures["by_kind"]
    blocks |= {f"lang {name}": block for name, block in figures["by_lang"].items()}
    searched = figures["overall"]["recall_at_5"] is not None
    columns = ("kind", "n", "right", "unchanged", "too long", "model calls")
    recall = ("recall@5", "as typed") if searched else ()
    rows = [(name, *_cells(block), *_recalls(block, searched)) for name, block in blocks.items()]
    return Table("Are follow-ups understood?", (*columns, *recall), tuple(rows))


def _cells(block: Block) -> tuple[str, ...]:
    return (
        str(block["n"]),
        shown(block["right"]),
        shown(block["unchanged"]),
        str(block["too_long"]),
        str(block["model_calls"]),
    )


def _recalls(block: Block, searched: bool) -> tuple[str, ...]:
    keys = ("recall_at_5", "recall_at_5_as_typed") if searched else ()
    return tuple(shown(block[key]) for key in keys)
