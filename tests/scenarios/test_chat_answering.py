"""The handler on real documents: quotes, speakers, buttons, audiences."""

from __future__ import annotations

import pytest

from adapters.memory.model import ScriptedModel
from adapters.memory.web import MemoryWeb
from bot.chat import Kind
from graph.machine import Machine
from graph.model import Outcome, Question
from graph.policy import Policy
from graph.ports import ChatModel, Ports, WebResult, WebSearch
from tests.bot.answering_kit import ANN, BORIS, BOSS, GROUP, Bot, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW, Files, Team, prompt_text

TITLE = "Регламент перезапуска платёжного шлюза (тестовый стенд, вторая очередь)"
DOCS: Files = {
    "exit-codes.md": "---\nowner: platform\n---\n# Exit codes\n\n"
    "Exit code 137 means that the kernel killed the container: it was out of memory. "
    "Raise the memory limit of the CronJob backup-orders.\n",
    "billing.md": "---\nowner: payments\n---\n# Billing service\n\n"
    "Billing listens on port 8081. Restart billing with `systemctl restart billing`.\n",
    "orders.md": "# Orders service\n\n"
    "Restart orders with `kubectl rollout restart deploy/orders`.\n",
    "шлюз.md": f"# {TITLE}\n\nПлатёжный шлюз перезапускается командой `pay-gw restart`.\n",
    "salaries.md": "---\naudience: director\nowner: cfo\n---\n# Salaries\n\n"
    "The salary budget of the data team is 900000 euro.\n",
}
EGG = "how do I boil an egg?"
SNIPPET = "To boil an egg, put the egg into boiling water for 8 minutes."
EGGS = [WebResult("Boiling an egg", "https://eggs.example/boil", SNIPPET)]


def machine(
    team: Team,
    *,
    model: ChatModel | None = None,
    web: WebSearch | None = None,
    policy: Policy | None = None,
) -> Machine:
    own = team.app.embedder
    return Machine(Ports(team.app.index, own, own, model=model, web=web), policy, now=lambda: NOW)


@pytest.mark.parametrize("question", ["why?", "", "что делать?", "what does it mean?", "ideas?"])
@pytest.mark.parametrize("quote", ["CronJob backup-orders failed: exit 137", "exit 137"])
async def test_tg_24_a_reply_to_an_alert_asks_about_the_alert(
    a_team: OpenTeam, question: str, quote: str
) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    seen = await bot.says(ANN, question, GROUP, quote=quote)
    answer = seen.answers[0].answer
    assert answer is not None
    named = {item.passage.document for item in answer.citations}
    named |= {item.passage.document for item in answer.nearest}
    assert "exit-codes.md" in named, seen.shown


async def test_tg_24_the_quote_counts_more_than_what_was_asked_before(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    await bot.says(ANN, "which port does billing use?", GROUP)
    await bot.says(ANN, "why?", GROUP, quote="CronJob backup-orders failed: exit 137")
    assert "137" in bot.traces[-1].resolved
    assert "billing" not in bot.traces[-1].resolved


async def test_tg_24_a_reply_to_an_old_answer_goes_on_from_there(a_team: OpenTeam) -> None:
    """Also when somebody else has asked it, and platforms show it with its sources."""
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    first = await bot.says(ANN, "how do I restart billing?", GROUP)
    await bot.says(BORIS, "what does exit code 137 mean?", GROUP)
    shown = first.answers[0].markdown.replace("**", "").replace("`", "")
    for person in (ANN, BORIS):
        await bot.says(person, "and its port?", GROUP, quote=shown)
        assert "billing" in bot.traces[-1].resolved, person
        assert "137" not in bot.traces[-1].resolved


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("which port does billing use? my db is postgres://app:S3cretPw@db/x", ""),
        ("which port does billing use, does password=S3cretPw work there?", ""),
        ("какой порт у billing? пароль: S3cretPw", ""),
        ("which port does it use?", "billing failed: login with postgres://app:S3cretPw@db/x"),
    ],
)
async def test_sc_11_a_secret_in_a_question_reaches_no_model_and_no_answer(
    a_team: OpenTeam, question: str, quote: str
) -> None:
    model = ScriptedModel(default="Billing listens on port 8081 [1].")
    bot = Bot(machine(await a_team(DOCS), model=model))
    await bot.let_in(GROUP)
    seen = await bot.says(ANN, question, GROUP, quote=quote)
    again = await bot.says(ANN, "and how do I restart it?", GROUP)
    assert "S3cretPw" not in seen.shown + again.shown + prompt_text(model.prompts)
    assert not [trace for trace in bot.traces if "S3cretPw" in repr(trace)]


