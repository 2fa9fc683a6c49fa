"""Where an index lies: collections of its own, or a tenant of collections that others use too.

Without a tenant the collections are named `<prefix><shelf>Chunks`, `…Files` and `…Facts`. With one,
collections of these names are shared by all teams of the prefix, each in a tenant (a shard) that no
other team's request can reach; dropping a team is dropping its tenants.

An index that is built anew has chunks and files in another generation, beside those that answer:
in `…Chunks3` and `…Files3`, or in the tenant `<tenant>_3`. Facts of all generations lie together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weaviate import WeaviateAsyncClient
from weaviate.classes.config import ConsistencyLevel
from weaviate.collections.classes.config import CollectionConfig
from weaviate.exceptions import UnexpectedStatusCodeError

from adapters.weaviate.options import Layout, Waits
from adapters.weaviate.schema import PROPERTIES, Collection, config, made, traits
from adapters.weaviate.tenants import activated
from bot.errors import StorageError

FACTS = ("Facts",)
CHANGING = ("Chunks", "Files")
"""Parts that each generation has for itself."""
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Collections:
    """The three parts of one generation of an index."""

    client: WeaviateAsyncClient
    layout: Layout
    shelf: str
    generation: int = 0

    @property
    def chunks(self) -> Collection:
        return self._used("Chunks")

    @property
    def files(self) -> Collection:
        return self._used("Files")

    @property
    def facts(self) -> Collection:
        return self._used("Facts")

    def of(self, generation: int) -> Collections:
        return replace(self, generation=generation)

    async def ensure(self, waits: Waits, *parts: str) -> Sequence[str]:
        """Makes those that are missing, and the tenant, which becomes active. Returns the parts
        that were not there.

        Raises StorageError when it does not, or the collections have the other kind of tenancy.
        """
        missing: list[str] = []
        for part in parts:
            found = await self._config(part)
            if found is None:
                await self._create_or_find(part)
            elif found.multi_tenancy_config.enabled != bool(self.layout.tenant):
                raise self._other_tenancy(part)
            there = found is not None
            if self.layout.tenant:
                there = await activated(self._bare(part), self._tenant(part), waits)
            if not there:
                missing.append(part)
        return missing

    async def strange(self) -> str:
        """The first property that is not as it is made, as `COLLECTION.PROPERTY`; "" when all are.
        One that an earlier schema did not have is not strange."""
        for part, wanted in PROPERTIES.items():
            known = await self._known(part)
            for item in wanted:
                if item.name in known and traits(known[item.name]) != made(item):
                    return f"{self._name(part)}.{item.name}"
        return ""

    async def complete(self) -> None:
        """Adds the properties that an earlier schema did not have."""
        for part, wanted in PROPERTIES.items():
            known = await self._known(part)
            for item in wanted:
                if item.name not in known:
                    await self._bare(part).config.add_property(item)

    async def renew(self, *parts: str) -> None:
        """Empties these, whatever they hold; vectors may have another dimension then."""
        for part in parts:
            await self._delete(part)
            await self._make(part)

    async def make(self) -> None:
        """A generation of which nothing is there yet."""
        for part in CHANGING:
            await self._make(part)

    async def drop(self) -> None:
        """Takes chunks and files away."""
        for part in CHANGING:
            await self._delete(part)

    async def drop_all(self) -> None:
        """The index with all its generations. With a tenant the collections stay, for others."""
        for number in await self.generations():
            await self.of(number).drop()
        await self._delete(*FACTS)

    async def generations(self) -> Sequence[int]:
        """The numbers of those of which anything is there."""
        found: set[int] = set()
        for part in CHANGING:
            first = self.of(0)
            stem = re.escape(self.layout.tenant or first._name(part))
            for name in await first._names(part):
                if number := re.fullmatch(rf"{stem}(?:{_joint(self.layout)}([0-9]+))?", name):
                    found.add(int(number[1] or 0))
        return sorted(found)

    async def _names(self, part: str) -> Sequence[str]:
        """Of tenants, or of all collections of the server."""
        if not self.layout.tenant:
            return list(await self.client.collections.list_all())
        there = await self.client.collections.exists(self._name(part))
        return list(await self._bare(part).tenants.get()) if there else []

    async def _known(self, part: str) -> Mapping[str, Any]:
        found = await self._config(part)
        return {item.name: item for item in found.properties} if found else {}

    async def _config(self, part: str) -> CollectionConfig | None:
        try:
            return await self._bare(part).config.get()
        except UnexpectedStatusCodeError as error:
            if error.status_code != _NOT_FOUND:
                raise
        return None

    def _bare(self, part: str) -> Collection:
        """Without a tenant: for the schema."""
        level = ConsistencyLevel[self.layout.consistency.upper()]
        return self.client.collections.use(self._name(part)).with_consistency_level(level)

    def _used(self, part: str) -> Collection:
        bare = self._bare(part)
        return bare.with_tenant(self._tenant(part)) if self.layout.tenant else bare

    def _name(self, part: str) -> str:
        number = "" if self.layout.tenant else self._number(part)
        return f"{self.layout.prefix}{self.shelf}{part}{number}"

    def _tenant(self, part: str) -> str:
        return f"{self.layout.tenant}{self._number(part)}"

    def _number(self, part: str) -> str:
        """The generation as it stands in a name: the first one has none."""
        if part not in CHANGING or not self.generation:
            return ""
        return f"{_joint(self.layout)}{self.generation}"

    async def _delete(self, part: str) -> None:
        if not self.layout.tenant:
            await self.client.collections.delete(self._name(part))
        elif await self.client.collections.exists(self._name(part)):
            await self._bare(part).tenants.remove([self._tenant(part)])

    async def _make(self, part: str) -> None:
        if self.layout.tenant:
            await self._bare(part).tenants.create([self._tenant(part)])
        else:
            await self._create(part)

    async def _create_or_find(self, part: str) -> None:
        try:
            await self._create(part)
        except UnexpectedStatusCodeError:
            if not await self.client.collections.exists(self._name(part)):
                raise  # else another replica was faster

    async def _create(self, part: str) -> None:
        await self.client.collections.create(self._name(part), **config(part, self.layout))

    def _other_tenancy(self, part: str) -> StorageError:
        there, wanted = "with", "does not ask"
        if self.layout.tenant:
            there, wanted = "without", "asks"
        return StorageError(
            f"Weaviate has {self._name(part)} {there} tenants, and [weaviate] multi_tenancy "
            f"{wanted} for them.",
            "Put multi_tenancy back, or let BELAY_WEAVIATE__PREFIX name other collections and "
            "fill them: with `belay sync`, or by `belay migrate` to SQLite with the old settings "
            "and back with the new ones.",
        )


def _joint(layout: Layout) -> str:
    """Between a name and the number of a generation."""
    return "_" if layout.tenant else ""
