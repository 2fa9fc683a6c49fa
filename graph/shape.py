"""The promised structure: does a reply hold a JSON object of this schema?

Checks what decides whether a node can go on (required keys, types, enumerations), not the whole
of JSON Schema, and converts near misses: "yes" where a boolean is due, 3.0 where an integer is
due, another case where one of an enumeration is due.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.reply import json_values, yes_or_no


def structured(text: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first JSON object of a reply that has the shape of `schema`, or None."""
    for value in json_values(text):
        try:
            fitted = _fitted(value, schema)
        except ValueError:
            continue
        if isinstance(fitted, dict):
            return fitted
    return None


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """`value` in the shape of `schema`. Raises ValueError when it has another one."""
    if "enum" in schema:
        return _one_of(value, schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _any_of(value, [{**schema, "type": each} for each in kind])
    if kind is None:
        return _any_of(value, schema.get("anyOf") or [{"type": "any"}])
    fit = _FITS.get(kind)
    return value if fit is None else fit(value, schema)


def _any_of(value: Any, schemas: list[Mapping[str, Any]]) -> Any:
    for schema in schemas:
        try:
            return _fitted(value, schema)
        except ValueError:
            continue
    raise ValueError("fits none of the alternatives")


def _one_of(value: Any, allowed: list[Any]) -> Any:
    for item in allowed:
        if value == item and isinstance(value, bool) == isinstance(item, bool):
            return item
    if isinstance(value, str):
        folded = value.strip().casefold()
        for item in allowed:
            if isinstance(item, str) and item.casefold() == folded:
                return item
    raise ValueError("not one of the allowed values")


def _object(value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError("not an object")
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        raise ValueError(f"without {missing}")
    known = schema.get("properties", {})
    return {key: _fitted(item, known.get(key, {})) for key, item in value.items()}


def _array(value: Any, schema: Mapping[str, Any]) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("not an array")
    return [_fitted(item, schema.get("items", {})) for item in value]


def _string(value: Any, _schema: Mapping[str, Any]) -> str:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return value


def _number(value: Any, _schema: Mapping[str, Any]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    return value


def _integer(value: Any, schema: Mapping[str, Any]) -> int:
    number = _number(value, schema)
    if number != int(number):
        raise ValueError("not an integer")
    return int(number)


def _boolean(value: Any, _schema: Mapping[str, Any]) -> bool:
    verdict = yes_or_no(value) if isinstance(value, str) else value
    if not isinstance(verdict, bool):
        raise ValueError("not a boolean")
    return verdict


def _null(value: Any, _schema: Mapping[str, Any]) -> None:
    if value is not None:
        raise ValueError("not null")


_FITS = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "null": _null,
}
