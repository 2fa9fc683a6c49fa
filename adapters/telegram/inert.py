"""What Telegram would make clickable by itself, and must not in text that documents wrote.

A mention rings somebody's phone, a command sends itself when it is touched, `runbook.md` opens a
site in Moldova. Such words become code, which Telegram leaves alone and people can copy. Whole
web addresses (`https://…`), mail addresses and telephone numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Wider than Telegram's own patterns on purpose; its list of top-level domains changes.
_SCRIPTS = r"рф|рус|бел|укр|онлайн|сайт|дети|москва|орг|ком|католик|бг|мкд|мон|срб|қаз|ею"
_LIVE = re.compile(
    rf"""
    (?P<web>https?://\w[\w.\-]*(?::\d+)?(?:[/?\#][^\s<>«»"]*)?)
  | (?P<scheme>[a-z][a-z0-9+.\-]{{0,30}}://\S+)
  | (?P<mail>(?<![\w.+\-])[a-z0-9][a-z0-9_.+\-]*@(?:[a-z0-9][a-z0-9\-]*\.)+[a-z]{{2,}}\b)
  | (?P<mention>(?<!\w)@[A-Za-z0-9_]+)
  | (?P<command>(?<![\w/<>])/[A-Za-z0-9_]+(?:@[A-Za-z0-9_]+)?(?![/<>]))
  | (?P<tag>(?<!\w)[\#][\w·\u200c]+(?:@\w+)?)
  | (?P<cash>(?<!\w)\$[0-9A-Z]{{1,8}}\b(?:@\w+)?)
  | (?P<host>(?<![\w.\-/~])(?:[\w.\-~]*/)*(?:[\w\-~\U0001f000-\U0001faff]+\.)+
        (?:xn--[\w\-]+|[a-z]{{2,}}|{_SCRIPTS})\b
        (?::\d+)*(?:[/?\#]\S*)?)
  | (?P<number>(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\w|\.\d)(?::\d+)?(?:[/?\#]\S*)?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LEFT_ALONE = frozenset({"web", "mail"})
_TRAILING = ".,:;!?)]}>»”’'\"…"
_RINGING = re.compile(r"(?<!\w)@(?=[A-Za-z0-9_]{2})|(?<![\w/<>])/(?=[A-Za-z0-9_])")
_WORD_JOINER = "\u2060"


def live_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Start and end (in characters) of each word to keep inert, in order."""
    for match in _LIVE.finditer(text):
        if match.lastgroup not in _LEFT_ALONE:
            word = match.group().rstrip(_TRAILING)
            yield match.start(), match.start() + len(word)


def without_rings(text: str) -> str:
    """For text without entities: mentions and commands are broken by an invisible word joiner."""
    return _RINGING.sub(lambda match: match.group() + _WORD_JOINER, text)
