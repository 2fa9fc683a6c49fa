"""Turns a question into a QuestionView: which words count, and what the index calls them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from graph import compounds, slang, spelling, translit
from graph.environment import asked_environments, spelt_together
from graph.idf import idf
from graph.lexicon import Lexicon
from graph.mentions import is_telling
from graph.model import LANGUAGES, Language
from graph.ports import Matrix, Vector
from graph.profile import Floats, Profile, Statistics, Vocabulary
from graph.terms import term_hashes
from graph.text import WORD, content_words, fold, parts, stem, stop_words, whole_words
from graph.translit import other_alphabet
from graph.view import QuestionView, Word

TRANSLATIONS = 3  # words of the other language that a question word reaches
NEAR = 0.5  # cosine from which a word counts as near
SURELY_NEAR = 0.6  # below: the index has no word like it
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_GLOSSARY_WORD = re.compile(r"[^\W\d_]{3,}")
_UNKNOWN_LATIN, _UNKNOWN_CYRILLIC, _BY_ANOTHER_NAME = 0.9, 0.5, 0.75  # shares of the largest idf
_NOWHERE, _SURPRISING = "=", 0.8  # a token that no text has; a share of its idf
_DEED = re.compile(  # what somebody does is no thing that documents should mention
    r"\b(?:i|we|you|they|how to|should|must|can|could|cannot|not) ([a-z]+)", re.IGNORECASE
)
_CAPITALS = 2  # letters from which an all-capital word is a name
_SHORTEST_NAME = 3  # letters of a name in the other alphabet
_CALENDAR = re.compile(  # dates are written in many ways; a missing month names nothing
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}")
_NUMBERED = re.compile(r"[^\W\d_][\w.:/-]*?\d{2,}")
_NUMBERS = re.compile(r"\d+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")


def script(word: str) -> Language:
    return "ru" if _CYRILLIC.search(word) else "en"


async def look(
    text: str, language: Language, profile: Profile, lexicon: Lexicon, vector: Vector | None
) -> QuestionView:
    """The view of `text`. `vector` is the main embedder's; without it only words are compared.

    Raises EmbedderError only when words must be embedded and `vector` is there; with no vector
    (the embedder is down) words reach nothing but themselves and slang.
    """
    pairs = asked_words(spelt_together(text), profile.statistics)
    near = await _near_words(pairs, profile, lexicon) if vector is not None else {}
    joined = compounds.together(text, profile.statistics)
    words = tuple(
        _word(low, item, near.get(low, {}), profile, joined.get(low, frozenset()))
        for low, item in pairs
    )
    wholes = _wholes(text, pairs, profile.statistics)
    return QuestionView(
        text=text,
        language=language,
        vector=vector,
        words=words,
        wholes=wholes,
        unknown=tuple(
            word
            for word, tokens in telling_words(text, words).items()
            if not any(map(profile.statistics.known, tokens))
        ),
        named=_named(text, language),
        environments=asked_environments(text),
    )


def asked_words(text: str, statistics: Statistics) -> list[tuple[str, str]]:
    """(lower-case word, token) for each content word, cut where the index cuts it.

    People write PgBouncer or pgbouncer, ERR-4471 or ERR4471; what the documents write decides.
    """
    found: dict[str, str] = {}
    for word in WORD.findall(unicodedata.normalize("NFC", text)):
        found.update((low, item) for low, item in _cut(word, statistics) if low not in found)
    return list(found.items())


def _cut(word: str, statistics: Statistics) -> list[tuple[str, str]]:
    pieces = content_words(word)
    low = fold(word)
    if not word.isalnum() or low in stop_words():
        return pieces
    if len(parts(word)) > 1:
        if statistics.known(stem(low)):
            return [(low, stem(low))]
        if slang.alike("=" + low):  # k8s
            return [(low, "=" + low)]
    elif not statistics.known(stem(low)) and not statistics.known("=" + low):
        apart = content_words(" ".join(_LETTERS_OR_DIGITS.findall(low)))
        if len(apart) > 1 and all(statistics.known(token) for _, token in apart):
            return apart
    return pieces


NearWords = dict[Language, tuple[tuple[str, float], ...]]


async def _near_words(
    pairs: list[tuple[str, str]], profile: Profile, lexicon: Lexicon
) -> dict[str, NearWords]:
    """For each word, the nearest stems of each language with their cosines."""
    eligible = [(low, item) for low, item in pairs if _GLOSSARY_WORD.fullmatch(low)]
    if not eligible:
        return {}
    vectors = await _centred(eligible, profile, lexicon)
    found: dict[str, NearWords] = {low: {} for low, _ in eligible}
    for language in LANGUAGES:
        vocabulary = profile.vocabularies[language]
        cosines = vectors @ vocabulary.vectors.T
        for row, (low, item) in enumerate(eligible):
            found[low][language] = _nearest(cosines[row], vocabulary, item)
    return found


async def _centred(pairs: list[tuple[str, str]], profile: Profile, lexicon: Lexicon) -> Matrix:
    """Unit word vectors minus the mean of their language; words of the index need no embedding."""
    rows: list[Floats | None] = []
    missing: list[str] = []
    for low, item in pairs:
        vocabulary = profile.vocabularies[script(low)]
        place = _rows(vocabulary).get(item)
        rows.append(None if place is None else vocabulary.vectors[place])
        if place is None:
            missing.append(low)
    fresh = iter(await lexicon.vectors(missing)) if missing else iter(())
    for place_, (low, _) in enumerate(pairs):
        if rows[place_] is None:
            centred = next(fresh) - profile.vocabularies[script(low)].mean
            rows[place_] = centred / max(float(np.linalg.norm(centred)), 1e-9)
    return np.stack([row for row in rows if row is not None])


def _nearest(cosines: Floats, vocabulary: Vocabulary, own: str) -> tuple[tuple[str, float], ...]:
    count = min(TRANSLATIONS + 1, len(cosines))
    if not count:
        return ()
    top = np.argpartition(-cosines, count - 1)[:count]
    top = top[np.argsort(-cosines[top])]
    near = [(vocabulary.stems[i], float(cosines[i])) for i in top if cosines[i] >= NEAR]
    return tuple(pair for pair in near if pair[0] != own)[:TRANSLATIONS]


@lru_cache(maxsize=8)
def _rows(vocabulary: Vocabulary) -> dict[str, int]:
    return {item: row for row, item in enumerate(vocabulary.stems)}


def _word(low: str, item: str, near: NearWords, profile: Profile, joined: frozenset[str]) -> Word:
    statistics = profile.statistics
    known = statistics.known(item)
    own = script(low)
    whole = statistics.known("=" + low)
    written = known or whole
    halves = joined if written else joined | compounds.apart(low, statistics)
    spelt = [] if written or halves else _respelt(item, own, profile)
    reach: dict[Language, tuple[tuple[str, float], ...]] = {}
    for language in LANGUAGES:
        found = {item: 1.0}
        if whole:
            found["=" + low] = 1.0
        found.update((other, spelling.WORTH) for other in spelt)
        found.update((other, compounds.WORTH) for other in halves - {item})
        found.update((other, slang.WORTH) for other in slang.alike(item))
        if language != own:
            found.update((other, translit.WORTH) for other in _respelt_across(low, profile))
            for other, cosine in near.get(language, ()):
                found.setdefault(other, cosine)
        reach[language] = tuple(found.items())
    weight = _weight(item, own, known, reach, statistics)
    return Word(low, item, weight, known, reach, near.get(own, ()))


def _respelt_across(low: str, profile: Profile) -> list[str]:
    """Stems of the other language that spell the same name in their alphabet."""
    across = other_alphabet(low)
    if len(across) < _SHORTEST_NAME:
        return []
    item = stem(across)
    if profile.statistics.known(item):
        return [item]
    known = profile.statistics.known(stem(low))
    return [] if known else _respelt(item, script(across), profile)


def _respelt(item: str, language: Language, profile: Profile) -> list[str]:
    return spelling.near_spellings(item, _shelves(profile.vocabularies[language]))


@lru_cache(maxsize=8)
def _shelves(vocabulary: Vocabulary) -> spelling.Shelves:
    return spelling.shelved(vocabulary.stems)


def _weight(
    item: str,
    own: Language,
    known: bool,
    reach: dict[Language, tuple[tuple[str, float], ...]],
    statistics: Statistics,
) -> float:
    """The word's weight in coverage: its idf, or what its stand-ins or its absence suggest."""
    if known:
        return float(idf([item], statistics)[0])
    others = list({other for pairs in reach.values() for other, _ in pairs} - {item})
    present = [other for other in others if statistics.known(other)]
    if present:
        return _BY_ANOTHER_NAME * float(idf(present, statistics).max())
    largest = float(idf([item], statistics)[0])
    return largest * (_UNKNOWN_LATIN if own == "en" else _UNKNOWN_CYRILLIC)


