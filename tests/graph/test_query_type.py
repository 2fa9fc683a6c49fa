"""The type of a question, as the classifier and its node decide it."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from langgraph.runtime import Runtime

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from adapters.memory.model import Scripted, ScriptedModel
from adapters.use import UseEmbedder
from graph.errors import EmbedderError, ModelBusy
from graph.lexicon import Lexicon
from graph.model import QueryType
from graph.nodes.classify import classify
from graph.policy import Limits, Policy
from graph.ports import Embedder, Matrix, Ports
from graph.query_type import QueryTypeModel, margin
from graph.state import Context, Stage, State, TypeDecision
from graph.text import spaced

# Written for this test; none of them is a row that the weights were trained on.
QUESTIONS = {
    QueryType.FACTUAL: (
        "Which port does the status page listen on?",
        "Who owns the address book service?",
        "how many days are audit logs kept",
        "whats the defalt pasword policy lenght",
        "На каком порту слушает страница статуса?",
        "Кто владелец сервиса адресной книги?",
        "сколько дней хранятся логи аудита",
        "какой командой посмотреть место на диске",
    ),
    QueryType.ANALYTICAL: (
        "Why did the import fail although the file was valid?",
        "what happens if we restart the coordinator during a backup",
        "Is it better to scale out the API or to add a cache?",
        "requests got slower after we added an index, how come",
        "Почему импорт упал, хотя файл был верным?",
        "что будет если перезапустить координатор во время бэкапа",
        "Что лучше: добавить серверов API или поставить кэш?",
        "после добавления индекса запросы стали медленнее, как так",
    ),
    QueryType.SYNTHESIS: (
        "Summarise everything we know about the storage migration.",
        "Make a table of all cron jobs and their owners.",
        "write an overview of the release process from all the docs",
        "checklist for new starters, from the onboarding pages",
        "Обобщи всё, что известно о миграции хранилища.",
        "Составь таблицу всех кронов и их владельцев.",
        "напиши обзор процесса релиза по всем документам",
        "чеклист для новичков из страниц онбординга",
    ),
}


class DownEmbedder(HashEmbedder):
    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        raise EmbedderError("down")


class HangingEmbedder(HashEmbedder):
    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.fixture(scope="module")
def words() -> Embedder:
    return UseEmbedder()


async def decisions(words: Embedder, questions: Sequence[str]) -> list[TypeDecision]:
    vectors = await words.embed_questions([spaced(question) for question in questions])
    model = QueryTypeModel.shipped()
    return [model.decide(text, row) for text, row in zip(questions, vectors, strict=True)]


async def run(
    question: str,
    words: Embedder,
    *replies: Scripted,
    margin: float = 0.0,
    limits: Limits | None = None,
) -> tuple[State, list[Stage], ScriptedModel]:
    model = ScriptedModel(*replies)
    stages: list[Stage] = []
    context = Context(
        ports=Ports(MemoryIndex(), words, words, model),
        lexicon=Lexicon(words),
        policy=Policy(classify_margin=margin),
        limits=limits or Limits(),
        deadline=asyncio.get_running_loop().time() + 60,
    )
    write: Callable[[Stage], None] = stages.append
    update = await classify({"resolved": question}, Runtime(context=context, stream_writer=write))
    return update, stages, model


@pytest.mark.parametrize("expected", list(QueryType))
async def test_plain_questions_of_each_type(words: Embedder, expected: QueryType) -> None:
    found = [decision.query_type for decision in await decisions(words, QUESTIONS[expected])]
    assert found.count(expected) >= len(found) - 1


async def test_most_questions_are_decided_without_a_vector() -> None:
    model = QueryTypeModel.shipped()
    right = [
        model.decide(text, None).query_type is expected
        for expected, texts in QUESTIONS.items()
        for text in texts
    ]
    assert sum(right) > 0.8 * len(right)


async def test_probabilities_sum_to_one_and_the_margin_is_between_the_best_two(
    words: Embedder,
) -> None:
    for decision in await decisions(words, QUESTIONS[QueryType.FACTUAL]):
        first, second, _ = sorted(decision.probabilities, reverse=True)
        assert sum(decision.probabilities) == pytest.approx(1)
        assert margin(decision) == pytest.approx(first - second)
        assert decision.by == "local"


def test_a_tie_has_no_margin() -> None:
    assert margin(TypeDecision(QueryType.FACTUAL, "local", (0.5, 0.5, 0.0))) == 0


@pytest.mark.parametrize("odd", ["", "?", "🔥", "\x00", "a" * 50_000, "why " * 10_000])
async def test_odd_questions_have_a_type(words: Embedder, odd: str) -> None:
    (decision,) = await decisions(words, [odd])
    assert np.isfinite(decision.probabilities).all()
    assert QueryTypeModel.shipped().decide(odd, None).query_type in QueryType


async def test_the_weights_are_of_the_builtin_embedder(words: Embedder) -> None:
    assert QueryTypeModel.shipped().embedder == words.name


async def test_the_node_sets_the_vector_and_announces_the_type(words: Embedder) -> None:
    question = "Why does KubePodCrashLooping fire at night?"
    update, stages, model = await run(question, words)
    (expected,) = await words.embed_questions([spaced(question)])
    assert update["word_vector"] is not None
    np.testing.assert_allclose(update["word_vector"], expected, atol=1e-5)
    assert update["decision"].query_type is QueryType.ANALYTICAL
    assert stages == [Stage("classify", "analytical")]
    assert not model.prompts
    assert not update["calls"]
    assert not update["notes"]


async def test_the_model_settles_what_is_close(words: Embedder) -> None:
    update, stages, model = await run("disk full", words, {"type": "synthesis"}, margin=1.0)
    assert update["decision"].query_type is QueryType.SYNTHESIS
    assert update["decision"].by == "model"
    assert [call.purpose for call in update["calls"]] == ["classify"]
    assert stages == [Stage("classify", "synthesis")]
    assert "disk full" in model.prompts[0].user


async def test_the_model_is_not_asked_about_a_clear_case(words: Embedder) -> None:
    question = "Summarise everything we know about the storage migration."
    update, _, model = await run(question, words, margin=0.01)
    assert update["decision"].by == "local"
    assert not model.prompts


@pytest.mark.parametrize(
    "reply", [ModelBusy("later"), "no idea", {"type": "poem"}, {"kind": "factual"}]
)
async def test_a_useless_reply_leaves_the_local_type(words: Embedder, reply: Scripted) -> None:
    question = "Why does the alert fire at night?"
    update, _, _ = await run(question, words, reply, margin=1.0)
    assert update["decision"].query_type is QueryType.ANALYTICAL
    assert update["decision"].by == "local"
    (call,) = update["calls"]
    assert call.error


@pytest.mark.parametrize("words_down", [DownEmbedder(), HangingEmbedder()])
async def test_cue_words_decide_when_the_embedder_is_down(words_down: Embedder) -> None:
    question = "Why does the alert fire at night?"
    update, stages, _ = await run(question, words_down, limits=Limits(embed_timeout=0.01))
    assert update["word_vector"] is None
    assert update["notes"] == ("embedder_down",)
    assert update["decision"].query_type is QueryType.ANALYTICAL
    assert stages == [Stage("classify", "analytical")]


async def test_cue_words_decide_when_the_vectors_are_of_another_space() -> None:
    update, _, _ = await run("Why does the alert fire at night?", HashEmbedder())
    assert update["word_vector"] is not None
    assert update["decision"].query_type is QueryType.ANALYTICAL
    assert not update["notes"]
