"""Old encodings are read right or named, never indexed as mojibake (IN-04, IN-06)."""

import pytest

from bot.ingest.encoding import decode

RUSSIAN = [
    "Перезапуск шлюза: сервис pay-gw",
    "Дежурный: Иванов, внутренний 4512",
    "Основная база: db-orders-02, резерв db-orders-03",
    "ПЕРЕЗАПУСК ШЛЮЗА",
    "# Откат релиза\n\nЕсли ошибок больше 5 %, верните прошлую версию.",
    "Ночью звоните старшему смены — щётка, ёмкость, объём.",
    "пароль лежит в сейфе",
]
WESTERN = [
    "It’s the gateway’s “restart” – now",
    "Größe der Datenbank prüfen",
    "Café résumé: ask Señor Muñoz",
    "price 5 € a month",
    "100° C",
    "à la carte",
]


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866"])
@pytest.mark.parametrize("text", RUSSIAN)
def test_short_russian_text_is_read_right_in_8_bit_encodings(text: str, encoding: str) -> None:
    """IN-06"""
    data = text.encode(encoding, errors="replace")
    assert decode(data).text == data.decode(encoding)


@pytest.mark.parametrize("text", WESTERN)
def test_english_with_smart_quotes_and_accents_is_read_right(text: str) -> None:
    """IN-06"""
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("text", [*RUSSIAN, *WESTERN, "plain ascii servers list\r\n"])
def test_wide_encodings_with_and_without_a_mark(text: str, encoding: str) -> None:
    """IN-04"""
    result = decode(text.encode(encoding))
    assert result.text == text
    assert "\x00" not in result.text


def test_utf_16_big_endian_with_a_mark() -> None:
    """IN-04"""
    data = b"\xfe\xff" + RUSSIAN[2].encode("utf-16-be")
    assert decode(data).text == RUSSIAN[2]


def test_the_encoding_is_reported() -> None:
    """IN-04"""
    assert decode("Основная база".encode("utf-16")).encoding == "utf-16"
    assert decode(RUSSIAN[0].encode("cp1251")).encoding == "windows-1251"
    assert decode(RUSSIAN[0].encode()).encoding == "utf-8"


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(128, 256)),
        "設定ファイル".encode("shift_jis"),
        "网关重启步骤".encode("gb18030"),
        b"\xff\xfe\xff",  # half a character after the mark
    ],
)
def test_what_cannot_be_told_has_no_text(data: bytes) -> None:
    """IN-06"""
    assert decode(data).text is None


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n...", b"PK\x03\x04rest", b"\x7fELF\x02\x01\x01" + bytes(60), bytes(range(32)) * 8],
)
def test_binary_is_told_from_text(data: bytes) -> None:
    result = decode(data)
    assert result.text is None
    assert result.binary


def test_a_log_with_terminal_colours_is_text() -> None:
    assert decode(b"\x1b[31mERROR\x1b[0m pay-gw down\n" * 20).text is not None


def test_html_may_declare_its_encoding() -> None:
    page = '<meta charset="koi8-r"><p>ок</p>'.encode("koi8-r")
    assert decode(page, declared=True).text == '<meta charset="koi8-r"><p>ок</p>'