def _wholes(text: str, pairs: list[tuple[str, str]], statistics: Statistics) -> tuple[str, ...]:
    """Identifiers kept whole, also those that the asker typed in one lower-case word."""
    candidates = whole_words(text) + ["=" + low for low, _ in pairs]
    known = statistics.frequency(term_hashes(candidates)) > 0
    asked = whole_words(text)
    return tuple(
        dict.fromkeys(
            token for token, hit in zip(candidates, known, strict=True) if hit or token in asked
        )
    )


def telling_words(text: str, words: Iterable[Word]) -> dict[str, frozenset[str]]:
    """The words of a question whose absence from documents means something, each with the tokens
    that any document about it holds: itself, its stand-ins, words that are surely near."""
    asked = frozenset(whole_words(text))
    deeds = frozenset(fold(match[1]) for match in _DEED.finditer(text))
    return {
        word.text: word.stand_ins() | {word.stem, "=" + word.text, *_surely_near(word)}
        for word in words
        if word.text not in deeds and "=" + word.text not in asked and _is_telling_word(word.text)
    }


def _is_telling_word(word: str) -> bool:
    if script(word) != "en" or not re.search(r"[a-z]{2}", word):
        return False
    return bool(is_telling(word)) and not _CALENDAR.fullmatch(word)


