"""How slow work says where it is. The terminal draws bars; everybody else stays silent."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def begin(self, what: str, total: int | None) -> None:
        """A new piece of work; `total` steps when they are known."""

    def advance(self, steps: int = 1) -> None: ...

    def end(self) -> None: ...


class Silent(Progress):
    def begin(self, what: str, total: int | None) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass

    def end(self) -> None:
        pass
