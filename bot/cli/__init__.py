"""The command `belay`."""

from bot.cli.main import main

__all__ = ["main"]
