"""Which generation of an index answers, and how a new one takes its place.

An index that is built anew is filled beside the one that answers, in a generation of a higher
number. One object, the pointer, says which number answers; it is replaced by one write, which is
the switch. A generation that the pointer left never comes back, and only such ones are deleted.

Whoever reads works on the generation that it knows, and looks at the pointer afterwards. If it has
not moved, all of the work lay in the time in which that generation answered. If it has, the work
is done again: an error, or an answer with holes, of a generation that is being deleted is never
given away. So what is found is of the old index or of the new one, and it is of the new one for
every process that asks after the switch.

Whoever writes looks at the pointer before. One process writes at a time: see bot/sync_lead.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from weaviate.classes.config import ConsistencyLevel
from weaviate.classes.data import DataObject
from weaviate.exceptions import WeaviateBaseError, WeaviateGRPCUnavailableError

from adapters.weaviate.collections import CHANGING, FACTS, Collections
from adapters.weaviate.facts import Facts, Tools
from adapters.weaviate.files import Files
from adapters.weaviate.options import Waits
from adapters.weaviate.paging import count, insert
from adapters.weaviate.reading import Reading
from adapters.weaviate.rows import object_id, spot
from adapters.weaviate.schema import SCHEMA, Collection
from adapters.weaviate.writing import Writing
from bot.errors import SyncBusy

_KIND = "generation"
_POINTER = object_id(_KIND, "")


@dataclass(frozen=True, slots=True)
class Generation:
    """The collections of one state of an index, and what works on them."""

    collections: Collections
    facts: Facts
    files: Files
    reading: Reading
    writing: Writing

    @classmethod
    def of(cls, parts: Collections) -> Generation:
        facts, files = Facts(parts), Files(parts)
        return cls(parts, facts, files, Reading(parts), Writing(parts, facts, files))

    @property
    def number(self) -> int:
        return self.collections.generation


T = TypeVar("T")
Work = Callable[[Generation], Awaitable[T]]


class Generations:
    """All generations of one index, as this process knows them. `present` was the one that
    answers when it was last looked."""

    def __init__(self, collections: Collections) -> None:
        self.present = Generation.of(collections)

    async def open(self, waits: Waits) -> Tools:
        """What the generation that answers was built with; what is missing of it is made.

        Through REST, then gRPC: they are two doors, and one of them may be shut. Raises
        StorageError, and what the client raises.
        """
        await self.present.collections.ensure(waits, *FACTS)
        try:
            async with asyncio.timeout(waits.query):
                await self._look_well()
        except TimeoutError as error:
            raise WeaviateGRPCUnavailableError from error
        if "Chunks" in await self.present.collections.ensure(waits, *CHANGING):
            await self._unmark()
        return await self.present.facts.tools()

    async def _unmark(self) -> None:
        """Somebody deleted the chunks: no file is said to be stored, so a sync stores all again."""
        parts = self.present.collections
        if await count(parts.files) and not await count(parts.chunks):
            await parts.renew("Files")
            await self.present.facts.forget_profile()

    async def look(self) -> Generation:
        """The generation that answers now. One that was seen is never left for an earlier one: a
        node that was away may still have the pointer of then."""
        return await self._look(self.present.collections.facts)

    async def _look_well(self) -> Generation:
        """As most nodes have it, where they can be asked."""
        facts = self.present.collections.facts
        try:
            return await self._look(facts.with_consistency_level(ConsistencyLevel.QUORUM))
        except WeaviateBaseError:
            return await self._look(facts)

    async def _look(self, facts: Collection) -> Generation:
        pointer = await facts.query.fetch_object_by_id(_POINTER, return_properties=["data"])
        number = int(json.loads(str(pointer.properties["data"]))) if pointer else 0
        if number > self.present.number:
            self.present = Generation.of(self.present.collections.of(number))
        return self.present

    async def read(self, work: Work[T]) -> T:
        """What `work` returns, or raises, of a generation that answered all the while."""
        while True:
            generation = self.present
            try:
                found = await work(generation)
            except Exception:
                if (await self._look_well()).number == generation.number:
                    raise
                continue
            if (await self.look()).number == generation.number:
                return found

    async def write(self, work: Work[T]) -> T:
        """What `work` returns, of the generation that answers."""
        return await work(await self._look_well())

    async def begin(self, old: Generation) -> Generation:
        """A new generation, empty, which answers nobody, to follow `old`."""
        there = await old.collections.generations()
        new = Generation.of(old.collections.of(max([old.number, *there]) + 1))
        tools = await old.facts.tools()
        await old.facts.save_tools(replace(tools, schema=SCHEMA))
        await new.collections.make()
        await new.facts.save_tools(Tools(revision=tools.revision + 1))
        return new

    async def switch(self, old: Generation, new: Generation) -> None:
        """From now on `new` answers. Raises SyncBusy when it is not `old` that does."""
        if (await self._look_well()).number != old.number or await new.collections.strange():
            raise SyncBusy(
                "Another process changed the index while this one built it anew: nothing was "
                "switched.",
                "Let one machine sync at a time, and run `belay sync --rebuild` again.",
            )
        await self._point(new.number)
        self.present = new

    async def sweep(self) -> None:
        """Deletes what answered before, and builds that never did."""
        present = await self.look()
        for number in await present.collections.generations():
            if number < present.number:
                await self.drop(Generation.of(present.collections.of(number)))

    async def drop(self, generation: Generation) -> None:
        await generation.facts.forget_all()
        await generation.collections.drop()

    async def _point(self, number: int) -> None:
        """To be seen by every read: where one copy confirms a read, all confirm this."""
        parts = self.present.collections
        everywhere = parts.layout.consistency == "one"
        level = ConsistencyLevel.ALL if everywhere else ConsistencyLevel.QUORUM
        data = {"kind": _KIND, "spot": spot(_POINTER), "stamp": "", "data": json.dumps(number)}
        pointer = DataObject(properties=data, uuid=_POINTER)
        await insert(parts.facts.with_consistency_level(level), [pointer])


class Aside(Generations):
    """A generation that is being filled, whatever answers meanwhile."""

    async def _look(self, facts: Collection) -> Generation:
        return self.present
