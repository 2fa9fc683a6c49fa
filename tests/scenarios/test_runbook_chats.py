"""Runbooks and incidents, looked up in chats: no model is asked, nobody sees what is not theirs."""

from __future__ import annotations

import pytest

from adapters.memory.model import ScriptedModel
from bot.chat import Place
from graph.errors import StoreError
from graph.machine import Machine
from graph.model import Outcome, Passage, Scope
from graph.ports import Candidate, Ports, Search
from graph.profile import Profile
from tests.bot.answering_kit import ANN, BOSS, GROUP, STRANGER, Bot, Watched, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW, Files, Team

COMMANDS = "kubectl get pods --field-selector=status.phase!=Running\nkubectl logs --previous $POD"
DOCS: Files = {
    "alerts/kube-pod-crash-looping.md": "---\nowner: platform\nupdated_at: 2026-01-05\n---\n"
    "# KubePodCrashLooping\n\n## Meaning\n\nA pod restarts again and again.\n\n## Diagnosis\n\n"
    f"Find the pod and what it said last:\n\n```bash\n{COMMANDS}\n```\n\n## Mitigation\n\n"
    "1. Raise the memory limit when it was killed with exit code 137.\n"
    "2. Roll back the deployment otherwise.\n",
    "redis-memory.md": "# Redis out of memory\n\n## Steps\n\n1. Look at `INFO memory`.\n"
    "2. Raise `maxmemory`.\n",
    "redis-failover.md": "# Redis failover\n\n## Steps\n\n1. Ask the sentinels who leads.\n"
    "2. Run `SENTINEL failover mymaster`.\n",
    "checkout.md": "---\nowner: shop\n---\n# Checkout is slow\n\n## What to do\n\n"
    "1. Compare the latency of the payment provider with yesterday's.\n2. Turn off coupons.\n",
    "wiki.md": "# Wiki\n\nThe wiki is for everybody. Write pages in English.\n",
    "payroll.md": "---\naudience: director\nowner: cfo\n---\n# PayrollExportStuck\n\n"
    "1. Call the bank.\n",
}


def machine(team: Team, model: ScriptedModel | None = None) -> Machine:
    own = team.app.embedder
    return Machine(Ports(Watched(team.app.index), own, own, model=model), now=lambda: NOW)


@pytest.mark.parametrize(
    "typed",
    ["KubePodCrashLooping", "kube-pod-crash-looping", "kube pod crash looping",
     "kubepodcrashlooping", "`KubePodCrashLooping`?", "KUBE_POD_CRASH_LOOPING"],
)  # fmt: skip
async def test_an_alert_is_found_however_it_is_typed(a_team: OpenTeam, typed: str) -> None:
    model = ScriptedModel()
    bot = Bot(machine(await a_team(DOCS), model))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, f"/runbook {typed}")
    assert COMMANDS in seen.shown
    assert "updated 2026-01-05" in seen.shown
    assert "owner platform" in seen.shown
    assert "kube-pod-crash-looping.md#L" in seen.shown
    assert model.prompts == []
    assert bot.traces[-1].calls == ()


async def test_a_short_name_that_several_documents_bear_gives_a_short_list(
    a_team: OpenTeam,
) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    shown = (await bot.says(ANN, "runbook redis")).shown
    assert "Redis out of memory" in shown
    assert "Redis failover" in shown
    assert "Several documents fit" in shown
    assert "SENTINEL failover" not in shown
    assert "Several" not in (await bot.says(ANN, "runbook redis failover")).shown


async def test_without_the_exact_name_its_meaning_counts(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "/runbook redis oom")
    assert "Raise `maxmemory`" in seen.shown
    assert seen.answers[0].answer is not None
    assert seen.answers[0].answer.outcome is Outcome.ANSWERED


