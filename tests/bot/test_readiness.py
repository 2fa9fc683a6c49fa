"""What /readyz says of a process and of what it depends on."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from bot.errors import StorageError
from bot.readiness import Dependency, Health, Pace, Readiness, Seen, Status


class Store:
    """A dependency that can be switched off."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.hangs = False
        self.looks = 0

    async def look(self) -> Seen:
        self.looks += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return Seen()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(*dependencies: Dependency, clock: Clock | None = None, timeout: float = 5.0) -> Readiness:
    readiness = Readiness(pace=Pace(timeout, every=5.0), clock=clock or Clock())
    readiness.depend(dependencies)
    readiness.begin()
    return readiness


async def test_before_anything_is_received_it_is_starting() -> None:
    report = await Readiness().report()
    assert report.status is Status.STARTING
    assert not report.status.serves


async def test_a_process_that_ends_is_draining_whatever_works() -> None:
    readiness = begun(Dependency("index", Store().look, needed=True))
    assert (await readiness.report()).status is Status.READY
    readiness.drain()
    report = await readiness.report()
    assert report.status is Status.DRAINING
    assert not report.status.serves


async def test_op_11_each_dependency_is_shown_and_only_needed_ones_count() -> None:
    index, model = Store(), Store()
    clock = Clock()
    readiness = begun(
        Dependency("index", index.look, needed=True, engine="weaviate"),
        Dependency("model", model.look),
        clock=clock,
    )
    model.error = StorageError("secret-host:1234 refused")
    report = await readiness.report()
    assert report.status is Status.DEGRADED
    assert report.status.serves
    clock.now += 10
    index.error = StorageError("secret-host:1234 refused", "look at /var/lib/secret")
    report = await readiness.report()
    assert report.status is Status.UNREADY
    told = json.loads(report.to_json())
    assert told["status"] == "unready"
    assert told["checks"]["index"] == {
        "state": "down",
        "engine": "weaviate",
        "detail": "does not work",
        "needed": True,
    }
    assert "secret" not in report.to_json()


@pytest.mark.parametrize(
    ("down", "status"),
    [
        ((), Status.READY),
        (("slack",), Status.DEGRADED),
        (("telegram",), Status.DEGRADED),
        (("slack", "telegram"), Status.UNREADY),
    ],
    ids=["both", "telegram alone", "slack alone", "none"],
)
async def test_one_messenger_is_enough(down: tuple[str, ...], status: Status) -> None:
    stores = {"slack": Store(), "telegram": Store()}
    for name in down:
        stores[name].error = StorageError("gone")
    readiness = begun(
        *(Dependency(name, store.look, True, "platforms") for name, store in stores.items())
    )
    assert (await readiness.report()).status is status


async def test_a_note_degrades_and_still_serves() -> None:
    async def empty() -> Seen:
        return Seen(Health.NOTE, "empty")

    report = await begun(Dependency("index", empty, needed=True)).report()
    assert report.status is Status.DEGRADED


async def test_what_hangs_is_down_after_the_time_out() -> None:
    store = Store()
    store.hangs = True
    report = await begun(Dependency("index", store.look, needed=True), timeout=0.01).report()
    assert [seen for _, seen in report.checks] == [Seen(Health.DOWN, "no answer within 0.01 s")]
    assert report.status is Status.UNREADY


async def test_a_mistake_of_ours_is_down_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    store.error = KeyError("somebody's secret")
    report = await begun(Dependency("index", store.look, needed=True)).report()
    assert "somebody" not in report.to_json()
    assert report.status is Status.UNREADY
    assert any("index" in record.getMessage() for record in caplog.records)


async def test_many_probes_are_one_look_in_a_while() -> None:
    store, clock = Store(), Clock()
    readiness = begun(Dependency("index", store.look, needed=True), clock=clock)
    await asyncio.gather(*(readiness.report() for _ in range(50)))
    clock.now += 4.9
    await readiness.report()
    assert store.looks == 1
    clock.now += 0.2
    await readiness.report()
    assert store.looks == 2


async def test_op_08_an_outage_is_one_line_and_its_end_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two minutes, probed every second; readiness is red meanwhile."""
    store, clock = Store(), Clock()
    readiness = begun(Dependency("index", store.look, needed=True), clock=clock)
    store.error = StorageError("no route to 10.0.0.7")
    with caplog.at_level(logging.INFO, "bot"):
        for _ in range(120):
            assert not (await readiness.report()).status.serves
            clock.now += 1.0
        store.error = None
        clock.now += 5.0
        assert (await readiness.report()).status.serves
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["index is down: does not work", "index works again"]
