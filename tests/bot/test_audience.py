"""What all readers of an answer may see: the weakest rights count."""

from __future__ import annotations

from itertools import combinations

import pytest

from bot.audience import Directory, GroupRule, Reader, scope_of
from graph.model import LEVELS, Access, Scope

MARA = Reader("staff", frozenset({"swift"}))
NILS = Reader("staff", frozenset({"parcelo"}))
OLA = Reader("manager", frozenset({"swift", "sre"}))
TARA = Reader("director", frozenset({"all"}))
GINA = Reader("staff", frozenset({"swift"}), guest=True)
ELSEWHERE = Reader("director", frozenset({"all"}), tenant="otterby")


def scope(*audience: Reader) -> Scope | None:
    return scope_of(audience, LEVELS, Scope())


def sees(audience: tuple[Reader, ...], level: str, *labels: str) -> bool:
    found = scope(*audience)
    return found is not None and found.admits(Access(audience=level, labels=frozenset(labels)))


def test_the_lowest_level_of_a_place_counts() -> None:
    assert sees((OLA, TARA), "manager", "all")
    assert not sees((OLA, TARA), "senior", "all")
    assert not sees((OLA, TARA, MARA), "manager", "all")


def test_a_document_needs_a_label_in_common_with_every_reader() -> None:
    assert sees((MARA, NILS), "staff", "swift", "parcelo")
    assert not sees((MARA, NILS), "staff", "swift")
    assert sees((MARA, OLA), "staff", "swift")
    assert not sees((MARA, OLA), "staff", "sre")


def test_all_opens_on_either_side() -> None:
    assert sees((TARA,), "staff", "finance")
    assert sees((NILS,), "staff", "all")
    assert not sees((TARA, NILS), "staff", "finance")


def test_somebody_without_labels_sees_what_is_open_to_all_of_them() -> None:
    nobody_knows = Reader("staff")
    assert sees((nobody_knows,), "staff", "all")
    assert not sees((nobody_knows,), "staff", "swift")
    assert not sees((TARA, nobody_knows), "staff", "swift")


@pytest.mark.parametrize(
    "audience",
    [
        (),
        (GINA,),
        (TARA, GINA),
        (TARA, ELSEWHERE),
        (TARA, Reader("chief")),
    ],
    ids=["nobody", "a guest", "a guest among others", "two tenants", "a level of no ladder"],
)
def test_unknown_means_nothing(audience: tuple[Reader, ...]) -> None:
    assert scope(*audience) is None


def test_nobody_sees_more_in_company() -> None:
    documents = [
        Access(audience=level, labels=frozenset(labels))
        for level in LEVELS
        for labels in (("all",), ("swift",), ("swift", "parcelo"), ("finance",))
    ]
    people = (MARA, NILS, OLA, TARA)
    for size in range(1, len(people) + 1):
        for audience in combinations(people, size):
            together = scope(*audience)
            assert together is not None
            for access in documents:
                alone = [own for one in audience if (own := scope(one))]
                assert together.admits(access) == all(own.admits(access) for own in alone)


def test_a_group_adds_its_labels_and_its_level() -> None:
    groups = {
        "slack:S1": GroupRule(labels=frozenset({"sre"})),
        "slack:S2": GroupRule("senior", frozenset({"finance"})),
    }
    directory = Directory(groups=groups)
    assert directory.joined(MARA, {"slack:S1"}) == Reader("staff", frozenset({"swift", "sre"}))
    assert directory.joined(MARA, {"slack:S2"}) == Reader("senior", frozenset({"swift", "finance"}))
    assert directory.joined(None, {"slack:S2"}) == Reader("senior", frozenset({"finance"}))
    assert directory.joined(None, {"slack:S1"}) is None
    assert directory.joined(None, {"slack:S9"}) is None
