"""What passages support: the other side of graph/literals.py.

A name given by the question may stand where a cited passage has a placeholder (`<pod>`, `$POD`,
`{{ pod }}`, `POD_NAME`), but only as an argument: never as the command, an option or a sub-command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from graph import quantities
from graph.literals import Claim, Literal, fold, may_link, of_text
from graph.marks import MARK
from graph.model import Passage
from graph.prohibitions import may_forbid
from graph.reading import URL_TAIL, Reading, reading

_PLACEHOLDER = re.compile(
    r"<[\w .:-]{1,40}>|\$\{\w+\}|\$[A-Z_]\w*|\{\{\s*[\w.]+\s*\}\}|\{[a-z_]\w*\}"
    r"|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
)
_OPERATOR = re.compile(r"\s*(?:$|[|;&>#]|\\$|//)")
_GOES_ON = re.compile(  # what continues a word of a command; `**` and `~~` end emphasised text
    r"[/=@%+\\{$](?=\S)|\*(?!\*)|~(?!~)|:(?=[^\s*_`\"')\]])|(?<=/)[\w.*~$<{-]|(?<=[^\s*_])\?(?=\w)"
)
_DESTROYS = re.compile(  # what can be run as it stands
    r"^(?:sudo )?(?:terraform (?:destroy|apply)|git (?:clean|reset|push)|redis-cli .*flush\w*"
    r"|(?:kubectl|oc|helm|docker|podman|aws|gcloud|az|systemctl|etcdctl|vault|consul|nomad)\b.* "
    r"(?:prune|delete-\S"
    r"|(?:delete|destroy|drain|uninstall|rm|rmi|purge|stop|remove|terminate\S*) \S).*"
    r"|(?:rm|kill|pkill|killall|dd|mkfs\S*|chmod|chown|truncate) .*\S"
    r"|(?:delete from|drop|truncate|update) \S+.*)$",
    re.IGNORECASE,
)
_BOUND = re.compile(r"\s+(?:-{1,2}[A-Za-z]|where\b|limit\b)", re.IGNORECASE)
_COMMAND_START = re.compile(r"(?:^|[|;&(]|sudo)\s*$")
_WORD_IN_QUESTION = re.compile(r"[\w][\w.:/@-]*\w|\w")
_RUNNABLE = re.compile(r"\.(?:sh|py|exe|ps1|bat|rb|pl|js)$", re.IGNORECASE)
_PERCENTILE = re.compile(r"p(\d{1,2})", re.IGNORECASE)
_SPELLED_PERCENTILE = re.compile(r"percentile|перцентил|процентил")
_AROUND = " .,:;!?…\"'()[]*_>-+"  # what stands around a sentence, and is no part of what it says


@dataclass(frozen=True, eq=False)  # no slots: what is looked up is put together on first use
class Evidence:
    """Passages, prepared for many look-ups."""

    passages: tuple[Reading, ...]
    question_words: frozenset[str]
    today: date | None = None

    @classmethod
    def of(
        cls, passages: Iterable[Passage], question: str = "", today: date | None = None
    ) -> Evidence:
        """What `passages` hold; the day of the answer counts as given, for it is in the prompt."""
        words = frozenset(map(str.lower, _WORD_IN_QUESTION.findall(fold(question))))
        return cls(tuple(map(reading, passages)), words, today)

    @cached_property
    def flat(self) -> str:
        """Everything, folded to one line."""
        lines = [item.flat for item in self.passages] + [item.prose for item in self.passages]
        return " ".join(line for line in lines if line)

    @cached_property
    def lower(self) -> str:
        return self.flat.lower()

    @cached_property
    def may_forbid(self) -> bool:
        """False when no passage forbids anything."""
        return may_forbid(self.flat)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Lines of fences and inline spans, folded."""
        return tuple(dict.fromkeys(line for item in self.passages for line in item.commands))

    @cached_property
    def days(self) -> frozenset[quantities.Day]:
        known = {day for item in self.passages for day in item.days}
        if self.today is not None:
            known.add(quantities.day_of(self.today))
        return frozenset(known)

    @cached_property
    def clocks(self) -> frozenset[quantities.Clock]:
        return frozenset().union(*(item.clocks for item in self.passages))

    def supports(self, literal: Literal) -> bool:
        """True when the passages hold `literal`."""
        return _CHECKS[literal.kind](self, literal.text)

    def quotes(self, piece: str) -> bool:
        """True when a passage says `piece` word for word, marks aside, so that none of its
        literals need be looked up. Not for commands: the beginning of one is another one."""
        said = fold(MARK.sub(" ", piece)).strip(_AROUND)
        if not said or said[0].isdigit() or said[-1].isdigit() or may_link(said):
            return False  # perhaps a part of a longer number, or of another address
        return self._holds_whole(said) and not self._is_bound(said)

    def writes(self, code: str) -> bool:
        """True when a passage has `code` sign by sign."""
        return any(code in item.text for item in self.passages)

    def links_to(self, url: str) -> bool:
        return any(item.links_to(url) for item in self.passages)

    def _holds_number(self, text: str) -> bool:
        claims = list(quantities.amounts(text))
        return any(_has_one_of(claims, item) for item in self.passages)

    def _holds_day(self, text: str) -> bool:
        days = [day for moment in quantities.dates(text) for day in moment.days]
        return quantities.same_day(days, self.days) or self._mentions(text)

    def _holds_clock(self, text: str) -> bool:
        clocks = [clock for moment in quantities.times(text) for clock in moment.clocks]
        return quantities.same_clock(clocks, self.clocks)

    def _holds_url(self, text: str) -> bool:
        return self.links_to(text.rstrip(URL_TAIL))

    def _holds_code(self, text: str) -> bool:
        found = self._holds_whole(text) if " " in text else self._holds_exactly(text)
        widened = found and _DESTROYS.search(text) and self._is_bound(text)
        return (found and not widened) or self._filled(text)

    def _is_bound(self, text: str) -> bool:
        """True when the passages bound `text` by options wherever they have it."""
        places = [(item.flat, end) for item in self.passages for end in _ends(text, item.flat)]
        return bool(places) and all(_BOUND.match(flat, end) for flat, end in places)

    def _holds_comment(self, text: str) -> bool:
        return self._holds_exactly(text) or not unsupported(of_text(text), self)

    def _holds_exactly(self, text: str) -> bool:
        return _found(text, self.flat)

    def _holds_whole(self, text: str) -> bool:
        return any(_found_whole(text, item) for item in self.passages)

    def _mentions(self, text: str) -> bool:
        return _found(text.lower(), self.lower)

    def _names(self, text: str) -> bool:
        percentile = _PERCENTILE.fullmatch(text)
        if percentile and _SPELLED_PERCENTILE.search(self.lower):
            return any(percentile.group(1) in item.amounts for item in self.passages)
        return self._mentions(text) or text.lower() in self.question_words

    def _holds_command(self, text: str) -> bool:
        """A line of a fence is whole: a command that lost its tail is another command."""
        in_commands = False
        for command in self.commands:
            for end in _ends(text, command):
                in_commands = True
                if _OPERATOR.match(command[end:]):
                    return True
        return self._filled(text) or (not in_commands and self._holds_whole(text))

    def _filled(self, text: str) -> bool:
        """`text` is a command of the passages with placeholders filled from the question.

        A bare name fills a placeholder too, unless it looks like something to run.
        """
        known = [command for command in self.commands if _PLACEHOLDER.search(command)]
        if not known:
            return False
        if " " not in text and re.search(r"\w[-_.:/]\w", text) and not _RUNNABLE.search(text):
            return text.lower() in self.question_words
        return any(self._fills(text, command) for command in known)

    def _fills(self, text: str, command: str) -> bool:
        match = _template(command).fullmatch(text)
        return match is not None and all(
            value.lower() in self.question_words or _PLACEHOLDER.fullmatch(value)
            for value in match.groups()
        )


