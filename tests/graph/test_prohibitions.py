"""A command that the documents forbid is not recommended."""

from __future__ import annotations

import pytest
from answering import passage, verified

FORBIDDEN = [
    "Never run `redis-cli FLUSHALL` on production.",
    "Do not run redis-cli FLUSHALL there.",
    "You must not use the `redis-cli FLUSHALL` command.",
    "Avoid using `redis-cli FLUSHALL`.",
    "`redis-cli FLUSHALL` is strictly forbidden.",
    "Никогда не запускайте `redis-cli FLUSHALL` на проде.",
    "Не выполняйте вручную `redis-cli FLUSHALL`.",
    "`redis-cli FLUSHALL` запрещено запускать на проде.",
    "Нельзя использовать команду `redis-cli FLUSHALL`.",
]


@pytest.mark.parametrize("source", FORBIDDEN)
@pytest.mark.parametrize(
    "draft",
    [
        "Run `redis-cli FLUSHALL` on production [1].",
        "1. Выполните `redis-cli FLUSHALL` [1].",
        "Clear it:\n\n```\nredis-cli FLUSHALL\n```\n[1]",
    ],
)
async def test_a_forbidden_command_is_not_recommended(source: str, draft: str) -> None:
    run = await verified(f"The cache lives in Redis [1].\n\n{draft}", passage(f"{source} Redis."))
    assert "redis-cli FLUSHALL" not in run.answer.text


@pytest.mark.parametrize("source", FORBIDDEN)
async def test_a_warning_about_it_is_told(source: str) -> None:
    run = await verified("Never run `redis-cli FLUSHALL` [1].", passage(source))
    assert run.answer.text == "Never run `redis-cli FLUSHALL` [1]."
    draft = "Never run this [1]:\n\n```\nredis-cli FLUSHALL\n```"
    assert (await verified(draft, passage(source))).answer.text == draft


@pytest.mark.parametrize(
    "source",
    [
        "Never run `redis-cli FLUSHALL` without a backup.",
        "If the cache does not answer, run `redis-cli FLUSHALL`.",
        "Do not forget to run `redis-cli FLUSHALL`.",
        "Do not restart Redis: run `redis-cli FLUSHALL`.",
        "Never run `redis-cli FLUSHALL` on production. On staging `redis-cli FLUSHALL` is fine.",
        "Не забудьте выполнить `redis-cli FLUSHALL`.",
        "Если кэш не отвечает, выполните `redis-cli FLUSHALL`.",
        "Не выполняйте `redis-cli FLUSHALL`, пока нет резервной копии.",
    ],
)
async def test_a_command_that_is_forbidden_elsewhere_or_on_a_condition_stays(source: str) -> None:
    run = await verified("Run `redis-cli FLUSHALL` [1].", passage(source))
    assert run.answer.text == "Run `redis-cli FLUSHALL` [1]."


@pytest.mark.parametrize(
    ("source", "draft"),
    [
        (
            "Do not restart the primary database during a backup.",
            "Restart the primary database during a backup",
        ),
        ("Never delete the volume of the old primary.", "Delete the volume of the old primary"),
        (
            "Не перезапускайте основную базу во время бэкапа.",
            "Перезапустите основную базу во время бэкапа",
        ),
        ("Нельзя удалять том старого мастера.", "Удалите том старого мастера"),
    ],
)
async def test_a_prohibition_does_not_lose_its_not(source: str, draft: str) -> None:
    passages = passage(f"The database is PostgreSQL. {source} Ask Ann.")
    run = await verified(f"The database is PostgreSQL [1].\n\n1. {draft} [1].", passages)
    assert draft not in run.answer.text
    told = source.removesuffix(".") + " [1]."
    assert (await verified(told, passages)).answer.text == told


@pytest.mark.parametrize(
    "source",
    [
        "Do not panic, restart the primary database during a backup.",
        "If it does not answer, restart the primary database during a backup.",
        "Do not restart the primary database during a backup without a replica.",
        "Never restart the primary database during a backup. On staging: restart the primary"
        " database during a backup.",
    ],
)
async def test_what_is_not_plainly_forbidden_may_be_said(source: str) -> None:
    draft = "Restart the primary database during a backup [1]."
    assert (await verified(draft, passage(source))).answer.text == draft
