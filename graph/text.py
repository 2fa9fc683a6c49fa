"""The one view of words that ingestion and questions share: language, words, stems.

Words are runs of letters and digits joined by . _ - / : and are kept whole and split (case and
joiners). Parts are lower-cased, ё becomes е, stop words go, Snowball stems by script. A word of
several parts is also kept whole as "=word". Every store indexes these tokens, so all rank alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

from Stemmer import Stemmer

from graph.model import Language

WORD = re.compile(r"[^\W_]+(?:[._\-/:]+[^\W_]+)*")
_PART = re.compile(
    r"[^\W\d_]{0,40}[\u00c0-\u024f][^\W\d_]*"  # Müller, naïve: whole
    r"|[A-Z]{2,}(?=s\b)"  # PVCs
    r"|[A-Z]{2,}(?=[A-Z][a-z]{2})"  # KUBEPod
    r"|[a-z]+\d+"  # sha256
    r"|[A-Z]{2,}(?=[A-Z][a-z])"
    r"|[A-Z]?[a-z]+"
    r"|[A-Z]+(?![a-z])"
    r"|\d+"
    r"|[А-Яа-яЁё]+"
    r"|[^\W\d_A-Za-zА-Яа-яЁё]+"
)
_UNDIVIDED = re.compile(r"[A-Z]?[a-z]+|[А-Яа-яЁё]+")  # a word of one piece, by _PART
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_ODD_LETTER = re.compile("[\u0130\u0131\u017f\u212a\u1c80-\u1c88]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"[\"“«][^\"”»\n]{3,}[\"”»]")
_PLAIN_LATIN = re.compile(r"\b[a-z]{2,}\b")
_START = 2  # letters that stemming leaves alone
_IRREGULAR = ("die", "lie", "tie")  # stems of dying, lying and tying
_WHOLE_LIMIT = 60  # characters; longer "words" are hashes and dumps

_ENGLISH = Stemmer("english", 0)  # 0: without a cache of its own
_RUSSIAN = Stemmer("russian", 0)


def _word_list(name: str) -> frozenset[str]:
    text = files("graph").joinpath("words", name).read_text(encoding="utf-8")
    return frozenset(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    return _word_list("stop_en.txt") | _word_list("stop_ru.txt")


@lru_cache(maxsize=1)
def _english_function_words() -> frozenset[str]:
    return _word_list("stop_en.txt")


def normalise(text: str) -> str:
    """NFC, no NUL and nothing that nobody sees (zero-width and direction marks, soft hyphens,
    tags), line breaks as "\\n".

    Hyphens and blanks by which a text processor forbids or allows a line break are plain ones:
    who copies `kubectl\\u00a0drain` gets no command, who types db-orders-02 means its line.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text.replace("\x00", "")
    return unicodedata.normalize("NFC", _ODD.sub(_plain, text))


def _plain(match: re.Match[str]) -> str:
    """Blanks that indent a line stay: four plain ones would make code of it."""
    return match["indent"] or _BREAKING.get(match.group(), "")


_BREAKING = {"\u2010": "-", "\u2011": "-", "\u00a0": " ", "\u2007": " ", "\u202f": " "}
_UNSEEN = (
    "\x00\u00ad\u034f\u061c\u115f\u1160\u180e\u3164\ufeff\uffa0"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero-width spaces and joiners, direction marks
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e007f"  # tags: ASCII that is never drawn
    "\U000e0100-\U000e01ef"  # variation selectors, which can spell a text as well
)
_ODD = re.compile(
    f"(?P<indent>^[\u00a0\u2007\u202f]+)|[{_UNSEEN}{''.join(_BREAKING)}]", re.MULTILINE
)


def has_words(text: str) -> bool:
    """False for empty, emoji-only and punctuation-only texts."""
    return WORD.search(text) is not None


def has_odd_letters(text: str) -> bool:
    """True for letters that a pattern without case takes for others: K of Kelvin, ſ, ı, ᲀ.

    What is looked for in `text.lower()` may then be missed.
    """
    return not text.isascii() and _ODD_LETTER.search(text) is not None


def question_language(text: str) -> Language:
    """The language a person wrote in: code, quotations and identifiers do not count.

    Russian when the person's own words are mostly Cyrillic; a lone Latin term in a Russian
    sentence stays Russian, and a quoted Russian error in an English one stays English.
    """
    own = _QUOTED.sub(" ", _CODE.sub(" ", text))
    if not _CYRILLIC.search(own):
        own = own if _PLAIN_LATIN.search(own) else text
    cyrillic = [word for word in WORD.findall(own) if _CYRILLIC.search(word)]
    if not cyrillic:
        return "en"
    english = _english_function_words()
    latin = [word for word in _PLAIN_LATIN.findall(own) if word in english]
    return "en" if len(latin) > len(cyrillic) else "ru"


