"""Questions with several parts, taken apart by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.split import distinct, split

LIMIT = 4


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            "what stops when ceph mgr is gone, and what is at stake when mon quorum is lost",
            [["ceph", "mgr"], ["mon", "quorum", "stake"]],
        ),
        (
            "sidekiq is drowning: how do I drop the jobs of a project and how do I stop a queue",
            [["sidekiq", "jobs"], ["sidekiq", "queue"]],
        ),
        (
            "restart command for the gitlab runner manager and for the jenkins agents",
            [["restart", "runner"], ["restart", "jenkins"]],
        ),
        (
            "how do I turn on debug logging in CoreDNS, and in unbound?",
            [["debug", "CoreDNS"], ["debug", "unbound"]],
        ),
        (
            "what are the ports of gitaly, praefect and redis",
            [["ports", "gitaly"], ["ports", "praefect"], ["ports", "redis"]],
        ),
        (
            "How do I restart billing? Who owns it? How long does it take?",
            [["restart", "billing"], ["billing", "owns"], ["billing", "long"]],
        ),
        (
            "What is the difference between a liveness probe and a readiness probe?",
            [["liveness"], ["readiness"]],
        ),
        (
            "Kafka vs RabbitMQ: which do we use for billing?",
            [["Kafka", "billing"], ["RabbitMQ", "billing"]],
        ),
        ("compare the failover of etcd and postgres", [["failover", "etcd"], ["failover", "post"]]),
        (
            "individual vs overall memory alerts: which thresholds do they have",
            [["individual", "memory", "thresholds"], ["overall", "memory", "thresholds"]],
        ),
        (
            "postgres cheat sheet: full disk, xid wraparound, and a lagging replica",
            [["postgres", "disk"], ["postgres", "xid"], ["postgres", "replica"]],
        ),
        (
            "сколько дней живут снапшоты дисков в gcp и сколько в yandex cloud",
            [["снапшоты", "gcp"], ["снапшоты", "yandex"]],
        ),
        (
            "какой mtu ставить для odf и какой для wireguard туннеля",
            [["mtu", "odf"], ["mtu", "wireguard"]],
        ),
        (
            "какие порты по умолчанию у drbd и у glusterfs",
            [["порты", "drbd"], ["порты", "gluster"]],
        ),
        ("чем liveness отличается от readiness", [["liveness"], ["readiness"]]),
        ("что лучше, redis или memcached", [["redis"], ["memcached"]]),
        (
            "как сделать бэкап postgres и сколько он хранится",
            [["бэкап", "postgres"], ["бэкап", "хранится"]],
        ),
        (
            "что нужно от сети для drbd: порты и пропускная способность",
            [["drbd", "порты"], ["drbd", "пропускная"]],
        ),
    ],
)
def test_each_part_can_be_searched_alone(question: str, words: list[list[str]]) -> None:
    parts = split(question, LIMIT)
    assert len(parts) == len(words)
    for part, expected in zip(parts, words, strict=True):
        assert all(word in part for word in expected), part


@pytest.mark.parametrize(
    "question",
    [
        "how do I rotate the TLS certificate of billing",
        "why does the pod restart when it runs out of memory",
        "KubePodCrashLooping",
        "как перезапустить kafka",
        "why?",
        "",
        "???",
    ],
)
def test_one_question_is_not_taken_apart(question: str) -> None:
    assert split(question, LIMIT) == ()


def test_there_are_never_more_parts_than_allowed() -> None:
    question = "? ".join(f"how do I restart service{n}" for n in range(9)) + "?"
    assert len(split(question, LIMIT)) == LIMIT


def test_lm13_identical_parts_are_asked_once() -> None:
    parts = ["How do I restart billing?", "how do i RESTART billing", "Who owns billing?", "?!"]
    assert distinct(parts, "billing: restart and owner", LIMIT) == (parts[0], parts[2])
    assert split("how do I restart billing? how do I restart billing?", LIMIT) == ()


def test_lm13_the_question_itself_is_no_part() -> None:
    assert distinct(["Restart billing?"], "how do I restart billing", LIMIT) == ()


@given(st.text(alphabet="ab и,;:?.and vs или как how \n", max_size=200))
def test_any_text_gives_no_part_or_several(text: str) -> None:
    parts = split(text, LIMIT)
    assert len(parts) != 1
    assert len(parts) <= LIMIT
    assert len(set(parts)) == len(parts)


def test_a_paste_is_not_taken_apart() -> None:
    assert split("how do I restart it, and why did it fail? " * 200, LIMIT) == ()