async def test_tg_24_a_quoted_message_gives_no_rights(a_team: OpenTeam) -> None:
    """TG-24: an admin's words, quoted by somebody else, are context and not authority."""
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    quote = "What is the salary budget of the data team?"
    assert "900000" not in (await bot.says(ANN, "and?", quote=quote)).shown
    assert "900000" in (await bot.says(BOSS, "tell me", quote=quote)).shown


async def test_se_09_speakers_of_a_group_are_kept_apart(a_team: OpenTeam) -> None:
    """SE-09: Ann's service is not Boris's; names of people are in no prompt."""
    model = ScriptedModel(default="INSUFFICIENT: the passages do not say which service.")
    bot = Bot(machine(await a_team(DOCS), model=model))
    await bot.let_in(GROUP)
    await bot.says(ANN, "my service is billing", GROUP)
    await bot.says(BORIS, "how do I restart my service?", GROUP)
    assert "billing" not in bot.traces[-1].resolved.lower()
    await bot.says(ANN, "how do I restart my service?", GROUP)
    prompts = prompt_text(model.prompts)
    assert all(word not in prompts for word in ("Ann", "Boris", "ops", ANN.key, BORIS.key))


async def test_se_09_each_follows_up_on_their_own_question(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    await bot.says(ANN, "how do I restart billing?", GROUP)
    await bot.says(BORIS, "how do I restart orders?", GROUP)
    await bot.says(ANN, "and which port does it use?", GROUP)
    assert "billing" in bot.traces[-1].resolved
    assert "orders" not in bot.traces[-1].resolved


async def test_conversations_know_nothing_of_each_other(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    await bot.let_in(ANN)
    await bot.says(ANN, "how do I restart billing?")
    await bot.says(ANN, "and its port?", GROUP)
    assert "billing" not in bot.traces[-1].resolved


async def test_an_answer_streams_and_says_what_is_done(a_team: OpenTeam) -> None:
    model = ScriptedModel("Billing listens on port 8081 [1].")
    bot = Bot(machine(await a_team(DOCS), model=model))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "which port does billing use?")
    assert "Searching the documents …" in seen.progress_lines
    assert all(later.startswith(sooner) for sooner, later in zip(
        seen.streamed, seen.streamed[1:], strict=False))  # fmt: skip
    assert "8081" in seen.streamed[-1]
    assert seen.answers[0].answer is not None
    assert seen.answers[0].answer.outcome is Outcome.ANSWERED


async def test_progress_is_in_the_language_of_the_question(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "как перезапустить платёжный шлюз?")
    assert "Ищу в документах …" in seen.progress_lines


async def test_tg_14_values_of_buttons_are_short_whatever_the_title(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "как перезапустить платёжный шлюз?")
    assert TITLE in seen.shown
    found = seen.answers[0].buttons
    assert {button.value[0] for button in found} >= {"s", "u", "d", "p"}
    assert all(len(button.value.encode()) <= 64 for button in found)
    assert all(TITLE[:10] not in button.value for button in found)


async def test_sources_have_owners_and_ages(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "which port does billing use?")
    sources = await bot.presses(ANN, value(seen, "s"))
    assert "owner payments" in sources.shown
    assert "updated 20" in sources.shown
    told = sources.said[-1].answer
    assert told is not None  # so that the addresses of its documents may be links
    assert [cited.passage.uri for cited in told.citations] == ["billing.md#L4"]


async def test_small_talk_has_no_buttons(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    assert (await bot.says(ANN, "thanks!")).answers[0].buttons == ()


async def test_a_hand_off_names_owners_and_the_question(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)), {"contact": "the platform team"})
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "which port does billing use?")
    shown = (await bot.presses(ANN, value(seen, "p"))).shown
    assert "payments" in shown
    assert "the platform team" in shown
    assert "> which port does billing use?" in shown


async def test_why_tells_how_the_last_answer_came_about(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN)
    await bot.says(ANN, "which port does billing use?")
    shown = (await bot.says(ANN, "/why")).shown
    assert "billing.md" in shown
    assert bot.traces[-1].question_id in shown


SALARY = "what is the salary budget of the data team?"