def passage_language(text: str) -> Language:
    """Russian when at least a quarter of the letters outside code are Cyrillic."""
    prose = _CODE.sub(" ", text)
    cyrillic = len(_CYRILLIC.findall(prose))
    letters = sum(ch.isalpha() for ch in prose)
    return "ru" if letters and cyrillic * 4 >= letters else "en"


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The Snowball stem of a lower-case word, by its script. Digits and other scripts stay."""
    if _CYRILLIC.search(word):
        return str(_RUSSIAN.stemWord(word))
    return str(_ENGLISH.stemWord(word)) if word.isascii() and not word.isdigit() else word


def fold(word: str) -> str:
    return word.lower().replace("ё", "е")


def parts(word: str) -> list[str]:
    """The pieces of a word by case and joiners, as written: KubePodDown -> Kube Pod Down."""
    return _PART.findall(word)


@lru_cache(maxsize=200_000)
def _word_tokens(word: str) -> tuple[str, ...]:
    return tuple(map(_token, _pieces(word)))


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> tuple[str, ...]:
    """What becomes the tokens of a word: its telling parts, lower-case, and the "=whole"."""
    pieces = [fold(piece) for piece in parts(word)]
    stops = stop_words()
    telling = [piece for piece in pieces if piece not in stops]
    if len(pieces) > 1 and len(word) < _WHOLE_LIMIT:
        telling.append("=" + fold(word))
    return tuple(telling)


def _token(piece: str) -> str:
    return piece if piece.startswith("=") else stem(piece)


def tokens(text: str) -> list[str]:
    """Analyzer tokens in reading order: stems, and "=whole" for words of several parts."""
    found: list[str] = []
    for word in WORD.findall(unicodedata.normalize("NFC", text)):
        found.extend(_word_tokens(word))
    return found


class Stems:
    """A few stems to be looked for in many texts: few words need to be stemmed for it, and each
    word but once."""

    def __init__(self, stems: Iterable[str]) -> None:
        self._stems = frozenset(stems)
        self._starts = tuple(_starts(self._stems))
        self._letters = frozenset(start[:_START] for start in self._starts)
        self._read: set[str] = set()  # words
        self._held: dict[str, set[str]] = {}  # those of them that have a stem, with it

    def within(self, text: str) -> frozenset[str]:
        """Those of the stems that `text` has among its tokens."""
        words = set(WORD.findall(unicodedata.normalize("NFC", text)))
        for word in words - self._read:
            if fold(word[:_START]) not in self._letters and _UNDIVIDED.fullmatch(word):
                continue  # the usual case: no stem begins as this word does
            for piece in _pieces(word):
                likely = piece[:_START] in self._letters and piece.startswith(self._starts)
                if likely and (token := _token(piece)) in self._stems:
                    self._held.setdefault(word, set()).add(token)
        self._read |= words
        return frozenset().union(*(self._held[word] for word in words & self._held.keys()))


def _starts(stems: Iterable[str]) -> Iterator[str]:
    """What words of these stems start with: Snowball cuts a word and changes one letter at most
    (carry: carri, sharing: share), but for dying, lying and tying."""
    for item in stems:
        yield item[: max(_START, len(item) - 1)]
        if item in _IRREGULAR:
            yield item[0] + "y"


def content_words(text: str) -> list[tuple[str, str]]:
    """(lower-case piece, stem) for each piece of `text` that is no stop word, in order, once."""
    stops = stop_words()
    seen: dict[str, str] = {}
    for word in WORD.findall(unicodedata.normalize("NFC", text)):
        for piece in parts(word):
            low = fold(piece)
            if low not in stops:
                seen.setdefault(low, stem(low))
    return list(seen.items())


def content_stems(text: str) -> frozenset[str]:
    """The stems of its content words."""
    return frozenset(stem for _, stem in content_words(text))


def holds_any(text: str, signs: Iterable[str]) -> bool:
    """A quick look before a pattern that cannot match a text without one of its `signs`."""
    return any(map(text.__contains__, signs))


def whole_words(text: str) -> list[str]:
    """The "=word" tokens of `text`, once each."""
    return list(dict.fromkeys(token for token in tokens(text) if token.startswith("=")))


def spaced(text: str) -> str:
    """`text` with identifiers split into words, as the embedder likes it."""

    def split(match: re.Match[str]) -> str:
        word = match.group()
        pieces = parts(word)
        return " ".join(pieces) if len(pieces) > 1 and not word.isdigit() else word

    return WORD.sub(split, text)


def trigrams(stems: Sequence[str]) -> set[tuple[str, str, str]]:
    return set(zip(stems, stems[1:], stems[2:], strict=False))
