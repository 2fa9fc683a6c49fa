"""HTML that cannot be broken by what it shows: text is escaped unless it was built here."""

from __future__ import annotations

from html import escape


class Html(str):
    """Markup that is safe as it stands."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str | float) -> Html:
    """`<name attributes>content</name>`. Plain strings are escaped, Html is taken as it is.

    A trailing underscore of an attribute's name is dropped (`class_`), others become hyphens.
    """
    inner = "".join(html(item) for item in content)
    return Html(f"<{name}{_attributes(attributes)}>{inner}</{name}>")


def html(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(text))


def joined(*content: str) -> Html:
    return Html("".join(html(item) for item in content))


def _attributes(attributes: dict[str, str | float]) -> str:
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for name, value in attributes.items()
    )


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
