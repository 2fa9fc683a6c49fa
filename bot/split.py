"""One canonical Markdown text as several that each fit a message of a platform.

Cuts at block borders if it can, then between list items, table rows and lines, then between words,
and inside a word only when nothing else helps. Each part is whole Markdown of its own: fences are
closed and reopened with their language, tables repeat their header, numbering goes on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.table_rows import mend_tables

Fits = Callable[[str], bool]
Cut = tuple[str, str]  # what fits, and the rest; ("", everything) when nothing fits

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_DEEPEST = 16  # levels; an item of a list in a list is at level 4
_TRIES = 40  # places looked at for a cut that leaves all inline marks whole
_REPAIRS = 8  # of them looked at for one that needs its marks closed
_PAIRS = ("**", "*", "__", "_", "~~", "`", "***")
_MARKER = re.compile(r"( {0,3})(?:([-+*])|(\d{1,9})([.)]))( {1,4}|(?=\n)|\Z)")
_TITLE = re.compile(r"(\*\*|__)(?:(?!\1).)+\1:?", re.DOTALL)
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


def split(markdown: str, fits: Fits) -> list[str]:
    """The parts in order; a text that fits comes back alone, a blank one gives no part.

    `fits` says whether a Markdown text, rendered, is within the platform's limit. A prefix of
    something that fits is taken to fit. Should not even one character fit, parts of one
    character come out.
    """
    rest = markdown.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    rest = mend_tables(rest, _PARSER.parse(rest))
    parts: list[str] = []
    while rest.strip():
        if fits(rest):
            return [*parts, rest]
        head, rest = _cut_deep(rest, fits)
        if not head:
            head, rest = _cut_sign(rest, fits)
        parts.append(head)
        rest = rest.strip("\n")
    return parts


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str  # of the first token
    text: str
    gap: str  # line breaks before it

    @property
    def is_title(self) -> bool:
        return self.kind == "heading_open" or bool(_TITLE.fullmatch(self.text.strip()))


def _cut_deep(markdown: str, fits: Fits) -> Cut:
    # Quotes and lists that deep in each other are no text that people write.
    deep = any(token.level > _DEEPEST for token in _PARSER.parse(markdown))
    return (_cut_text if deep else _cut)(markdown, fits)


def _cut(markdown: str, fits: Fits) -> Cut:
    blocks = _blocks(markdown)
    count = _most(len(blocks), lambda n: fits(_joined(blocks[:n])))
    head, following = _joined(blocks[:count]), blocks[count]
    if all(block.is_title for block in blocks[:count]) or not fits(following.text):
        start = head + following.gap if count else ""
        piece, remainder = _cut_block(following, lambda text: fits(start + text))
        if piece and not (count and _tears(following, piece, remainder)):
            return start + piece, _joined([_Block("", remainder, ""), *blocks[count + 1 :]])
    while count > 1 and blocks[count - 1].is_title:
        count -= 1
    return _joined(blocks[:count]), _joined(blocks[count:])


def _tears(block: _Block, piece: str, remainder: str) -> bool:
    """Whether a cut shows inline marks: the border before the block is then the better place."""
    if _cutter(block.kind) is not _cut_text:
        return False
    return _visible(piece) + _visible(remainder) != _visible(block.text)


def _cut_block(block: _Block, fits: Fits) -> Cut:
    return _cutter(block.kind)(block.text, fits)


def _cutter(kind: str) -> Callable[[str, Fits], Cut]:
    cutters: dict[str, Callable[[str, Fits], Cut]] = {
        "fence": _cut_fence,
        "code_block": _cut_indented_code,
        "table_open": _cut_table,
        "bullet_list_open": _cut_list,
        "ordered_list_open": _cut_list,
        "blockquote_open": _cut_quote,
    }
    return cutters.get(kind, _cut_text)


def _blocks(markdown: str) -> list[_Block]:
    lines = markdown.split("\n")
    blocks: list[_Block] = []
    end = 0
    for kind, start, stop in _ranges(markdown, len(lines)):
        text = "\n".join(lines[start:stop])
        if text.strip():
            kept = text.rstrip("\n")
            blocks.append(_Block(kind, kept, "\n" * max(start - end, 1)))
            end = start + kept.count("\n")
    return blocks


def _ranges(markdown: str, length: int) -> Iterator[tuple[str, int, int]]:
    """Kind and lines of each outermost block; what lies between them (definitions) is text."""
    position = 0
    for token in _PARSER.parse(markdown):
        if token.level or token.nesting < 0 or not token.map:
            continue
        start, stop = token.map
        if start > position:
            yield "definition", position, start
        yield token.type, start, stop
        position = stop
    if position < length:
        yield "definition", position, length


def _joined(blocks: Sequence[_Block]) -> str:
    return "".join((block.gap if at else "") + block.text for at, block in enumerate(blocks))


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest n < limit for which `holds`, 0 if none; asks about small n first."""
    low, high = 0, 1
    while high < limit and holds(high):
        low, high = high, high * 2
    high = min(high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _cut_fence(text: str, fits: Fits) -> Cut:
    opening, *body = text.split("\n")
    mark = re.match(r" *(`+|~+)", opening)
    assert mark is not None
    fence = mark.group(1)
    if body and body[-1].strip().strip(fence[0]) == "" and body[-1].strip().startswith(fence):
        body.pop()

    def fenced(lines: Sequence[str]) -> str:
        return "\n".join([opening, *lines, mark.group()])

    count = _most(len(body), lambda n: fits(fenced(body[:n])))
    if count:
        return fenced(body[:count]), fenced(body[count:])
    if not body:
        return "", text
    piece, remainder = _cut_word(body[0], lambda line: fits(fenced([line])))
    return (fenced([piece]), fenced([remainder, *body[1:]])) if piece else ("", text)


def _cut_indented_code(text: str, fits: Fits) -> Cut:
    content = _PARSER.parse(text)[0].content.rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return _cut_fence(f"{fence}\n{content}\n{fence}", fits)


def _cut_table(text: str, fits: Fits) -> Cut:
    lines = text.split("\n")
    head, rows = lines[:2], lines[2:]
    count = _most(len(rows), lambda n: fits("\n".join([*head, *rows[:n]])))
    if count:
        return "\n".join([*head, *rows[:count]]), "\n".join([*head, *rows[count:]])
    return _cut_text(text, fits)


def _cut_quote(text: str, fits: Fits) -> Cut:
    content = "\n".join(re.sub(r"^ {0,3}> ?", "", line) for line in text.split("\n"))
    piece, remainder = _cut_inside(content, lambda inner: fits(_quoted(inner)))
    return (_quoted(piece), _quoted(remainder)) if piece else ("", text)


def _cut_inside(content: str, fits: Fits) -> Cut:
    return _cut(content, fits) if content.strip() else ("", content)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _cut_list(text: str, fits: Fits) -> Cut:
    items = _items(text)
    count = _most(len(items), lambda n: fits("\n".join(items[:n])))
    if count:
        return "\n".join(items[:count]), _renumbered(items, count)
    marker, content = _marker(items[0])
    piece, remainder = _cut_inside(content, lambda inner: fits(_item(marker, inner)))
    if not piece:
        return "", text
    following = [_renumbered(items, 1)] if items[1:] else []
    return _item(marker, piece), "\n\n".join([remainder, *following])


def _items(text: str) -> list[str]:
    lines = text.split("\n")
    starts = [token.map[0] for token in _list_items(text) if token.map]
    ends = [*starts[1:], len(lines)]
    return ["\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]


def _list_items(text: str) -> list[Token]:
    tokens = _PARSER.parse(text)
    return [token for token in tokens if token.type == "list_item_open" and token.level == 1]


def _marker(item: str) -> Cut:
    """The marker of an item ("12. ") and its content without the indentation under the marker."""
    match = _MARKER.match(item)
    if match is None:
        return "", item
    width = len(match.group())
    first, *more = item[width:].split("\n")
    indented = re.compile(rf" {{0,{width}}}")
    return match.group(), "\n".join([first, *(indented.sub("", line, count=1) for line in more)])


def _item(marker: str, content: str) -> str:
    return marker + content.replace("\n", "\n" + " " * len(marker))


def _renumbered(items: Sequence[str], count: int) -> str:
    """The items from the one at `count` on; the first of them carries its own number."""
    first = _MARKER.match(items[0])
    if first is None or first[3] is None:
        return "\n".join(items[count:])
    marker, content = _marker(items[count])
    number = int(first[3]) + count
    spaces = marker[len(marker.rstrip()) :] or " "
    return "\n".join([_item(f"{first[1]}{number}{first[4]}{spaces}", content), *items[count + 1 :]])


def _cut_text(text: str, fits: Fits) -> Cut:
    levels = (_places("\n", text), _places(r"[ \t]+", text), _signs(text))
    found = [_candidates(places, text, fits) for places in levels]
    for candidates in found:
        if cut := _clean(candidates, _visible(text), fits):
            return cut
    return next((candidates[0] for candidates in found if candidates), ("", text))


def _places(pattern: str, text: str) -> list[tuple[int, int]]:
    start = len(text) - len(text.lstrip())
    return [match.span() for match in re.compile(pattern).finditer(text, start)]


def _signs(text: str) -> list[tuple[int, int]]:
    return [(at, at) for at in range(1, len(text)) if not _joins(text, at)]


def _candidates(places: Sequence[tuple[int, int]], text: str, fits: Fits) -> list[Cut]:
    """The longest heads that fit, with their rests, longest first."""
    count = _most(len(places) + 1, lambda n: fits(text[: places[n - 1][0]]))
    return [(text[:a], text[b:]) for a, b in reversed(places[max(count - _TRIES, 0) : count])]


def _clean(candidates: Sequence[Cut], whole: str, fits: Fits) -> Cut | None:
    """A cut that shows no mark: between marks, or with one pair of them closed and reopened."""
    for head, rest in candidates:
        if _visible(head) + _visible(rest) == whole:
            return head, rest
    for head, rest in candidates[:_REPAIRS]:
        for mark in _PAIRS:
            if _visible(head + mark) + _visible(mark + rest) == whole and fits(head + mark):
                return head + mark, mark + rest
    return None


def _visible(markdown: str) -> str:
    """What a reader sees of it, without any white space."""
    return "".join("".join(_contents(_PARSER.parse(markdown))).split())


def _contents(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children:
            yield from _contents(token.children)
        elif token.content:
            yield token.content


def _cut_word(text: str, fits: Fits) -> Cut:
    """Cuts code between two characters as people see them."""
    candidates = _candidates(_signs(text), text, fits)
    return candidates[0] if candidates else ("", text)


def _cut_sign(text: str, fits: Fits) -> Cut:
    """Cuts inside one sign, such as a letter under a heap of accents; takes something always."""
    count = max(_most(len(text) + 1, lambda n: fits(text[:n])), 1)
    return text[:count], text[count:]


def _joins(text: str, at: int) -> bool:
    """Whether the characters before and after `at` make one sign (accents, emoji, flags)."""
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or ord(after) in _SKIN_TONES:
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if ord(after) in _FLAG_LETTERS and ord(before) in _FLAG_LETTERS:
        run = re.search("[\U0001f1e6-\U0001f1ff]*$", text[:at])
        return run is not None and len(run.group()) % 2 == 1
    return before == "\\"
