"""Rights from groups that a platform keeps itself."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.memory.conversation import MemoryConversation
from adapters.memory.roll import MemoryRoll
from bot.access import Access, Role
from bot.access_settings import AccessSettings
from bot.chat import Incoming, Kind, Person, Place
from bot.errors import DeliveryFailed
from bot.groups import PlatformGroups
from bot.ports import Conversation, Grouping, Platform, Sink

ANN, TOM = Person("slack", "UANN"), Person("slack", "UTOM")
GROUPS = {"SSRE": ["UANN"], "SLEAD": ["UANN"]}


class Workspace(Platform, Grouping):
    """Knows groups; `down` while it does not answer."""

    def __init__(self) -> None:
        self.groups = {name: list(members) for name, members in GROUPS.items()}
        self.down = False
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        return "slack"

    async def run(self, sink: Sink) -> None:
        """Nothing is received."""

    def conversation(self, event: Incoming) -> Conversation:
        return MemoryConversation()

    async def close(self) -> None:
        """Nothing to close."""

    async def members(self, group: str) -> frozenset[str]:
        self.asked.append(group)
        if self.down:
            raise DeliveryFailed("no answer")
        return frozenset(self.groups.get(group, ()))


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def gate(workspace: Workspace, time: Time, people: Sequence[dict[str, object]] = ()) -> Access:
    settings = AccessSettings.model_validate(
        {
            "people": list(people),
            "groups": [
                {"group": "slack:SSRE", "labels": ["sre"]},
                {"group": "slack:SLEAD", "level": "senior"},
            ],
        }
    )
    directory = settings.directory()
    groups = PlatformGroups(directory.groups, {"slack": workspace}, 60.0, time)
    return Access(MemoryRoll(), frozenset(), directory=directory, groups=groups)


def asked(person: Person) -> Incoming:
    return Incoming(Kind.QUESTION, Place("slack", f"D{person.id}"), person, "1", "hi")


async def test_members_of_a_group_have_its_level_and_labels() -> None:
    access = gate(Workspace(), Time())
    scope = await access.scope(asked(ANN))
    assert scope is not None
    assert "senior" in scope.levels
    assert scope.labels == {"sre"}
    assert await access.scope(asked(TOM)) is None


async def test_labels_alone_let_nobody_in() -> None:
    workspace = Workspace()
    workspace.groups["SLEAD"] = []
    assert await gate(workspace, Time()).role(ANN) is Role.STRANGER


async def test_a_guest_gains_nothing_by_a_group() -> None:
    guest = {"who": "slack:UANN", "level": "staff", "guest": True}
    assert await gate(Workspace(), Time(), [guest]).scope(asked(ANN)) is None
    outsider = Person("slack", "UANN", outsider=True)
    assert await gate(Workspace(), Time()).scope(asked(outsider)) is None


async def test_who_leaves_a_group_loses_its_rights_when_it_is_asked_again() -> None:
    workspace, time = Workspace(), Time()
    access = gate(workspace, time)
    assert await access.scope(asked(ANN)) is not None
    workspace.groups["SLEAD"] = []
    time.now = 61.0
    assert await access.scope(asked(ANN)) is None


async def test_op_11_while_the_platform_does_not_answer_nobody_is_in_its_groups() -> None:
    workspace, time = Workspace(), Time()
    workspace.down = True
    access = gate(workspace, time)
    assert await access.scope(asked(ANN)) is None
    workspace.down, time.now = False, 61.0
    assert await access.scope(asked(ANN)) is not None


async def test_members_are_not_asked_for_at_every_question() -> None:
    workspace = Workspace()
    access = gate(workspace, Time())
    for _ in range(3):
        await access.scope(asked(ANN))
    assert sorted(workspace.asked) == ["SLEAD", "SSRE"]
