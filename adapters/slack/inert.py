"""Text that documents and models wrote, written so that Slack shows it and acts on nothing in it.

Slack reads its own tokens (`<!channel>`, `<@U…>`, `<https://…|label>`) in the text of a message
and in Markdown. An entity for the angle bracket is shown as one and is not read again; inside code
entities are no entities, so there a hair space breaks the token: white space, because signs of no
width may be dropped on the way. Web addresses become code, which is not linked, unless the program
vouches for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from adapters.markdown.layout import code_span

_HAIR_SPACE = "\u200a"
_UNSEEN = "[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*"
_OPENING = r"(?:<|&lt;?|&\#0*60;?|&\#x0*3c;?)"
_NAMES = ("https", "http", "mailto", "tel", "slack", "ftp", "file")
_SCHEMES = "|".join(_UNSEEN.join(name) for name in _NAMES)
_TOKEN = re.compile(
    rf"""({_OPENING})(?={_UNSEEN}(?:
        !{_UNSEEN}(?!--|doctype|\[cdata)[a-z]
      | @(?-i:{_UNSEEN}[UWB](?:{_UNSEEN}[A-Z0-9]){{2}})
      | \#(?-i:{_UNSEEN}[CGD](?:{_UNSEEN}[A-Z0-9]){{2}})
      | (?:{_SCHEMES}){_UNSEEN}:
    ))""",
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.\-]{1,30}://[^\s<>\"`]+", re.IGNORECASE)
_TRAILING = ".,:;!?)]}'»”*_~"
_REFERENCE = re.compile(r"&(?=#?\w{1,31};)")
_MARKS = re.compile(
    r"""(?P<code>`)
      | (?P<slash>\\(?=[!-/:-@\[-`{-~]|$))
      | (?P<stars>(?<!\s)\*+|\*+(?!\s|$))
      | (?P<lines>(?<![^\W_])_+|_+(?![^\W_]))
      | (?P<waves>~(?=.*~)|(?<=~)~|(?<=[^~]~)~)
      | (?P<label>\](?=[(:\[]))
      | (?P<bracket><)""",
    re.VERBOSE,
)
_STARTER = re.compile(
    r"(?m)^([ \t]*)(?:(?P<mark>[-+](?=[\s\-]|$)|\#{1,6}(?=\s|$)|=(?==*\s*$)|\||:(?=-))"
    r"|(?P<number>\d{1,9})(?P<dot>[.)])(?=\s|$)|(?P<quote>>))"
)


def prose(text: str, trusted: Collection[str] = ()) -> str:
    """Markdown that shows the text as it stands. Only addresses in `trusted` are links."""
    pieces, end = [], 0
    for match in _ADDRESS.finditer(text):
        if match.start() < end:
            continue
        address = _address(match.group(), trusted)
        pieces += [escaped(text[end : match.start()]), address_text(address, trusted)]
        end = match.start() + len(address)
    return "".join([*pieces, escaped(text[end:])])


def address_text(address: str, trusted: Collection[str]) -> str:
    """A bare address: a link to itself, or code."""
    if address in trusted:
        return f"[{escaped(address)}]({target(address)})"
    return code_span(broken(address))


def _address(found: str, trusted: Collection[str]) -> str:
    """What of the found signs is the address: the rest of a sentence may stick to its end."""
    for known in trusted:
        if found.startswith(known) and not found[len(known) :].strip(_TRAILING):
            return known
    end = len(found.rstrip(_TRAILING))
    while found[end : end + 1] == ")" and found.count("(", 0, end) > found.count(")", 0, end):
        end += 1
    return found[:end] or found


def target(address: str) -> str:
    """An address as the target of a link; what could end it there is encoded."""
    return re.sub(r"[\\()<>|`\s]", lambda match: f"%{ord(match.group()):02X}", address)


def escaped(text: str) -> str:
    """Text without a web address in it, as Markdown in the middle of a line."""
    text = _REFERENCE.sub("&amp;", text)
    return _MARKS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if match.lastgroup == "bracket":
        return "&lt;"
    if match.lastgroup == "label":
        return "]\\"
    return "".join(f"\\{sign}" for sign in match.group())


def at_line_starts(markdown: str) -> str:
    """Escapes what would make a heading, list, quote, rule or table of a line of prose."""
    return _STARTER.sub(_start, markdown)


def _start(match: re.Match[str]) -> str:
    if match["quote"]:
        return f"{match[1]}&gt;"
    if match["number"]:
        return f"{match[1]}{match['number']}\\{match['dot']}"
    return f"{match[1]}\\{match['mark']}"


def broken(text: str) -> str:
    """Text for where nothing can be escaped, such as code: Slack's tokens are broken in two."""
    return _TOKEN.sub(rf"\1{_HAIR_SPACE}", text)


def controlled(text: str) -> str:
    """Text for the `text` field of a message, where three signs are written as entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
