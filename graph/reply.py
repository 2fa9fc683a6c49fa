"""What a model's reply says: its JSON value, its yes or no, its text without the reasoning.

Pure parsing, lenient towards what models put around a value (fences, prose, Python literals) and
strict about incomplete ones: a reply that was cut off has no value.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_STARTS = 64  # brackets tried in one reply; bounds the work on a hostile one
# No value that was asked for is as deep; how deep a parser goes depends on the version of Python.
_DEEPEST = 200  # brackets in brackets
_BRACKETS = {"{": "}", "[": "]"}
_LOOKS_LIKE_JSON = {
    "{": re.compile(r"\{\s*(?:[\"'}]|\Z)"),
    "[": re.compile(r"\[\s*(?:[\"'\[\]{\-\d]|true|false|null|\Z)"),
}
_MALFORMED = 0
_CUT_OFF = -1
_FENCE = re.compile(r"```[\w-]*\s*(.*?)\s*```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")


def first_json(text: str) -> Any | None:
    """The first complete JSON value of a reply, or None.

    Reasoning blocks are ignored. A list of bare integers is taken for citation marks when
    another value follows. A scalar counts only as the whole reply or a whole fenced block.
    """
    marks = None
    for value in json_values(text):
        if not _is_marks(value):
            return value
        marks = value if marks is None else marks
    return _scalar(without_reasoning(text).strip()) if marks is None else marks


def json_values(text: str) -> Iterator[Any]:
    """Every complete JSON object and array of a reply in order, outermost only."""
    text = without_reasoning(text)
    position = 0
    for _ in range(_STARTS):
        start = min((i for i in (text.find(b, position) for b in _BRACKETS) if i >= 0), default=-1)
        if start < 0:
            return
        end = _closing(text, start)
        if end == _CUT_OFF and _LOOKS_LIKE_JSON[text[start]].match(text, start):
            return  # what stands inside a value that was cut off is not the value that was meant
        value = _loads(text[start:end]) if end > start else None
        if value is not None:
            yield value
        position = start + 1 if value is None else end


def _closing(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`, or _MALFORMED or _CUT_OFF."""
    expected: list[str] = []
    quoted = escaped = False
    for index in range(start, len(text)):
        char = text[index]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in _BRACKETS:
            expected.append(_BRACKETS[char])
            if len(expected) > _DEEPEST:
                return _MALFORMED
        elif char in "}]":
            if expected.pop() != char:
                return _MALFORMED
            if not expected:
                return index + 1
    return _CUT_OFF


def _loads(text: str) -> Any | None:
    for candidate in (text, _TRAILING_COMMA.sub("", text)):
        try:
            return json.loads(candidate, strict=False, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    try:
        literal = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return literal if isinstance(literal, dict | list) else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _is_marks(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _scalar(text: str) -> Any | None:
    fenced = _FENCE.search(text)
    for candidate in (text, fenced.group(1) if fenced else ""):
        try:
            value = json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, str | int | float) else None
    return None


_YES = r"yes|yeah|yep|true|да|верно|правда"
_NO = r"no|nope|not\s+true|false|нет|неверно|не\s+верно|неправда|ложь"
_SAID = re.compile(rf"\b(?:(?P<no>{_NO})|(?P<yes>{_YES}))\b")
_JUDGED = re.compile(
    r"\b(?:(?P<no>(?:not|isn't)\s+(?:\w+\s+)?(?:relevant|related)|irrelevant|unrelated"
    r"|не\s*релевант\w*|не\s+относится|не\s+подходит)"
    r"|(?P<yes>relevant|related|релевант\w*|относится|подходит))\b"
)
_SET_OFF = re.compile(r"\s*(?:[.,;:!?'—–\-(]|\Z)")
_LABEL = re.compile(r"[\w \-]{1,40}[:=]\s*")
_JOINT = re.compile(r"\W*(?:(?:and|or|but|also|и|или|но)\W+)?")
_MARKUP = re.compile(r"[*_`\"#>«»“”]+")
_LETTERS = {"y": True, "n": False, "д": True, "н": False}
_FEW = 3  # words; a longer string in a JSON reply is a reason, not a verdict


def yes_or_no(text: str) -> bool | None:
    """The verdict of a reply, in English or Russian; None when it says neither or both.

    A word at the start that punctuation sets off decides ("No, although ..."), unless the
    opposite word follows at once. Otherwise all yes and no words must agree; without any,
    "relevant" and "not relevant" and their like are read.
    """
    value = first_json(text)
    if isinstance(value, dict):
        return _agreed(_verdicts(value.values()))
    plain = _MARKUP.sub(" ", without_reasoning(text).replace("’", "'"))
    words = " ".join(plain.casefold().split()).strip("' ")
    letter = _LETTERS.get(words.rstrip(".!"))
    return letter if letter is not None else _spoken(words)


def _verdicts(values: Iterable[Any]) -> Iterator[bool | None]:
    for value in values:
        if isinstance(value, bool):
            yield value
        elif isinstance(value, str) and len(value.split()) <= _FEW:
            yield yes_or_no(value)


def _agreed(verdicts: Iterable[bool | None]) -> bool | None:
    said = set(verdicts) - {None}
    return said.pop() if len(said) == 1 else None


def _spoken(words: str) -> bool | None:
    label = _LABEL.match(words)
    for start in (0, label.end() if label else 0):
        leading = _SAID.match(words, start)
        if leading and _SET_OFF.match(words, leading.end()):
            following = _SAID.match(words, _after_joint(words, leading.end()))
            opposite = following and following.lastgroup != leading.lastgroup
            return None if opposite else leading.lastgroup == "yes"
    pattern = _SAID if _SAID.search(words) else _JUDGED
    return _agreed(match.lastgroup == "yes" for match in pattern.finditer(words))


def _after_joint(words: str, position: int) -> int:
    joint = _JOINT.match(words, position)
    return joint.end() if joint else position


_REASONING = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_ASSISTANT = ("<|im_start|>assistant", "<|start_header_id|>assistant<|end_header_id|>")
_OPENING = (
    *(f"<{name}>" for name in _REASONING),
    "[think]",
    "◁think▷",
    "<|begin_of_thought|>",
    "<|channel|>analysis<|message|>",
    "<|channel|>commentary<|message|>",
)
_CLOSING = (
    *(f"</{name}>" for name in _REASONING),
    "[/think]",
    "◁/think▷",
    "<|end_of_thought|>",
    "<|channel|>final<|message|>",
    *_ASSISTANT,
)
_ENDING = (  # marks of a chat template after which a server should have stopped
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<end_of_turn>"),
    *("<|endoftext|>", "<|end_of_text|>", "<|end_of_turn_token|>", "<｜end▁of▁sentence｜>"),
    *("<|im_start|>user", "<|start_header_id|>user"),
)


def _one_of_tags(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, tags)), re.IGNORECASE)


