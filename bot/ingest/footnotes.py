"""Footnotes of Markdown at the place that they speak of.

A note that takes a limit back must not be in another chunk than the limit, nor be a mark that
leads nowhere where a sentence is quoted. Line counts stay.
"""

from __future__ import annotations

import re

from bot.ingest.markdown import code_lines

_DEFINITION = re.compile(r"^[ ]{0,3}\[\^([^\]\s]{1,80})\]:[ \t]*(.*)$")
_MARK = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).*?(?<!`)\2(?!`))"
    r"|(?P<end>[.!?]?)\[\^(?P<name>[^\]\s]{1,80})\]"
)
_SENTENCES = re.compile(r"[.!?]\s+(?=[A-ZА-ЯЁ])")
_LONGEST = 300  # characters; a longer note stays where it is
_MOST = 3  # places that repeat one note


def with_footnotes(markdown: str) -> str:
    """`markdown` with short notes in brackets behind what they explain."""
    if "[^" not in markdown:
        return markdown
    lines = markdown.split("\n")
    code = code_lines(markdown)
    notes = _notes(lines, code)
    uses = [
        match["name"]
        for index, line in enumerate(lines)
        if index not in code and not _DEFINITION.match(line)
        for match in _MARK.finditer(line)
    ]
    told = {name for name in notes if 0 < uses.count(name) <= _MOST}
    gone = {index for name in told for index in range(*notes[name][1])}

    def said(match: re.Match[str]) -> str:
        """Inside the sentence, or it would be quoted without."""
        if match["name"] not in told:
            return match.group()
        return f" ({notes[match['name']][0]}){match['end']}"

    return "\n".join(
        "" if index in gone else line if index in code else _MARK.sub(said, line)
        for index, line in enumerate(lines)
    )


def _notes(lines: list[str], code: frozenset[int]) -> dict[str, tuple[str, tuple[int, int]]]:
    """By name: what a note says, and its lines. Notes of several paragraphs, with marks of their
    own, or with a name that is there twice, are none of these."""
    found: dict[str, tuple[str, tuple[int, int]]] = {}
    twice: set[str] = set()
    for start, line in enumerate(lines):
        match = _DEFINITION.match(line)
        if match is None or start in code:
            continue
        end = start + 1
        while end < len(lines) and _goes_on(lines[end]):
            end += 1
        text = " ".join(" ".join((match[2], *lines[start + 1 : end])).split())
        more = end + 1 < len(lines) and not lines[end].strip() and lines[end + 1].startswith("    ")
        if match[1] in found:
            twice.add(match[1])
        if text and len(text) <= _LONGEST and not more and "[^" not in text:
            found[match[1]] = (_SENTENCES.sub("; ", text).rstrip("."), (start, end))
    return {name: note for name, note in found.items() if name not in twice}


def _goes_on(line: str) -> bool:
    """Whether a line belongs to the note above it: only what is plain text."""
    return bool(line.strip()) and not re.match(
        r"[ ]{0,3}(?:\[\^|[-*+>#|]|\d+[.)]\s|`{3}|~{3})", line
    )
