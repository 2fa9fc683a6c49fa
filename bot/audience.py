"""Who reads an answer, and what all of them may see.

An answer in a channel is read by everybody there, so the weakest rights count: the lowest level,
a label in common with every reader, one tenant. Nobody, a guest, a level that the ladder does not
have, or people of two tenants: then there is nothing to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph.model import EVERYBODY, LEVELS, Scope, levels_up_to

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Reader:
    """The rights of a person, or of whoever is in a place. Guests see no document at all.

    Without labels only documents that are open to all labels can be read.
    """

    level: str
    labels: frozenset[str] = frozenset()
    tenant: str = DEFAULT_TENANT
    guest: bool = False


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """What the settings say of a channel or group: what may be read there, or who is in it, or
    both. `members` are people's keys; one that nobody knows closes the place."""

    reader: Reader | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupRule:
    """What members of a platform's own group get. With a level they need no other entry."""

    level: str = ""
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Directory:
    """People and places by the keys of the settings, and the ladder of levels, lowest first.

    `groups` are those whose members a platform is asked for: "slack:S012AB3CD",
    "telegram:-1001234567890:admins".
    """

    people: Mapping[str, Reader] = field(default_factory=dict)
    places: Mapping[str, PlaceRule] = field(default_factory=dict)
    groups: Mapping[str, GroupRule] = field(default_factory=dict)
    levels: tuple[str, ...] = LEVELS
    tenant: str = DEFAULT_TENANT  # of people and documents that name none

    @property
    def highest(self) -> Reader:
        """Who may read everything in the tenant."""
        return Reader(self.levels[-1], frozenset({EVERYBODY}), self.tenant)

    def joined(self, known: Reader | None, groups: Iterable[str]) -> Reader | None:
        """The reader with what the groups add: the highest level, and all labels."""
        rules = [self.groups[key] for key in sorted(groups) if key in self.groups]
        levels = [rule.level for rule in rules if rule.level in self.levels]
        if known is not None and known.level in self.levels:
            levels.append(known.level)
        if not levels:
            return known
        reader = known or Reader(self.levels[0], tenant=self.tenant)
        labels = reader.labels.union(*(rule.labels for rule in rules))
        return replace(reader, level=max(levels, key=self.levels.index), labels=labels)


def scope_of(audience: Sequence[Reader], levels: Sequence[str], asked: Scope) -> Scope | None:
    """`asked` narrowed to what every one of the audience may see; None when that is nothing."""
    tenants = {reader.tenant for reader in audience}
    if len(tenants) != 1 or any(r.guest or r.level not in levels for r in audience):
        return None
    lowest = min((reader.level for reader in audience), key=list(levels).index)
    first, *others = _strictest({reader.labels for reader in audience})
    return replace(
        asked,
        tenant=tenants.pop(),
        levels=levels_up_to(lowest, levels),
        labels=first,
        also=frozenset(others),
    )


def _strictest(readers: set[frozenset[str]]) -> list[frozenset[str]]:
    """Without those who see whatever another of them sees, in a stable order."""
    bound = {labels for labels in readers if EVERYBODY not in labels}
    if not bound:
        return [frozenset({EVERYBODY})]
    strictest = [labels for labels in bound if not any(other < labels for other in bound)]
    return sorted(strictest, key=sorted)
