"""[access] of belay.toml: the ladder of levels, who is who, what may be read where.

[access]
levels = ["staff", "manager", "senior", "director", "administrator"]
tenant = "harrow"
curators = ["slack:U012AB3CD"]

[[access.people]]
who = "slack:U012AB3CD"
level = "manager"
labels = ["swift"]

[[access.places]]
where = "slack:C012AB3CD"
members = ["slack:U012AB3CD", "slack:U045EF6GH"]

[[access.groups]]
group = "slack:S012AB3CD"
labels = ["sre"]

[[access.groups]]
group = "telegram:-1001234567890:admins"
level = "senior"

[[access.folders]]
path = "hr/**"
audience = "manager"
"""

from __future__ import annotations

import re

from pydantic import Field, field_validator, model_validator

from bot.audience import DEFAULT_TENANT, Directory, GroupRule, PlaceRule, Reader
from bot.chat_settings import Section, person_key
from bot.errors import SettingsError
from bot.ingest.folder_rules import FolderRule
from graph.model import LEVELS, Access

_PLACE = {
    "telegram": (re.compile(r"-\d+", re.ASCII), "a negative number, as in telegram:-100123"),
    "slack": (re.compile(r"[CG][A-Z0-9]+", re.ASCII), "a channel id, as in slack:C012AB3CD"),
}
_GROUP = re.compile(r"slack:S[A-Z0-9]+|telegram:-\d+:admins", re.ASCII)
_NAME = re.compile(r"\S(.{0,98}\S)?")


class Rights(Section):
    """`labels` without `tenant`: those of the default tenant."""

    level: str = ""  # the lowest by default
    labels: tuple[str, ...] = ()
    tenant: str = ""


class PersonSettings(Rights):
    """One `[[access.people]]`. A guest is shown no document, whatever else is said."""

    who: str
    guest: bool = False

    @field_validator("who")
    @classmethod
    def a_person(cls, value: str) -> str:
        return person_key(value)


class PlaceSettings(Rights):
    """One `[[access.places]]`: rights of its own, or the members whose rights all count."""

    where: str
    members: tuple[str, ...] = ()

    @field_validator("where")
    @classmethod
    def a_place(cls, value: str) -> str:
        platform, _, name = value.partition(":")
        if platform not in _PLACE:
            raise ValueError(f"{value!r}: {platform!r} is none of {', '.join(_PLACE)}")
        shape, description = _PLACE[platform]
        if not shape.fullmatch(name):
            raise ValueError(f"{value!r}: the id is {description}")
        return value

    @field_validator("members")
    @classmethod
    def people(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(person_key(item) for item in value)

    @property
    def has_rights(self) -> bool:
        return bool(self.level or self.labels or self.tenant or not self.members)


class GroupSettings(Section):
    """One `[[access.groups]]`: a Slack user group, or the administrators of a Telegram chat."""

    group: str
    level: str = ""
    labels: tuple[str, ...] = ()

    @field_validator("group")
    @classmethod
    def a_group(cls, value: str) -> str:
        if not _GROUP.fullmatch(value):
            raise ValueError(
                f"{value!r} is no group, as in slack:S012AB3CD or telegram:-100123:admins"
            )
        return value


class FolderSettings(Section):
    """One `[[access.folders]]`: what holds for documents that do not say it themselves.

    `path` is a pattern over paths inside a source, `*` also matches "/"; a folder's name stands
    for all in it. Of several rules that fit, the last one counts.
    """

    path: str
    source: str = ""  # any
    audience: str = ""
    labels: tuple[str, ...] = ()
    tenant: str = ""

    def rule(self) -> FolderRule:
        labels = frozenset(self.labels)
        return FolderRule(self.path, self.source, self.audience, labels, self.tenant)


class AccessSettings(Section):
    levels: tuple[str, ...] = Field(default=LEVELS, min_length=1)
    tenant: str = DEFAULT_TENANT
    curators: tuple[str, ...] = ()  # may keep notes, and publish and delete what was handed in
    people: tuple[PersonSettings, ...] = ()
    places: tuple[PlaceSettings, ...] = ()
    groups: tuple[GroupSettings, ...] = ()
    folders: tuple[FolderSettings, ...] = ()
    groups_every: float = Field(default=300.0, gt=0)  # seconds that a group's members are kept

    @field_validator("curators")
    @classmethod
    def people_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(person_key(item) for item in value)

    @field_validator("levels")
    @classmethod
    def distinct_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Lower-case, as documents are read; a name that stands twice has no place on a ladder."""
        names = tuple(name.strip().lower() for name in value)
        if len(set(names)) != len(names) or not all(map(_NAME.fullmatch, names)):
            raise ValueError("levels are different names, lowest first")
        return names

    @model_validator(mode="after")
    def on_the_ladder(self) -> AccessSettings:
        named = [item.level for item in (*self.people, *self.places)]
        named += [item.level for item in self.groups]
        named += [item.audience for item in self.folders]
        for level in named:
            self.level_named(level)
        return self

    def level_named(self, level: str) -> str:
        """`level`, the lowest for "". Raises ValueError for one that is not on the ladder."""
        if level and level not in self.levels:
            raise ValueError(f"unknown level {level!r}; use one of {', '.join(self.levels)}")
        return level or self.levels[0]

    def chosen(self, level: str) -> str:
        """A level that was typed; the highest for "". Raises SettingsError."""
        try:
            return self.level_named(level or self.levels[-1])
        except ValueError as error:
            raise SettingsError(str(error), "see [access] levels in belay.toml") from None

    def documents(self, audience: str = "", labels: tuple[str, ...] = ("all",)) -> Access:
        """What holds for documents of a source about which nothing else is said."""
        level = self.level_named(audience)
        return Access(tenant=self.tenant, audience=level, labels=frozenset(labels))

    def rules(self) -> tuple[FolderRule, ...]:
        return tuple(item.rule() for item in self.folders)

    def directory(self) -> Directory:
        return Directory(
            people={item.who: self._reader(item, guest=item.guest) for item in self.people},
            places={
                item.where: PlaceRule(self._reader(item) if item.has_rights else None, item.members)
                for item in self.places
            },
            groups={
                item.group: GroupRule(item.level, frozenset(item.labels)) for item in self.groups
            },
            levels=self.levels,
            tenant=self.tenant,
        )

    def _reader(self, item: Rights, *, guest: bool = False) -> Reader:
        level, tenant = self.level_named(item.level), item.tenant or self.tenant
        return Reader(level, frozenset(item.labels), tenant, guest)
