"""The analyzer: one view of words for documents and questions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text import (
    content_words,
    has_words,
    normalise,
    passage_language,
    question_language,
    spaced,
    stop_words,
    tokens,
)

ANALYZED = {
    "KubePodCrashLooping": "kube pod crash loop =kubepodcrashlooping",
    "ERR-4417": "err 4417 =err-4417",
    "db-orders-02": "db order 02 =db-orders-02",
    "/etc/pay/gw.conf": "etc pay gw conf =etc/pay/gw.conf",
    "OrderTimeoutException": "order timeout except =ordertimeoutexception",
    "getHTTPResponseCode": "http respons code =gethttpresponsecode",
    "max_wal_senders": "max wal sender =max_wal_senders",
    "v1.2.3": "v1 2 3 =v1.2.3",
    "10.0.0.1": "10 0 0 1 =10.0.0.1",
    "sha256": "sha256",
    "PVCs": "pvc =pvcs",
    "OOMKilled": "oom kill =oomkilled",
    "__init__": "init",
    "--force": "forc",
    "user@example.com": "user exampl com =example.com",
    "app.log:12": "app log 12 =app.log:12",
    "Узел узлы": "узел узл",
    "кафка-брокер-3": "кафк брокер 3 =кафка-брокер-3",
    "Узел2": "узел 2 =узел2",
    "the of и на": "",
    "Müller naïve": "müller naïve",
    "日本語 テスト": "日本語 テスト",
    "Ελληνικά": "ελληνικά",
    "😀 — !": "",
    "": "",
}


@pytest.mark.parametrize(("text", "expected"), ANALYZED.items(), ids=repr)
def test_words_are_split_stemmed_and_kept_whole(text: str, expected: str) -> None:
    assert " ".join(tokens(text)) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ещё один отчёт", "еще один отчет"),
        ("Ёлка", "ЕЛКА"),
        ("restarting restarted restarts", "restart restart restart"),
        ("перезапуском перезапуска", "перезапуск перезапуск"),
        ("PODS", "pods"),
        (unicodedata.normalize("NFD", "чёрный йод naïve"), "чёрный йод naïve"),
    ],
)
def test_spellings_of_one_word_are_one_token(left: str, right: str) -> None:
    assert tokens(left) == tokens(right)


@given(st.text(max_size=60))
def test_a_composed_and_a_decomposed_text_have_the_same_tokens(text: str) -> None:
    """A Mac writes file names and pastes in NFD; nobody sees the difference."""
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)


@given(st.text(max_size=200))
def test_any_text_is_analyzed_without_stop_words_or_upper_case(text: str) -> None:
    found = tokens(text)
    assert all(found)
    assert all(item == item.lower() for item in found if item.isascii())
    assert not {low for low, _ in content_words(text)} & stop_words()


def test_a_long_dump_is_not_kept_whole() -> None:
    dump = "deadBEEF" * 40
    assert not [token for token in tokens(dump) if token.startswith("=")]


def test_an_identifier_is_read_as_words_by_the_embedder() -> None:
    assert spaced("fix KubePodNotReady on db-02 now") == "fix Kube Pod Not Ready on db 02 now"


QUESTIONS = (
    ("How do I restart the gateway?", "en"),
    ("Как перезапустить шлюз?", "ru"),
    ("как задеплоить payments-api на staging", "ru"),
    ("что значит KubePodCrashLooping", "ru"),
    ("KubePodCrashLooping", "en"),
    ("kubectl drain", "en"),
    ("нода NotReady", "ru"),
    ("rollback", "en"),
    ("откат", "ru"),
    ("What does «Ошибка соединения с базой» mean?", "en"),
    ('why does it print "нет доступа к файлу" at the end', "en"),
    ("what does `ошибка чтения` mean", "en"),
    ("`connection refused by upstream` что это", "ru"),
    ("```\nTraceback (most recent call last)\nValueError\n```\nчто делать?", "ru"),
    ("```\nошибка: нет места\n```\nhow do I fix this?", "en"),
    ("ERR-4471 что это", "ru"),
    ("ERR-4471 what is it", "en"),
    ("почему упал CI на main", "ru"),
    ("why did the сервис печати stop", "en"),
    ("ещё раз", "ru"),
    ("«нет места на диске»", "ru"),
    ("12345", "en"),
    ("???", "en"),
    ("", "en"),
    ("ok, а где логи nginx ingress controller", "ru"),
)


@pytest.mark.parametrize(("text", "language"), QUESTIONS, ids=repr)
def test_a_question_is_in_the_language_of_its_own_words(text: str, language: str) -> None:
    assert question_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Restart the gateway.", "en"),
        ("Перезапустите шлюз командой `systemctl restart gateway --now --quiet`.", "ru"),
        ("Шлюз (gateway) падает.", "ru"),
        ("```\nkubectl get pods -A\nkubectl describe node\n```\nСначала смотрим поды.", "ru"),
        ("A page about the `платёж` service and nothing else", "en"),
        ("", "en"),
    ],
)
def test_a_passage_is_russian_from_a_quarter_of_cyrillic_letters(text: str, language: str) -> None:
    assert passage_language(text) == language


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("nul\x00", "nul"),
        ("lone\ud83d", "lone"),
        ("\u202eright to left", "right to left"),
        (unicodedata.normalize("NFD", "ёж"), "ёж"),
        ("db\u2011orders\u201002", "db-orders-02"),
        ("Ki\u00adba\u00adna", "Kibana"),
        ("`kubectl\u00a0drain`", "`kubectl drain`"),
        ("5\u202f%", "5 %"),
        ("\u00a0\u00a0\u00a0\u00a0no code", "\u00a0\u00a0\u00a0\u00a0no code"),
        ("e\u200b\u0301", "\u00e9"),
    ],
)
def test_a_text_is_normalised(raw: str, clean: str) -> None:
    assert normalise(raw) == clean


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("text", ["", "  ", "🔥🔥", "?!", "_", "—"])
def test_a_text_may_have_no_words(text: str) -> None:
    assert not has_words(text)
    assert has_words(text + " под")


def test_what_nobody_sees_is_no_part_of_a_text() -> None:
    """Soft hyphens split words; tags and variation selectors spell texts that only models read."""
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "say it")
    assert normalise(f"Kuber\u00adnetes\u2066{hidden}\u2069 is\u2063 up") == "Kubernetes is up"
