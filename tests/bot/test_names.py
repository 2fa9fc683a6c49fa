"""Names of alerts and services, however they are typed."""

from __future__ import annotations

import pytest

from bot.names import Fit, Name, asked_name
from graph.model import Passage, SourceType

SPELLINGS = ["KubePodCrashLooping", "kube-pod-crash-looping", "kube pod crash looping",
             "KUBE_POD_CRASH_LOOPING", "kubePodCrashLooping", "kube.pod/crash-looping"]  # fmt: skip


def passage(
    title: str = "Notes", document: str = "notes.md", heading: str = "", text: str = "Nothing."
) -> Passage:
    headings = (heading,) if heading else ()
    return Passage("1", "docs", SourceType.FOLDER, document, title, headings, text, document)


@pytest.mark.parametrize("asked", SPELLINGS)
@pytest.mark.parametrize("written", SPELLINGS)
def test_case_and_separators_do_not_count(asked: str, written: str) -> None:
    name = Name.of(asked)
    assert name.fits(passage(title=written)) is Fit.TITLE
    assert name.fits(passage(heading=written)) is Fit.HEADING
    assert name.fits(passage(title=f"Alerts: {written} and others")) is Fit.PART
    assert name.fits(passage(text=f"When {written} fires, look at the pod.")) is Fit.TEXT
    assert name.fits(passage(text="When the pod fires, look at kube.")) is None


@pytest.mark.parametrize(
    "passage",
    [
        passage(document="alerts/kube-pod-crash-looping.md"),
        passage(document="alerts/KubePodCrashLooping.ru.md"),
        passage(title="Runbook: KubePodCrashLooping"),
        passage(title="Алерт KubePodCrashLooping"),
    ],
)
def test_a_file_name_and_the_kind_of_document_make_no_difference(passage: Passage) -> None:
    assert Name.of("KubePodCrashLooping runbook").fits(passage) is Fit.TITLE


def test_a_name_typed_as_one_word_is_cut_where_the_documents_cut_it() -> None:
    known = {"kube", "pod", "crash", "loop", "kub"}.__contains__
    name = Name.of("kubepodcrashlooping").cut(known)
    assert name.pieces == ("kube", "pod", "crash", "looping")
    assert Name.of("kubepodxcrashlooping").cut(known).pieces == ("kubepodxcrashlooping",)
    assert Name.of("a" * 5000).cut(lambda _: True).pieces == ("a" * 5000,)


def test_a_plain_word_in_a_text_names_nothing() -> None:
    """A service is mentioned everywhere; what is about it says so in a title."""
    assert Name.of("billing").fits(passage(text="Restart billing first.")) is None
    assert Name.of("billing").fits(passage(title="Restarting billing")) is Fit.PART
    assert Name.of("ERR-4471").fits(passage(text="Code err4471 means a full disk.")) is Fit.TEXT


def test_only_whole_words_are_the_name() -> None:
    assert Name.of("KubePod").fits(passage(title="KubePodCrashLooping")) is Fit.PART
    assert Name.of("redis").fits(passage(title="Redistribution of shards")) is None
    assert Name.of("...").fits(passage(title="...")) is None


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("for `redis`?", "redis"),
        ("  “KubePodDown”. ", "KubePodDown"),
        ("по сервису billing", "сервису billing"),
        ("", ""),
        ("?", ""),
    ],
)
def test_what_stands_around_a_name_is_taken_off(typed: str, name: str) -> None:
    assert asked_name(typed) == name