_CHECKS: dict[Claim, Callable[[Evidence, str], bool]] = {
    Claim.COMMAND: Evidence._holds_command,
    Claim.COMMENT: Evidence._holds_comment,
    Claim.CODE: Evidence._holds_code,
    Claim.URL: Evidence._holds_url,
    Claim.EMAIL: Evidence._mentions,
    Claim.ADDRESS: Evidence._mentions,
    Claim.HOST: Evidence._mentions,
    Claim.PATH: Evidence._holds_exactly,
    Claim.OPTION: Evidence._holds_exactly,
    Claim.NAME: Evidence._names,
    Claim.NUMBER: Evidence._holds_number,
    Claim.DATE: Evidence._holds_day,
    Claim.TIME: Evidence._holds_clock,
}


def _has_one_of(claims: Iterable[quantities.Amount], passage: Reading) -> bool:
    """True when a number of `claims` stands in `passage`, with its unit or with none."""
    for claimed in claims:
        for value in claimed.values:
            units = passage.amounts.get(value)
            if units and (not claimed.unit or claimed.unit in units or "" in units):
                return True
    return False


def _template(command: str) -> re.Pattern[str]:
    pieces: list[str] = []
    place = 0
    for match in _PLACEHOLDER.finditer(command):
        pieces.append(re.escape(command[place : match.start()]))
        is_command = _COMMAND_START.search(command[: match.start()])
        word = re.escape(match.group())
        pieces.append(word if is_command else rf"({word}|\w[\w.:/@-]*)")
        place = match.end()
    return re.compile("".join([*pieces, re.escape(command[place:])]))


def _found(text: str, within: str) -> bool:
    return next(_ends(text, within), -1) >= 0


def _found_whole(text: str, passage: Reading) -> bool:
    """Like `_found`, and the last word is whole as a shell reads it: `rm -rf /var/lib` is not in
    `rm -rf /var/lib/app`, nor `docker pull web` in `docker pull web:1.2`."""
    ends = list(_ends(text, passage.flat))
    within = passage.flat if ends else passage.prose  # emphasis is told from a glob in the first
    return any(not _GOES_ON.match(within, end) for end in ends or _ends(text, within))


def _ends(text: str, within: str) -> Iterator[int]:
    """Where `text` ends in `within`, as whole words: `pod` is not in `pods`, `1.34` not in
    `1.34.1`, and a longer address is another page."""
    place = within.find(text)
    while place >= 0:
        end = place + len(text)
        if _starts(text, within, place) and _stops(text, within, end):
            yield end
        place = within.find(text, place + 1)


def _starts(text: str, within: str, place: int) -> bool:
    if not _inside(text[:1]) or place == 0:
        return True
    before = within[place - 1]
    in_number = text[0].isalnum() and before in ".," and within[: place - 1][-1:].isdecimal()
    return not _inside(before) and not in_number


def _stops(text: str, within: str, end: int) -> bool:
    after, further = within[end : end + 1], within[end + 1 : end + 2]
    if "://" in text and after == "/" and _lettered(further):
        return False
    if not _lettered(text[-1:]):
        return True
    return not _inside(after) and not (after in (".", ",") and _lettered(further))


def _inside(character: str) -> bool:
    """True for what words are made of: letters, digits, "_" and "-"."""
    return _lettered(character) or character == "-"


def _lettered(character: str) -> bool:
    return character.isalnum() or character == "_"


def unsupported(found: Iterable[Literal], evidence: Evidence) -> list[Literal]:
    return [literal for literal in found if not evidence.supports(literal)]
