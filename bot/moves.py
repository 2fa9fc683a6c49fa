"""Places that got a new id, perhaps while a question from there was being answered."""

from __future__ import annotations

from collections import OrderedDict

from bot.chat import Place
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
