"""Rules of the settings for folders of documents that do not say who may read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from graph.model import EVERYBODY, Access


@dataclass(frozen=True, slots=True)
class FolderRule:
    """`path` is a pattern over "/" separated paths inside `source`; "" stands for any source.

    Empty values leave what held before.
    """

    path: str
    source: str = ""
    audience: str = ""
    labels: frozenset[str] = frozenset()
    tenant: str = ""

    def fits(self, source: str, path: str) -> bool:
        """A folder's name stands for all that is in it."""
        pattern = self.path.strip("/")
        named = not self.source or self.source == source
        return named and (fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*"))

    def over(self, access: Access) -> Access:
        return replace(
            access,
            audience=self.audience or access.audience,
            labels=self.labels or access.labels,
            tenant=self.tenant or access.tenant,
        )


def by_folder(rules: Iterable[FolderRule], source: str, path: str, default: Access) -> Access:
    """Who may read a document that says nothing itself: `default`, then each rule that fits."""
    access = default
    for rule in rules:
        if rule.fits(source, path):
            access = rule.over(access)
    return access


def narrowed(access: Access, bound: Access, levels: Sequence[str]) -> Access:
    """What both `access` and `bound` open: a document's own words never widen a bound."""
    labels = access.labels & bound.labels
    if EVERYBODY in bound.labels or EVERYBODY in access.labels:
        labels = access.labels if EVERYBODY in bound.labels else bound.labels
    rank = {level: at for at, level in enumerate(levels)}
    ends = [end for end in (access.effective_until, bound.effective_until) if end is not None]
    return replace(
        access,
        tenant=bound.tenant,
        audience=max(
            access.audience, bound.audience, key=lambda level: rank.get(level, len(levels))
        ),
        labels=labels,
        effective_until=min(ends, default=None),
        place=bound.place,
    )