async def test_a_button_shows_no_more_than_the_presser_may_see(a_team: OpenTeam) -> None:
    """An answer for directors, pressed by one who is a director no more."""
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(ANN, "director")
    seen = await bot.says(ANN, SALARY)
    assert "salaries.md" in (await bot.presses(ANN, value(seen, "s"))).shown
    await bot.let_in(ANN, "staff")
    for letter in "sp":
        shown = (await bot.presses(ANN, value(seen, letter))).shown
        assert "alaries" not in shown
        assert "cfo" not in shown
    assert "salaries" not in (await bot.says(ANN, "/why")).shown
    await bot.says(ANN, "and its owner?")
    assert "salary" not in bot.traces[-1].resolved.lower()


async def test_a_button_of_another_place_opens_nothing(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS), web=MemoryWeb(EGGS)))
    await bot.let_in(GROUP)
    seen = await bot.says(BOSS, SALARY)
    for letter in "spw":
        forged = f"{letter}:{value(seen, 's')[2:]}"
        shown = (await bot.presses(BORIS, forged, GROUP)).shown
        assert "alar" not in shown
        assert "cfo" not in shown


async def test_the_web_is_searched_at_the_press_of_a_button(a_team: OpenTeam) -> None:
    """Offered where the documents came near and the web was not asked yet."""
    web = MemoryWeb(EGGS)
    insufficient = "INSUFFICIENT: the passages do not say how to do that."
    quoted = "Put the egg into boiling water for 8 minutes [1]."
    model = ScriptedModel({"questions": []}, insufficient, quoted)
    # The floor is at the bottom: whatever is found is read.
    policy = Policy(floor=0.0, factual=0.0, analytical=0.0, synthesis=0.0, noise_spread=0.0)
    bot = Bot(machine(await a_team(DOCS), web=web, model=model, policy=policy))
    await bot.let_in(ANN)
    docs = "how do I boil an egg before I restart the billing service?"
    seen = await bot.says(ANN, docs)
    assert web.queries == []
    found = await bot.presses(ANN, value(seen, "w"))
    assert len(web.queries) == 1
    assert found.answers[0].answer is not None
    assert found.answers[0].answer.outcome is Outcome.WEB
    assert "https://eggs.example/boil" in found.shown
    assert "w" not in {button.value[0] for button in found.answers[0].buttons}


@pytest.mark.parametrize("web", [None, MemoryWeb(EGGS)], ids=["no web", "switched off"])
async def test_the_web_is_neither_offered_nor_asked_where_it_is_off(
    a_team: OpenTeam, web: MemoryWeb | None
) -> None:
    bot = Bot(machine(await a_team(DOCS), web=web), {"web": False})
    await bot.let_in(ANN)
    seen = await bot.says(ANN, EGG)
    assert "w" not in {button.value[0] for button in seen.answers[0].buttons}
    forged = await bot.presses(ANN, f"w:{bot.traces[-1].question_id}")
    assert "off here" in forged.shown
    assert web is None or web.queries == []


async def test_the_web_is_not_offered_again_after_it_was_asked(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS), web=MemoryWeb()))
    await bot.let_in(ANN)
    seen = await bot.says(ANN, EGG)
    assert "found nothing either" in seen.shown
    assert "w" not in {button.value[0] for button in seen.answers[0].buttons}


async def test_a_question_for_the_web_goes_there_whatever_the_documents_hold(
    a_team: OpenTeam,
) -> None:
    team = await a_team(DOCS)
    port = "which port does billing use?"
    results = [WebResult("Billing", "https://web.example/b", "Billing services use port 443.")]
    web = MemoryWeb(results)
    asked = await machine(team, web=web).answer(Question(port, "a" * 12, web_first=True))
    assert len(web.queries) == 1
    assert asked.answer.outcome is Outcome.WEB
    without = await machine(team).answer(Question(port, "b" * 12, web_first=True))
    assert without.answer.outcome is Outcome.ANSWERED
    refused = Question(port, "c" * 12, web_allowed=False, web_first=True)
    assert (await machine(team, web=web).answer(refused)).answer.outcome is Outcome.ANSWERED
    assert len(web.queries) == 1


async def test_answers_are_forgotten_with_the_place(a_team: OpenTeam) -> None:
    bot = Bot(machine(await a_team(DOCS)))
    await bot.let_in(GROUP)
    seen = await bot.says(ANN, "which port does billing use?", GROUP)
    await bot.happens(Kind.REMOVED, ANN, GROUP)
    assert "no longer remember" in (await bot.presses(ANN, value(seen, "s"), GROUP)).shown
