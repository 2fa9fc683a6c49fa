"""How settings are read and what is said of wrong ones: TOML, the environment's lists, errors."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource

from bot.errors import SettingsError


class Environment(EnvSettingsSource):
    """The environment, where a list may also be written with commas."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            listed = str(field.annotation).startswith("tuple")
            return [item.strip() for item in value.split(",")] if listed else value


def stripped(data: Any) -> Any:
    if isinstance(data, str):
        return data.strip()
    if isinstance(data, dict):
        return {key: stripped(value) for key, value in data.items()}
    return [stripped(value) for value in data] if isinstance(data, list | tuple) else data


def read_toml(path: Path, keys: Collection[str]) -> dict[str, Any]:
    """The file's keys, all of them among `keys`. Raises SettingsError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path}: {error}", remedy="correct the file's TOML") from None
    unknown = sorted(set(data) - set(keys))
    if unknown:
        known = ", ".join(sorted(keys))
        raise SettingsError(f"{path}: unknown key {unknown[0]!r}", remedy=f"known keys: {known}")
    return data


def explained(error: ValidationError, prefix: str) -> str:
    """One line that names each wrong key, in the environment and in the file."""
    lines = []
    for item in error.errors():
        path = [str(part) for part in item["loc"]]
        key = prefix + "__".join(path).upper().removeprefix(prefix)
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = "there is no such setting"
        if not path:  # about several settings, which the message names
            lines.append(message)
            continue
        lines.append(f"{key} ({'.'.join(path).lower().removeprefix('belay_')}): {message}")
    return "; ".join(lines)
