"""What was once told is not told again where less may be seen now: others read along, the document
was closed, its time is over. Each check is tried where no other one hides what it lets through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from adapters.memory.conversation import MemoryConversation
from bot.audience import Reader
from bot.buttons import Action
from graph.model import Access, Answer, Outcome
from tests.scenarios.rights_kit import NOW, TOPICS, Ask, Company, Page, scratch_folder

TOPIC = TOPICS[0]
ASKED = f"where is the {TOPIC}?"
SAID = f"what did we say about the {TOPIC}?"
OPEN = Access(tenant="harrow")
BOARD = replace(OPEN, audience="director")
ENDS = NOW + timedelta(days=1)
SWIFT, PARCELO = frozenset({"swift"}), frozenset({"parcelo"})
PEOPLE = {
    "UANN": Reader("director", frozenset({"all"}), "harrow"),
    "UBOB": Reader("staff", frozenset({"all"}), "harrow"),
    "USWI": Reader("staff", SWIFT, "harrow"),
    "UPAR": Reader("staff", PARCELO, "harrow"),
}
ANN, BOB = Ask("UANN", "C1", TOPIC), Ask("UBOB", "C1", TOPIC)


@pytest.fixture
def folder() -> Iterator[Path]:
    with scratch_folder() as found:
        yield found


def company(members: list[str], *pages: Page) -> Company:
    return Company(PEOPLE, {"C1": list(members)}, pages)


def answer_of(heard: MemoryConversation) -> Answer:
    answer = heard.answers[0].answer
    assert answer is not None
    return answer


@pytest.mark.parametrize("asker", ["USWI", "UPAR"])
async def test_sc_04_a_label_in_common_with_one_reader_is_not_enough(
    folder: Path, asker: str
) -> None:
    """SC-04: whoever asks, and whichever of the readers is looked at first."""
    pages = {
        "qzarblo": replace(OPEN, labels=SWIFT),
        "wyxfeno": replace(OPEN, labels=PARCELO),
        "jupdako": replace(OPEN, labels=SWIFT | PARCELO),
        "vohcilm": OPEN,
    }
    team = company(["USWI", "UPAR"], *(Page(code, TOPIC, rule) for code, rule in pages.items()))
    await team.opens(folder)
    together = "\n".join(await team.plays(Ask(asker, "C1", TOPIC)))
    assert [code for code in pages if code in together] == ["jupdako", "vohcilm"]
    alone = "\n".join(await team.plays(Ask("USWI", "", TOPIC)))
    assert [code for code in pages if code in alone] == ["qzarblo", "jupdako", "vohcilm"]


async def test_sc_16_what_was_asked_before_others_joined_is_not_carried_on(folder: Path) -> None:
    """SC-16: not even the words of a question that no document stands behind."""
    team = company(["UANN"], Page("qzarblo", TOPIC, OPEN))
    await team.opens(folder)
    await team.hears(ANN, "who signs the Umbra merger contract?")
    await team.hears(ANN, "and when?")
    assert "Umbra" in team.traces[-1].resolved
    await team.hears(ANN, "who signs the Umbra merger contract?")
    joined = replace(BOB, joins="UBOB")
    assert "Umbra" not in (await team.hears(joined, "/why")).shown
    await team.hears(BOB, "and when?")
    assert "Umbra" not in team.traces[-1].resolved


@pytest.mark.parametrize("change", ["closed", "over"])
async def test_sc_16_an_earlier_conversation_goes_with_its_document(
    folder: Path, change: str
) -> None:
    """SC-16: in the follow-up, in what is recalled, in /why, and behind the buttons."""
    page = Page("qzarblo", TOPIC, replace(OPEN, effective_until=ENDS))
    team = company(["UBOB"], page)
    await team.opens(folder)
    told = answer_of(await team.hears(BOB, ASKED))
    assert told.outcome is Outcome.ANSWERED
    assert page.code in (await team.presses(BOB, Action.SOURCES, told)).shown
    assert page.code in (await team.hears(BOB, "/why")).shown
    assert page.code in (await team.hears(BOB, SAID)).shown
    if change == "closed":
        await team.changes(replace(page, access=BOARD))
    else:
        team.now = ENDS
    seen = [await team.hears(BOB, text) for text in ("/why", "and who keeps it?", ASKED, SAID)]
    seen += [await team.presses(BOB, action, told) for action in (Action.SOURCES, Action.PERSON)]
    assert page.code not in "\n".join(heard.shown for heard in seen)
    assert page.code not in repr([trace.resolved for trace in team.traces])
    of_the_board = (await team.hears(Ask("UANN", "", TOPIC), ASKED)).shown
    assert (page.code in of_the_board) is (change == "closed")


@pytest.mark.parametrize(
    ("rule", "moment", "shown"),
    [
        (replace(OPEN, effective_until=NOW), NOW - timedelta(seconds=1), True),
        (replace(OPEN, effective_until=NOW), NOW, False),
        (replace(OPEN, effective_from=NOW), NOW - timedelta(seconds=1), False),
        (replace(OPEN, effective_from=NOW), NOW, True),
    ],
)
async def test_sc_16_a_document_is_told_in_its_time_only(
    folder: Path, rule: Access, moment: datetime, shown: bool
) -> None:
    """SC-16: from its first moment on, until its end, in all that shows documents."""
    team = company(["UBOB"], Page("qzarblo", TOPIC, rule))
    await team.opens(folder)
    team.now = moment
    assert ("qzarblo" in "\n".join(await team.plays(BOB))) is shown
