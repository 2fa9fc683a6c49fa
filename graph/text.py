"""The one view of words that ingestion and questions share: language, words, stems.

Words are runs of letters and digits joined by . _ - / : and are kept whole and split (case and
joiners). Parts are lower-cased, ё becomes е, stop words go, Snowball stems by script. A word of
several parts is also kept whole as "=word". Every store indexes these tokens, so all rank alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import product

import snowballstemmer

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
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"[\"“«][^\"”»\n]{3,}[\"”»]")
_PLAIN_LATIN = re.compile(r"\b[a-z]{2,}\b")
_ONE_PART = re.compile(r"[A-Z]?[a-z]+|[А-Яа-яЁё]+")
_START = 2  # letters that stemming leaves alone
_WHOLE_LIMIT = 60  # characters; longer "words" are hashes and dumps

_ENGLISH = snowballstemmer.stemmer("english")
_RUSSIAN = snowballstemmer.stemmer("russian")


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
    """NFC, no NUL and no zero-width or direction marks, line breaks as "\\n"."""
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(ch for ch in text if ch not in _INVISIBLE and not "\ud800" <= ch <= "\udfff")


_INVISIBLE = frozenset(
    "\x00\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e"
)


def has_words(text: str) -> bool:
    """False for empty, emoji-only and punctuation-only texts."""
    return WORD.search(text) is not None


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
    pieces = [fold(piece) for piece in parts(word)]
    stops = stop_words()
    tokens = [stem(piece) for piece in pieces if piece not in stops]
    if len(pieces) > 1 and len(word) < _WHOLE_LIMIT:
        tokens.append("=" + fold(word))
    return tuple(tokens)


def tokens(text: str) -> list[str]:
    """Analyzer tokens in reading order: stems, and "=whole" for words of several parts."""
    found: list[str] = []
    for word in WORD.findall(unicodedata.normalize("NFC", text)):
        found.extend(_word_tokens(word))
    return found


def tokens_like(text: str, stems: frozenset[str]) -> frozenset[str]:
    """Those of `stems` that `text` has among its tokens. Few words need to be stemmed for it."""
    starts = _starts(stems)
    found: set[str] = set()
    for word in set(WORD.findall(unicodedata.normalize("NFC", text))):
        if word[:_START] in starts or not _is_one_part(word):
            found.update(_word_tokens(word))
    return stems & found


@lru_cache(maxsize=50_000)
def _is_one_part(word: str) -> bool:
    return _ONE_PART.fullmatch(word) is not None


@lru_cache(maxsize=64)
def _starts(stems: frozenset[str]) -> frozenset[str]:
    """How words of these stems begin: as the stem does, but for dying, lying and tying."""
    starts = {item[:_START] for item in stems}
    starts |= {start[0] + "y" for start in starts if start[1:] == "i"}
    starts |= {"".join(pair) for start in starts for pair in product(*map(_spellings, start))}
    return frozenset(starts)


def _spellings(letter: str) -> str:
    return letter + letter.upper() + ("ёЁ" if letter == "е" else "")


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
