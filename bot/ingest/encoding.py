"""From bytes to text: byte order marks, UTF-8, UTF-16, and the 8-bit encodings of old documents.

An 8-bit text says nothing about its encoding, and general detectors need more text than a short
runbook has. So each candidate is decoded and judged by how Russian or Western the result reads:
letter frequencies, capitals inside words, scripts mixed in one word. Too close to call means no
text at all: mojibake in an index is worse than a file that the report names.
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark starts with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-16-le", "utf-16-be")
_NARROW = ("cp1251", "koi8-r", "cp866", "cp1252")
_DECLARABLE = frozenset({"utf-8", "cp1251", "koi8-r", "cp866", "cp1252", "iso8859-1", "iso8859-5"})
_NAMES = {"cp1251": "windows-1251", "cp1252": "windows-1252"}
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\x1f\x8b",
    b"MZ\x90", b"SQLite format 3\x00", b"\xd0\xcf\x11\xe0", b"7z\xbc\xaf", b"Rar!", b"BZh",
)  # fmt: skip

_ASCII = 128
SAMPLE = 200_000  # bytes that judge an encoding; the whole file must still decode
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b")
_CONTROLS = bytes(code for code in range(32) if code not in _TEXT_CONTROLS)
_CONTROL_SHARE = 0.01  # more control characters than this: not a text
_WIDE_SHARE = 0.97  # of characters of a UTF-16 reading that must be ordinary
_ACCEPT = -4.1  # mean log-probability of a character: worse readings are no text
_MARGIN, _LEAD = 0.35, 2.5  # needed lead over the next reading: per character, and in sum

# Letter frequencies of Russian, per ten thousand letters.
_RUSSIAN = {
    "о": 1097, "е": 845, "а": 801, "и": 735, "н": 670, "т": 626, "с": 547, "р": 473, "в": 454,
    "л": 440, "к": 349, "м": 321, "д": 298, "п": 281, "у": 262, "я": 201, "ы": 190, "ь": 174,
    "г": 170, "з": 165, "б": 159, "ч": 144, "й": 121, "х": 97, "ж": 94, "ш": 73, "ю": 64,
    "ц": 48, "щ": 36, "э": 32, "ф": 26, "ъ": 4, "ё": 4,
}  # fmt: skip
# Frequent pairs of Russian letters: they tell words from letters that are merely common.
_PAIR_TEXT = (
    "ст но ен то на ов ни ра во ко по пр ро го ре ос ер ал та ор ли ва ла те ол от не ит ан ин ка "
    "ло де ел ся ть ле ет ом ль ри ие да ем сь ат об ки ак ес из ой до за ил ис мо ас ма со же од "
    "ме че ми ти тв бо ны ую ая ые ый их ым ск ди тр сл си се пе рн ру св ве ви вы ны ан ар ам ав "
    "ам ам ед ем ен ез ек ев ей ею им ик ий ия ию ог оз он ою ск см сп ср ту уд уж ук ул ус ут уч "
    "хо ци чи чт ша ще щи ыв эт яв ям ят ба бе бу бы ги гл гр дл др ду жи жн зд зн зо зы ку кр лн "
    "лу лю мы му нн нт нц нс ну ня пи пл пу рв рж рт ры ря св сс су тн тс ты уп ур фи фо ша ше ши "
    "щё ща шл шк ъя ьн ью яз яд яе ял чн чк цы ца фа фл ху ха тк ср рс рг рк оч ош оп ож ок их иц "
    "иш зв зр дн дв вс вн вр вт бл бр аб аг ад аз ап ас аш аю ад ае ая"
)
_PAIRS = frozenset(_PAIR_TEXT.split())
_LOG = {letter: math.log(count / 10_000) for letter, count in _RUSSIAN.items()}
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿßšž")
_SIGNS = frozenset("‘’‚“”„«»–—…•·©®™°№§±€£×÷¼½¾µ¶¡¿\xa0\xad")
_ORDINARY = re.compile("[\t\n\r -~\xa0-ɏЀ-ӿ\u2010-\u2044№€™\ufeff]")
_CYRILLIC = re.compile("[Ѐ-ӿ]")
_CYRILLIC_WORD = re.compile("[Ѐ-ӿ]{2,}")
_WORD = re.compile(r"[^\W\d_]+")
_BAD, _DOUBTFUL, _SIGN, _PAIR, _CAPITAL = -9.0, -6.0, -3.2, 1.0, -0.4
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([\w.:-]{3,20})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`encoding` is the name people use; `text` is None when the bytes are no readable text."""

    text: str | None
    encoding: str = ""
    binary: bool = False


