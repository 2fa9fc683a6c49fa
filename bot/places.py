"""Places that got a new id or were closed, perhaps while a question from there was at work."""

from __future__ import annotations

from collections import OrderedDict

from bot.chat import Incoming, Kind, Place
from bot.pending import moved


class Moves:
    """Knows the last `size` moves of this process."""

    def __init__(self, size: int = 1000) -> None:
        self._size = size
        self._homes: OrderedDict[tuple[str, str], str] = OrderedDict()

    def add(self, place: Place, new_id: str) -> None:
        if new_id == place.id:
            return
        self._homes.pop((place.platform, new_id), None)  # no rings
        self._homes[place.platform, place.id] = new_id
        while len(self._homes) > self._size:
            self._homes.popitem(last=False)

    def now(self, place: Place) -> Place:
        """The place under the id that it has by now."""
        while (new_id := self._homes.get((place.platform, place.id))) is not None:
            place = moved(place, new_id)
        return place


class Closed:
    """Knows the last `size` places that were closed to the bot: blocked, or it was removed.

    What was asked there before is not answered any more; who asks again has opened the place.
    """

    def __init__(self, size: int = 1000) -> None:
        self._size = size
        self._since: OrderedDict[tuple[str, str], float] = OrderedDict()

    def add(self, place: Place, at: float) -> None:
        """`at` in seconds since the epoch."""
        self._since[place.platform, place.id] = at
        self._since.move_to_end((place.platform, place.id))
        while len(self._since) > self._size:
            self._since.popitem(last=False)

    def hear(self, event: Incoming, at: float) -> None:
        """Takes notice of an event that has just come in."""
        if event.kind is Kind.REMOVED:
            self.add(event.place, at)
        else:
            self._since.pop((event.place.platform, event.place.id), None)

    def holds(self, event: Incoming) -> bool:
        """Whether nobody can be answered any more: it came before the place was closed."""
        since = self._since.get((event.place.platform, event.place.id))
        asked = event.kind in (Kind.QUESTION, Kind.PRESS)
        return asked and since is not None and event.at.timestamp() <= since