def _surely_near(word: Word) -> list[str]:
    return [item for item, cosine in word.neighbours if cosine >= SURELY_NEAR]


def _is_missed(item: str, statistics: Statistics) -> bool:
    """True when the absence of a stem says something: a small index lacks usual words too."""
    weight, rarest = idf([item, _NOWHERE], statistics)
    return bool(weight >= _SURPRISING * rarest)


def _named(text: str, language: Language) -> tuple[str, ...]:
    """What the question names: identifiers, capitalised words, Latin words in a Russian text."""
    names: list[str] = []
    for match in WORD.finditer(text):
        word = match.group()
        starts = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".?!:"
        telling = is_telling(word) and _LETTERS.search(word)
        if telling and not _CALENDAR.fullmatch(word) and _is_name(word, starts, language):
            names.append(word)
    return tuple(dict.fromkeys(names))


def _is_name(word: str, starts_sentence: bool, language: Language) -> bool:
    latin_in_russian = language == "ru" and word.isascii()
    capitals = word.isupper() and len(word) >= _CAPITALS
    capitalised = word[:1].isupper() and not starts_sentence
    identifier = len(parts(word)) > 1 and script(word) == "en"
    return identifier or latin_in_russian or capitals or capitalised


def tokens_of(name: str) -> tuple[str, ...]:
    """The tokens by which a document would mention `name`: whole, its telling pieces, slang.

    Of a numbered name the number tells: a page of ERR-4417 says nothing of ERR-4418.
    """
    low = fold(name)
    pieces = [stem(fold(piece)) for piece in parts(name) if fold(piece) not in stop_words()]
    telling = [item for item in pieces if not item.isdigit()]
    if is_numbered(name):
        telling = [max(reversed(_NUMBERS.findall(name)), key=len)]
    found = ["=" + low, stem(low), *telling]
    found += sorted({other for item in found for other in slang.alike(item)})
    return tuple(dict.fromkeys(found))


def is_numbered(name: str) -> bool:
    """True for ERR-4418, db-77 and WB5031: one of a series, told from the others by its number."""
    return bool(_NUMBERED.fullmatch(name))
