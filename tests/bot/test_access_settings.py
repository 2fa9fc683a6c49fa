"""[access] of belay.toml: who is who, what may be read where, and folders of documents."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adapters.memory.roll import MemoryRoll
from bot.access import Access as Gate
from bot.access import Grant, Role
from bot.access_settings import AccessSettings
from bot.chat import Incoming, Kind, Person, Place
from bot.ingest.folder_rules import by_folder
from graph.model import Access, Scope

MARA, OLA, GINA, TOM = (Person("slack", f"U{name}") for name in ("MARA", "OLA", "GINA", "TOM"))
CHANNEL = Place("slack", "C1", "channel")
PEOPLE = [
    {"who": "slack:UMARA", "level": "staff", "labels": ["swift"]},
    {"who": "slack:UOLA", "level": "manager", "labels": ["swift", "finance"]},
    {"who": "slack:UGINA", "level": "manager", "labels": ["swift"], "guest": True},
]


def settings(**values: object) -> AccessSettings:
    return AccessSettings.model_validate(values)


async def gate(found: AccessSettings, *grants: Grant) -> Gate:
    roll = MemoryRoll()
    for grant in grants:
        await roll.save(grant)
    return Gate(roll, frozenset({"slack:UBOSS"}), directory=found.directory())


async def scope(access: Gate, person: Person, place: Place | None = None) -> Scope | None:
    place = place or Place("slack", f"D{person.id}")
    return await access.scope(Incoming(Kind.QUESTION, place, person, "1", "hi"))


async def test_people_of_the_settings_need_no_code() -> None:
    access = await gate(settings(people=PEOPLE))
    found = await scope(access, OLA)
    assert found is not None
    assert found.levels == {"staff", "manager"}
    assert found.labels == {"swift", "finance"}
    assert await access.role(OLA) is Role.MEMBER
    assert await scope(access, TOM) is None


async def test_the_roll_does_not_raise_what_the_settings_say() -> None:
    access = await gate(settings(people=PEOPLE), Grant(MARA.key, "director"))
    found = await scope(access, MARA)
    assert found is not None
    assert found.levels == {"staff"}
    assert access.by_settings(MARA.key)


async def test_a_guest_sees_nothing_and_nobody_sees_more_beside_one() -> None:
    members = ["slack:UOLA", "slack:UGINA"]
    access = await gate(settings(people=PEOPLE, places=[{"where": "slack:C1", "members": members}]))
    assert await access.role(GINA) is Role.STRANGER
    assert await scope(access, GINA) is None
    assert await scope(access, OLA, CHANNEL) is None


async def test_a_channel_may_see_what_each_of_its_members_may_see() -> None:
    members = ["slack:UOLA", "slack:UMARA"]
    access = await gate(settings(people=PEOPLE, places=[{"where": "slack:C1", "members": members}]))
    found = await scope(access, OLA, CHANNEL)
    assert found is not None
    assert found.levels == {"staff"}
    assert found.admits(Access(labels=frozenset({"swift"})))
    assert not found.admits(Access(labels=frozenset({"finance"})))


async def test_a_member_whom_nobody_knows_closes_the_channel() -> None:
    members = ["slack:UOLA", "slack:UTOM"]
    access = await gate(settings(people=PEOPLE, places=[{"where": "slack:C1", "members": members}]))
    assert await scope(access, OLA, CHANNEL) is None


async def test_an_asker_who_is_not_on_the_list_of_members_reads_along_too() -> None:
    access = await gate(
        settings(people=PEOPLE, places=[{"where": "slack:C1", "members": ["slack:UOLA"]}])
    )
    found = await scope(access, MARA, CHANNEL)
    assert found is not None
    assert found.levels == {"staff"}
    assert await scope(access, TOM, CHANNEL) is None


async def test_outsiders_in_a_channel_close_what_the_settings_open() -> None:
    access = await gate(settings(people=PEOPLE, places=[{"where": "slack:C1", "level": "manager"}]))
    assert await scope(access, TOM, CHANNEL) is not None
    assert await scope(access, OLA, Place("slack", "C1", "channel", outsiders=True)) is None


async def test_a_place_with_rights_and_a_known_asker_with_less() -> None:
    access = await gate(settings(people=PEOPLE, places=[{"where": "slack:C1", "level": "manager"}]))
    found = await scope(access, MARA, CHANNEL)
    assert found is not None
    assert found.levels == {"staff"}


async def test_people_of_another_tenant_share_nothing() -> None:
    people = [*PEOPLE, {"who": "slack:UTOM", "level": "director", "tenant": "otterby"}]
    members = ["slack:UOLA", "slack:UTOM"]
    places = [{"where": "slack:C1", "members": members}]
    access = await gate(settings(people=people, places=places, tenant="harrow"))
    assert await scope(access, OLA, CHANNEL) is None
    own, other = await scope(access, OLA), await scope(access, TOM)
    assert own is not None
    assert other is not None
    assert (own.tenant, other.tenant) == ("harrow", "otterby")


async def test_a_grant_of_the_roll_has_labels_and_a_tenant_of_its_own() -> None:
    access = await gate(
        settings(tenant="harrow"),
        Grant(MARA.key, "staff", labels=frozenset({"swift"})),
        Grant(TOM.key, "staff", tenant="otterby"),
    )
    mara, tom = await scope(access, MARA), await scope(access, TOM)
    assert mara is not None
    assert tom is not None
    assert (mara.tenant, tom.tenant) == ("harrow", "otterby")
    assert mara.labels == {"swift"}
    assert not tom.labels


async def test_levels_may_have_other_names() -> None:
    access = await gate(
        settings(
            levels=["Crew", "Lead", "Owner"],
            people=[{"who": "slack:UOLA", "level": "lead"}, {"who": "slack:UMARA"}],
        ),
        Grant(TOM.key, "director"),
    )
    ola, mara = await scope(access, OLA), await scope(access, MARA)
    boss = await scope(access, Person("slack", "UBOSS"))
    assert ola is not None
    assert mara is not None
    assert boss is not None
    assert ola.levels == {"crew", "lead"}
    assert mara.levels == {"crew"}
    assert boss.levels == {"crew", "lead", "owner"}
    assert await scope(access, TOM) is None  # let in before the ladder was changed


@pytest.mark.parametrize(
    "values",
    [
        {"people": [{"who": "slack:UOLA", "level": "boss"}]},
        {"people": [{"who": "@ola"}]},
        {"places": [{"where": "slack:general"}]},
        {"groups": [{"group": "slack:sre"}]},
        {"folders": [{"path": "hr", "audience": "boss"}]},
        {"levels": []},
        {"levels": ["staff", "Staff"]},
        {"persons": []},
    ],
    ids=lambda values: next(iter(values)),
)
def test_what_cannot_be_meant_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        settings(**values)


def test_folder_rules_hold_for_all_below_and_the_last_one_counts() -> None:
    rules = settings(
        folders=[
            {"path": "hr", "audience": "manager"},
            {"path": "hr/pay/*", "audience": "director", "labels": ["finance"]},
            {"path": "*", "source": "partners", "tenant": "otterby"},
        ]
    ).rules()
    plain = Access()
    assert by_folder(rules, "docs", "hr/leave.md", plain).audience == "manager"
    closed = by_folder(rules, "docs", "hr/pay/2026/bands.md", plain)
    assert closed.audience == "director"
    assert closed.labels == {"finance"}
    assert by_folder(rules, "docs", "hr.md", plain) == plain
    assert by_folder(rules, "docs", "chr/leave.md", plain) == plain
    assert by_folder(rules, "partners", "a.md", plain).tenant == "otterby"
