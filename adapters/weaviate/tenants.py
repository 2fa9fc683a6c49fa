"""Weaviate's tenants: one for each team whose index lies in shared collections."""

from __future__ import annotations

import asyncio

from weaviate.classes.tenants import TenantActivityStatus
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateGRPCUnavailableError

from adapters.weaviate.options import Waits
from adapters.weaviate.schema import Collection
from bot.errors import StorageError

_PAUSE = 0.5  # seconds between two looks at a tenant that is being loaded
_SHOWN = 200  # characters of what the server said


async def activated(collection: Collection, name: str, waits: Waits) -> bool:
    """Makes the tenant when it is missing; makes it active when it is inactive or offloaded.
    False when it was missing.

    Raises StorageError when that is refused, or takes more than `waits.start`.
    """
    try:
        async with asyncio.timeout(waits.query):
            found = await activity(collection, name)
    except TimeoutError as error:
        raise WeaviateGRPCUnavailableError from error
    if found is None:
        await collection.tenants.create([name])
    elif found is not TenantActivityStatus.ACTIVE:
        await _activate(collection, name, found, waits.start)
    return found is not None


async def activity(collection: Collection, name: str) -> TenantActivityStatus | None:
    """None when there is no such tenant."""
    found = await collection.tenants.get_by_names([name])
    return found[name].activity_status if name in found else None


async def _activate(
    collection: Collection, name: str, found: TenantActivityStatus, seconds: float
) -> None:
    try:
        async with asyncio.timeout(seconds):
            await collection.tenants.activate([name])
            while True:
                if await activity(collection, name) is TenantActivityStatus.ACTIVE:
                    return
                await asyncio.sleep(_PAUSE)
    except (UnexpectedStatusCodeError, TimeoutError) as error:
        said = " ".join(str(error).split())[:_SHOWN] or f"not within {seconds:.0f} s"
        raise StorageError(
            f"The tenant {name!r} of {collection.name} is {found.value.lower()} and does not "
            f"become active: {said}.",
            "Look at it in Weaviate; one that was offloaded needs the module offload-s3 with the "
            "bucket that it lies in.",
        ) from error
