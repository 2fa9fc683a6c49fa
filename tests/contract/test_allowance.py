"""What every counter of questions promises: so many at once, so many a minute, and told once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from contract.inbox_events import ANN, BORIS, OPS, event, private
from contract.redis_prefix import redis_of

from adapters.redis.limits import RedisLimiter
from bot.limits import Allowance, Limiter, Rate, Rates, Verdict

ADMITTED, TELL, DROP = Verdict.ADMITTED, Verdict.TELL, Verdict.DROP
Make = Callable[[Rates], Allowance]


@pytest.fixture(params=["process", "redis"])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Make]:
    if request.param == "process":
        yield Limiter
        return
    async with redis_of(request) as server:
        yield lambda rates: RedisLimiter(server, rates)


async def test_a_burst_then_one_for_each_that_is_earned(make: Make) -> None:
    limiter = make(Rates(person=Rate(per_minute=6, burst=2), place=Rate(100, 100)))
    asked = [await limiter.admit(event("1", seconds=at)) for at in (0, 0, 0, 5, 10, 11)]
    assert asked == [ADMITTED, ADMITTED, TELL, DROP, ADMITTED, DROP]


async def test_who_asks_too_much_is_told_again_after_a_while(make: Make) -> None:
    limiter = make(Rates(person=Rate(per_minute=0.1, burst=1), tell_every=60))
    asked = [await limiter.admit(event("1", seconds=at)) for at in (0, 1, 30, 61.5)]
    assert asked == [ADMITTED, TELL, DROP, TELL]


async def test_others_have_allowances_of_their_own(make: Make) -> None:
    limiter = make(Rates(person=Rate(1, 1), place=Rate(1, 2)))
    assert await limiter.admit(event("1")) is ADMITTED
    assert await limiter.admit(event("2")) is TELL
    assert await limiter.admit(event("3", person=BORIS)) is ADMITTED
    carol = replace(ANN, id="44")
    assert await limiter.admit(event("4", person=carol)) is TELL  # the place has had its two
    assert await limiter.admit(event("5", person=carol, place=private("44"))) is ADMITTED


async def test_a_refused_question_costs_nothing(make: Make) -> None:
    limiter = make(Rates(person=Rate(60, 1), place=Rate(0.001, 2)))
    for _ in range(3):
        await limiter.admit(event("1"))
    assert await limiter.admit(event("2", person=BORIS, place=OPS)) is ADMITTED


async def test_op_10_a_late_delivery_earns_nothing_twice(make: Make) -> None:
    """Questions that were asked earlier and come later do not turn the clock back."""
    limiter = make(Rates(person=Rate(per_minute=60, burst=1), place=Rate(100, 100)))
    asked = [await limiter.admit(event("1", seconds=at)) for at in (10, 0, 10)]
    assert asked == [ADMITTED, TELL, DROP]
