"""Each step that a question takes through the stores of a bot, in Redis beside a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from benchmarks.table import Figure, median, ratio, timed
from bot.chat import Incoming, Kind, Person, Place
from bot.ports import Taken
from bot.sessions import SessionTurn
from bot.stores import Stores

STEPS = 300  # questions
_WARM = 20  # that are not counted
_LEASE = 60.0  # seconds
_ANN = Person("telegram", "42", "Ann")
_TEXT = "what do I do when the queue of the payment gateway grows " * 4

Times = Mapping[str, list[float]]
STEP_NAMES = ("accept a question", "know a repeated event", "take, renew and finish it",
              "keep what was said, read it again")  # fmt: skip


async def costs(near: Stores, far: Stores) -> list[Figure]:
    """In turns, so that a busy moment falls on both."""
    times: dict[str, Times] = {name: {step: [] for step in STEP_NAMES} for name in ("near", "far")}
    for number in range(STEPS + _WARM):
        for name, stores in (("near", near), ("far", far)):
            for step, taken in zip(STEP_NAMES, await _question(stores, number), strict=True):
                if number >= _WARM:
                    times[name][step].append(taken)
    return [
        ratio(f"{step}, Redis ÷ SQLite",
              median(times["far"][step]), median(times["near"][step]), "ms")
        for step in STEP_NAMES
    ]  # fmt: skip


async def _question(stores: Stores, number: int) -> list[float]:
    """Milliseconds of each step of one question."""
    place = Place("telegram", str(number % 50))
    asked = Incoming(Kind.QUESTION, place, _ANN, str(number), _TEXT)
    steps: list[Callable[[], Awaitable[object]]] = [
        lambda: stores.inbox.put(asked),
        lambda: stores.inbox.put(asked),
        lambda: _worked(stores),
        lambda: _said(stores, place, number),
    ]
    return [await timed(step) for step in steps]


async def _worked(stores: Stores) -> None:
    taken = await stores.inbox.take("bench", _LEASE)
    assert isinstance(taken, Taken)
    await stores.inbox.renew(taken, _LEASE)
    await stores.inbox.done(taken)


async def _said(stores: Stores, place: Place, number: int) -> None:
    talk = place.conversation
    turn = SessionTurn(f"m{number}", "message", talk, talk, _ANN.key, _TEXT, datetime.now(UTC))
    await stores.sessions.add([turn])
    await stores.sessions.recent(talk, 20)
