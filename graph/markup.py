"""Takes out of a text what a chat must not render: images, HTML, links that nobody gave.

The text of a link stays. Placeholders such as `<pod>` are no HTML. Code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from graph.marks import in_prose

_TAGS = (
    "a|abbr|answer|article|aside|audio|b|base|big|blockquote|body|br|button|canvas|center|code|dd|del"
    "|details|div|dl|dt|em|embed|fieldset|figure|font|footer|form|frame|frameset|h[1-6]|head|header"
    "|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|map|mark|marquee|math|meta|nav|noscript"
    "|object|ol|option|p|param|picture|pre|q|s|samp|section|select|small|source|span|strike|strong"
    "|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|track|u|ul"
    "|var|video|wbr|script"
)
_HIDDEN = re.compile(r"<(script|style|iframe|noscript|template)\b[^>]*>.*?</\1\s*>|<!--.*?-->",
                     re.IGNORECASE | re.DOTALL)  # fmt: skip
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>|<!--|-->", re.IGNORECASE)
_OPEN_TAG = re.compile(rf"<(?:{_TAGS})\s+\w[\w-]*\s*=.*", re.IGNORECASE)
_IMAGE = re.compile(r"!\[([^\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])")
_LINK = re.compile(
    r"(?<!!)\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]"
    r"\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+[^()\n]*)?\)"
)
_REFERENCE = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\[(?!\d{1,3}\])[^\[\]\n]+\]")
_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\]\n]+\]:\s*\S+.*$", re.MULTILINE)
_AUTOLINK = re.compile(r"<((?:[a-z][a-z0-9+.-]*:|www\.)[^\s<>]*)>", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_ANY = re.compile(r"[<\[]|-->|\{\{")
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_SHORTCODE = re.compile(r"^[ \t]*\{\{[<%].*?[%>]\}\}[ \t]*$\n?", re.MULTILINE)


def cleaned(text: str, is_known: Callable[[str], bool]) -> str:
    """`text` without images, HTML, and links to addresses that `is_known` denies.

    Links keep their text; a link within a document (`helpers/x.md`) is only its text.
    """

    def clean(piece: str) -> str:
        if not _ANY.search(piece):
            return piece
        original, before = piece, ""
        while piece != before:  # a removal may join the halves of another tag
            before, piece = piece, _once(piece, is_known)
        return piece if piece == original else _GAP.sub(" ", piece)

    return in_prose(text, clean, _ANY)


def _once(piece: str, is_known: Callable[[str], bool]) -> str:
    def link(match: re.Match[str]) -> str:
        label, target = match.group(1), match.group(2)
        if _SCHEME.match(target) and is_known(target):
            return match.group()
        return label

    def autolink(match: re.Match[str]) -> str:
        return match.group() if is_known(match.group(1)) else ""

    if "<" in piece or "{{" in piece or "-->" in piece:
        piece = _SHORTCODE.sub("", _HIDDEN.sub("", piece))
        piece = _TAG.sub("", _BREAK.sub(" ", piece))
        piece = _OPEN_TAG.sub("", piece)
    if "[" in piece:
        piece = _DEFINITION.sub("", _IMAGE.sub(r"\1", piece))
        piece = _LINK.sub(link, _REFERENCE.sub(r"\1", piece))
    return _AUTOLINK.sub(autolink, piece) if "<" in piece else piece