async def test_an_incident_is_looked_up_by_the_alert_it_names_or_by_what_happens(
    a_team: OpenTeam,
) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    named = await bot.says(ANN, "/incident since 02:51 KubePodCrashLooping fires, orders is down")
    assert COMMANDS in named.shown
    told = await bot.says(ANN, "incident checkout is very slow today")
    assert "Turn off coupons" in told.shown


@pytest.mark.parametrize("typed", ["/runbook kafka rebalancing", "/incident the printer is jammed"])
async def test_what_no_document_is_about_is_not_made_up(a_team: OpenTeam, typed: str) -> None:
    bot = Bot(machine(await a_team(DOCS)), {"contact": "#platform"})
    await bot.let_in(ANN)
    seen = await bot.says(ANN, typed)
    answer = seen.answers[0].answer
    assert answer is not None
    assert answer.outcome is Outcome.NOT_FOUND
    assert answer.citations == ()
    assert "\\#platform" in (await bot.presses(ANN, value(seen, "p"))).shown


async def test_a_document_without_steps_is_quoted_from_its_beginning(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    assert "Write pages in English" in (await bot.says(ANN, "/runbook wiki")).shown


async def test_a_runbook_without_a_name_asks_for_one(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)), {"roots": {"slack": "belay"}})
    await bot.let_in(ANN)
    assert "`/runbook alert or service`" in (await bot.says(ANN, "/runbook")).shown
    assert "Name an alert" in (await bot.says(ANN, "/runbook ???")).shown
    assert "симптом" in (await bot.says(ANN, "/инцидент", language="ru")).shown


async def test_sc_08_names_of_hidden_documents_open_nothing(a_team: OpenTeam) -> None:
    """SC-08: whoever may not read a document does not learn that there is one."""
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    await bot.let_in(GROUP)
    for who, place in ((ANN, None), (BOSS, GROUP)):
        for typed in ("/runbook PayrollExportStuck", "/incident PayrollExportStuck"):
            shown = (await bot.says(who, typed, place)).shown
            assert "cfo" not in shown
            assert "payroll.md" not in shown
            assert "bank" not in shown
    assert "Call the bank" in (await bot.says(BOSS, "/runbook payroll export stuck")).shown


@pytest.mark.parametrize("place", [None, GROUP], ids=["private", "group"])
@pytest.mark.parametrize("secretly", [False, True])
@pytest.mark.parametrize("typed", ["/runbook redis", "/incident redis", "runbook redis", "/help",
                                   "/forget", "/mute", "/sources"])  # fmt: skip
async def test_sc_08_strangers_look_nothing_up(
    a_team: OpenTeam, typed: str, place: Place | None, secretly: bool
) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    seen = await bot.says(STRANGER, typed, place, secretly=secretly)
    assert seen.answers == []
    assert "/allow" in seen.shown
    retriever = bot.machine.ports.retriever
    assert isinstance(retriever, Watched)
    assert retriever.calls == 0


class _Down(Watched):
    """An index that cannot be read."""

    async def profile(self) -> Profile:
        raise StoreError("the disk is gone")

    async def search(self, search: Search, scope: Scope) -> list[Candidate]:
        raise StoreError("the disk is gone")

    async def document(self, passage: Passage, scope: Scope) -> list[Passage]:
        raise StoreError("the disk is gone")


@pytest.mark.parametrize("typed", ["/runbook redis", "/incident redis is slow"])
async def test_op_11_an_index_that_is_down_is_not_called_an_empty_one(
    a_team: OpenTeam, typed: str
) -> None:
    """OP-11: the asker learns that nothing was looked up, and gets the way to a person."""
    team = await a_team(DOCS)
    own = team.app.embedder
    bot = Bot(Machine(Ports(_Down(team.app.index), own, own), now=lambda: NOW))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, typed)
    answer = seen.answers[0].answer
    assert answer is not None
    assert answer.outcome is Outcome.FAILED
    assert "could not be read" in seen.shown
    assert "disk is gone" not in seen.shown
    assert {button.value[0] for button in seen.answers[0].buttons} == {"p"}
