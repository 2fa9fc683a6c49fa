"""How settings are read and what is said of wrong ones: TOML, the environment's lists, errors."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from bot.errors import SettingsError


class Environment(EnvSettingsSource):
    """The environment, where a list may also be written with commas.

    Quotes around a whole value are not meant: files of variables have them for a shell, and not
    every reader of such files takes them off. An empty variable empties a text or a list that is
    empty by default; any other setting is then as without the variable.
    """

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        told = {name: unquoted(value or "") for name, value in self.env_vars.items()}
        start = len(self.env_prefix)
        self.env_vars = {
            name: value
            for name, value in told.items()
            if value or _empty_by_default(settings_cls, name[start:].split("__"))
        }

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            listed = str(field.annotation).startswith("tuple")
            items = (item.strip() for item in value.split(","))
            return [item for item in items if item] if listed else value


def unquoted(value: str) -> str:
    """Without white space around it, and without one pair of quotes around the whole of it."""
    value = value.strip()
    inner = value[1:-1]
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return inner.strip() if quoted and value[0] not in inner else value


def with_home(path: Path) -> Path:
    """With the user's folder in place of `~`, which no shell has replaced in a file of settings.

    Raises ValueError when it is not known.
    """
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{str(path)!r}: the home folder of this user is not known") from error


def _empty_by_default(model: type[BaseModel], names: Sequence[str]) -> bool:
    field = model.model_fields.get(names[0])
    if field is None:
        return False
    if len(names) > 1:
        inner = field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        return nested and _empty_by_default(cast(type[BaseModel], inner), names[1:])
    default = field.get_default(call_default_factory=True, validated_data={})
    return default in ("", ()) or default == SecretStr("")


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
