"""The command `belay`."""

from __future__ import annotations

import gc

# Imports and weights are a million objects that stay; looking for garbage among them every 700
# new ones, as Python does, is a tenth of the time to the first answer and of each answer.
OBJECTS = 50_000


def main() -> None:
    gc.set_threshold(OBJECTS)
    from bot.cli.commands import app

    app()
