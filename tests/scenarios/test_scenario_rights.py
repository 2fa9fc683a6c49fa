"""Nobody is shown what they may not see, whoever asks, wherever, and whatever was said before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.audience import Reader
from graph.model import LEVELS, Access, Status
from tests.scenarios.rights_kit import NOW, TOPICS, Ask, Company, Page, scratch_folder

T = TypeVar("T")


def often(*usual: T, rarely: Sequence[T] = (), times: int = 4) -> st.SearchStrategy[T]:
    """Mostly one of the usual values: a company in which nobody may read anything shows nothing."""
    return st.sampled_from([*usual] * times + [*rarely])


def labels(*names: str) -> list[frozenset[str]]:
    return [frozenset(item.split()) for item in names]


TENANTS = often("harrow", rarely=["otterby"], times=12)
DAY = timedelta(days=1)
STARTS = often(None, rarely=[NOW - DAY, NOW, NOW + DAY], times=6)
ENDS = often(None, rarely=[NOW - DAY, NOW, NOW + DAY], times=6)
NAMES = ("UANN", "UBOB", "UCYD", "UDEE")
CHANNELS = ("C1", "C2")
READERS = st.builds(
    Reader,
    st.sampled_from(LEVELS),
    often(*labels("all", "swift", "parcelo", "swift sre", "swift parcelo"), rarely=labels("")),
    TENANTS,
    guest=often(False, rarely=[True], times=12),
)
RULES = st.builds(
    Access,
    tenant=TENANTS,
    audience=often("staff", rarely=LEVELS[1:]),
    labels=st.sampled_from(labels("all", "all", "swift", "parcelo", "swift parcelo")),
    status=often(Status.PUBLISHED, rarely=[Status.DRAFT, Status.SUPERSEDED], times=10),
    effective_from=STARTS,
    effective_until=ENDS,
)
CODES = ("qzarblo", "wyxfeno", "jupdako", "vohcilm", "kgobrun", "tsifwaq", "mxedpoj")
MEMBERS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)
ASKS = st.builds(
    Ask,
    st.sampled_from(NAMES),
    st.sampled_from(["", *CHANNELS]),
    st.sampled_from(TOPICS[:2]),
    share=often(False, rarely=[True, True]),
    joins=often("", rarely=NAMES, times=6),
)


@st.composite
def companies(draw: st.DrawFn) -> Company:
    rules = draw(st.lists(RULES, min_size=4, max_size=len(CODES)))
    pages = [
        Page(code, draw(st.sampled_from(TOPICS[:2])), rule)
        for code, rule in zip(CODES, rules, strict=False)
    ]
    people = {name: draw(READERS) for name in NAMES}
    return Company(people, {name: draw(MEMBERS) for name in CHANNELS}, pages)


def leaks(company: Company, asks: list[Ask]) -> list[tuple[Ask, str, str]]:
    """Each question with a code that its audience may not see and the text that it stood in."""

    async def run() -> list[tuple[Ask, str, str]]:
        found: list[tuple[Ask, str, str]] = []
        with scratch_folder() as folder:
            await company.opens(folder)
            for ask in asks:
                texts = await company.plays(ask)
                closed = company.closed(ask)
                found += [(ask, code, text) for text in texts for code in closed if code in text]
        return found

    return asyncio.run(run())


# Each try opens a whole company: to shrink a failing one takes longer than to read it.
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    report_multiple_bugs=False,
)
@given(companies(), st.lists(ASKS, min_size=2, max_size=4))
def test_sc_04_nothing_outside_the_audiences_rights_is_seen_anywhere(
    company: Company, asks: list[Ask]
) -> None:
    """SC-06, SC-16: nor in what was found for others, in posted answers, in earlier conversations
    that new members read, in /why, in lists of sources, in direct search, in the log."""
    assert leaks(company, asks) == []


def test_what_everybody_may_see_is_seen() -> None:
    """The property would hold for a bot that shows nothing at all."""
    page = Page(CODES[0], TOPICS[0], Access(tenant="harrow", labels=frozenset({"swift"})))
    closed = Page(CODES[1], TOPICS[0], Access(tenant="harrow", audience="director"))
    staff = Reader("staff", frozenset({"swift"}), "harrow")
    boss = Reader("director", frozenset({"all"}), "harrow")
    company = Company({"UANN": staff, "UBOB": boss}, {"C1": ["UANN", "UBOB"]}, [page, closed])

    async def run() -> tuple[list[str], list[str], list[str]]:
        with scratch_folder() as folder:
            await company.opens(folder)
            together = await company.plays(Ask("UBOB", "C1", TOPICS[0]))
            posted = await company.plays(Ask("UBOB", "C1", TOPICS[0], share=True))
            return together, posted, await company.plays(Ask("UBOB", "", TOPICS[0]))

    together, posted, alone = map("\n".join, asyncio.run(run()))
    assert CODES[0] in together
    assert CODES[0] in posted
    assert CODES[1] not in together + posted
    assert CODES[1] in alone
