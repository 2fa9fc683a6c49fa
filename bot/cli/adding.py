"""How a team comes to have documents of a type: what the terminal says where there are none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from bot.settings import Settings
from bot.terminal import Terminal
from graph.model import SourceType

_WAYS: Mapping[SourceType, str] = {
    SourceType.FOLDER: "belay sync DIR",
    SourceType.REPO: "[[sources]] with a `url` in belay.toml, then belay sync",
    SourceType.VAULT: '[[sources]] with a `url` and kind = "vault" in belay.toml, then belay sync',
    SourceType.UPLOAD: "belay add FILE",
    SourceType.MANUAL: "belay note TEXT --publish",
}


def tell_ways(settings: Settings, terminal: Terminal, types: Collection[SourceType]) -> None:
    """Whether a source of these types is listed in the settings, or else how to have one. It tells
    nothing of what is in a source."""
    for line in _ways(settings, types):
        terminal.note(line)


def _ways(settings: Settings, types: Collection[SourceType]) -> Iterator[str]:
    sources = [item for item in settings.sources if item.source_type() in types]
    if sources:
        names = ", ".join(item.called() for item in sources)
        yield f"belay.toml lists of this type: {names}. `belay sources` tells whether it was read;"
        yield "what may be read of it is up to the level and the labels of whoever asks."
    for kind in sorted(set(types) - {item.source_type() for item in sources}):
        yield f"to have documents of the type {kind}: {_WAYS[kind]}"