def decode(data: bytes, *, declared: bool = False) -> Decoded:
    """The text of `data`, or why there is none. `declared`: a charset named in the first 2 kB,
    as HTML has it, is believed when the bytes allow it."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strict(data, name) or Decoded(None)
    if data.startswith(_MAGIC):
        return Decoded(None, binary=True)
    if _has_controls(data):
        return _wide(data) or Decoded(None, binary=True)
    return (
        _strict(data, "utf-8")
        or (_as_declared(data) if declared else None)
        or _narrow(data)
        or Decoded(None)
    )


def _strict(data: bytes, name: str) -> Decoded | None:
    try:
        return Decoded(data.decode(name), _NAMES.get(name, name.removesuffix("-sig")))
    except UnicodeDecodeError:
        return None


def _has_controls(data: bytes) -> bool:
    sample = data[:SAMPLE]
    if b"\x00" in sample:
        return True
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > _CONTROL_SHARE * len(sample)


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 without a mark: the byte order whose reading is nearly all ordinary characters."""
    best: tuple[float, Decoded] | None = None
    for name in _WIDE:
        reading = _strict(data, name)
        if reading is None or not reading.text:
            continue
        sample = reading.text[:SAMPLE]
        share = len(_ORDINARY.findall(sample)) / len(sample)
        if share >= _WIDE_SHARE and (best is None or share > best[0]):
            best = (share, reading)
    return best[1] if best else None


def _as_declared(data: bytes) -> Decoded | None:
    match = _DECLARED.search(data[:2048])
    if match is None:
        return None
    try:
        name = codecs.lookup(match.group(1).decode("ascii", "ignore")).name
    except LookupError:
        return None
    return _strict(data, name) if name in _DECLARABLE else None


def _narrow(data: bytes) -> Decoded | None:
    readings: dict[str, tuple[float, Decoded]] = {}
    for name in _NARROW:
        reading = _strict(data, name)
        if reading is None or reading.text is None:
            continue
        sample = reading.text[:SAMPLE]
        if sample not in readings:
            readings[sample] = (_plausibility(sample), reading)
    ranked = sorted(readings.values(), key=lambda item: -item[0])
    if not ranked or ranked[0][0] < _ACCEPT:
        return None
    strange = sum(byte >= _ASCII for byte in data[:SAMPLE])
    lead = ranked[0][0] - ranked[1][0] if len(ranked) > 1 else math.inf
    if lead < max(_MARGIN, _LEAD / strange):
        return None
    return ranked[0][1]


def _plausibility(text: str) -> float:
    """Mean log-probability of the characters outside ASCII, by rough models of both scripts."""
    total, count = 0.0, 0
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    russian = any(_CYRILLIC_WORD.fullmatch(word) for word in words)
    for word in words:
        total += _word_score(word)
        if len(word) == 1 and not russian and _CYRILLIC.match(word):
            total += _DOUBTFUL  # a lone letter is no Russian text
        count += sum(not ch.isascii() for ch in word)
    for ch in _WORD.sub("", text):
        if not ch.isascii():
            total += _SIGN if ch in _SIGNS else _DOUBTFUL if ch.isprintable() else _BAD
            count += 1
    return total / count if count else 0.0


@lru_cache(maxsize=10_000)
def _word_score(word: str) -> float:
    strange = [ch for ch in word if not ch.isascii()]
    cyrillic = len(_CYRILLIC.findall(word))
    if cyrillic and cyrillic < len(word):
        return _BAD * len(strange)
    inner_capital = any(b.isupper() and a.islower() for a, b in pairwise(word))
    penalty = _DOUBTFUL if inner_capital else 0.0
    if cyrillic:
        low = word.lower().replace("ё", "е")
        pairs = sum(_PAIR if a + b in _PAIRS else -_PAIR for a, b in pairwise(low))
        capitals = _CAPITAL * sum(ch.isupper() for ch in word[1:])
        return penalty + pairs + capitals + sum(_LOG.get(ch, _BAD) for ch in low)
    if len(strange) * 2 > len(word) > 1:  # few Western words are mostly accents
        return _BAD * len(strange)
    return penalty + sum(_SIGN if ch.lower() in _WESTERN else _BAD for ch in strange)