_OPEN, _CLOSE, _END = map(_one_of_tags, (_OPENING, _CLOSING, _ENDING))
_TAGS = (*_OPENING, *_CLOSING, *_ENDING)
_LONGEST_TAG = max(map(len, _TAGS))
_SECONDS = "".join(sorted({re.escape(tag[1]) for tag in _TAGS}))
_TAG_START = re.compile(rf"[<\[◁](?=[{_SECONDS}]|\Z)", re.IGNORECASE)  # `[1]` is none
_FENCE_LINE = re.compile(r"\s*(`{3,}|~{3,})")


def without_reasoning(text: str) -> str:
    """A whole reply without its reasoning blocks."""
    blocks = ThinkFilter()
    blocks.feed(text)
    blocks.close()
    return blocks.text


class ThinkFilter:
    """Takes reasoning out of a reply that arrives in pieces of any size.

    `<think>` blocks and their like go, also unclosed ones, and white space before the first
    word. Tags inside fenced code or a code span are text. A closing tag without an
    opening one (the template wrote the opening one into the prompt) means that all before it was
    reasoning: `text` starts anew there, though a stream cannot take back what it has shown.
    A template's own mark of the end ends the reply: what follows was said in nobody's name.
    """

    def __init__(self) -> None:
        self.text = ""  # the reply so far
        self._held = ""  # may become a tag, or is white space before the first word
        self._thinking = False
        self._ended = False
        self._fence = ""
        self._line = ""

    def feed(self, piece: str) -> str:
        """What can be shown after this piece."""
        self._held += piece
        shown = ""
        while self._held and not self._ended:
            before = len(self._held)
            shown += self._skip() if self._thinking else self._pass()
            if len(self._held) == before:
                break
        return shown

    def close(self) -> str:
        """What was held back, at the end of the reply."""
        held, self._held = self._held, ""
        return "" if self._thinking or self._ended else self._show(held)

    def _skip(self) -> str:
        end = _CLOSE.search(self._held)
        if end:
            self._thinking = False
            self._held = self._held[end.end() :]
        else:
            self._held = self._held[-_LONGEST_TAG + 1 :]
        return ""

    def _pass(self) -> str:
        if not self.text:
            self._held = self._held.lstrip()
        tag_start = _TAG_START.search(self._held)
        if tag_start is None or tag_start.start():
            return self._take(tag_start.start() if tag_start else len(self._held))
        if self._is_code():
            return self._take(1)
        for tag in (_OPEN, _CLOSE, _END):
            if match := tag.match(self._held):
                return self._enter(match)
        begun = self._held.lower() if len(self._held) < _LONGEST_TAG else ""
        if begun and any(tag.startswith(begun) for tag in _TAGS):
            return ""
        return self._take(1)

    def _enter(self, tag: re.Match[str]) -> str:
        self._held = self._held[tag.end() :]
        self._thinking = tag.re is _OPEN
        if tag.re is _END:
            self._ended = bool(self.text.strip())
        elif not self._thinking:
            self.text = self._line = self._fence = ""
        return ""

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return self._show(taken)

    def _show(self, text: str) -> str:
        self.text += text
        *ended, last = (self._line + text).split("\n")
        for line in ended:
            self._toggle(line)
        self._line = last
        return text

    def _toggle(self, line: str) -> None:
        mark = _FENCE_LINE.match(line)
        if mark and not self._fence:
            self._fence = mark.group(1)
        elif mark and line.strip() == mark.group(1) and mark.group(1).startswith(self._fence):
            self._fence = ""

    def _is_code(self) -> bool:
        return bool(self._fence) or self._line.count("`") % 2 == 1
