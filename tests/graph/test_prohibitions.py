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
