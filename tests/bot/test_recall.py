"""What is remembered of conversations: bounded, by speaker, within the audience."""

from __future__ import annotations

from bot.chat import Quote
from bot.recall import QUOTED, Bounds, Exchange, Recall, covers
from graph.model import EVERYBODY, Scope, SourceType, Turn, levels_up_to
from tests.bot.answering_kit import ANN, BORIS, GROUP, private

STAFF = Scope()
DIRECTOR = Scope(levels=levels_up_to("director"))


def exchange(number: int, asker: str = ANN.key, scope: Scope = STAFF) -> Exchange:
    return Exchange(f"{number:012x}", asker, f"question {number}", f"answer {number}", scope)


def test_a_wider_audience_covers_a_narrower_one_and_not_the_reverse() -> None:
    assert covers(DIRECTOR, STAFF)
    assert not covers(STAFF, DIRECTOR)
    assert not covers(STAFF, Scope(tenant="other"))
    labelled = Scope(labels=frozenset({"payments"}))
    assert covers(STAFF, labelled)
    assert not covers(labelled, STAFF)
    assert not covers(Scope(source_types=frozenset({SourceType.FOLDER})), STAFF)
    assert EVERYBODY in STAFF.labels


def test_speakers_are_numbered_and_the_asker_is_the_user() -> None:
    recall = Recall()
    recall.add(GROUP, exchange(1, ANN.key))
    recall.add(GROUP, exchange(2, BORIS.key))
    assert recall.history(GROUP, ANN, STAFF, None) == (
        Turn("user", "question 1"),
        Turn("bot", "answer 1"),
        Turn("speaker-1", "question 2"),
        Turn("bot", "answer 2"),
    )


def test_a_question_that_is_worked_on_again_is_one_exchange() -> None:
    recall = Recall()
    recall.add(GROUP, exchange(1))
    recall.add(GROUP, exchange(1))
    assert len(recall.history(GROUP, ANN, STAFF, None)) == 2


def test_what_a_wider_audience_was_told_is_not_recalled() -> None:
    recall = Recall()
    recall.add(GROUP, exchange(1, scope=DIRECTOR))
    recall.add(GROUP, exchange(2))
    told = [turn.text for turn in recall.history(GROUP, ANN, STAFF, None)]
    assert told == ["question 2", "answer 2"]


def test_exchanges_conversations_and_texts_are_bounded() -> None:
    recall = Recall(Bounds(conversations=2, exchanges=3, turn_characters=50))
    for number in range(5):
        recall.add(GROUP, exchange(number))
    assert len(recall.history(GROUP, ANN, STAFF, None)) == 6
    recall.add(private(ANN), Exchange("f" * 12, ANN.key, "long " * 100, "", STAFF))
    assert len(recall.history(private(ANN), ANN, STAFF, None)[0].text) <= 50
    recall.add(private(BORIS), exchange(7))
    assert recall.history(GROUP, ANN, STAFF, None) == ()


def test_a_long_quote_is_cut_and_is_all_there_is() -> None:
    recall = Recall(Bounds(quote_characters=100))
    recall.add(GROUP, exchange(1))
    history = recall.history(GROUP, ANN, STAFF, Quote("disk full on node-07 " * 50, "an admin"))
    assert [turn.who for turn in history] == [QUOTED]
    assert len(history[0].text) <= 100


def test_a_blank_quote_is_no_quote() -> None:
    recall = Recall()
    recall.add(GROUP, exchange(1))
    assert len(recall.history(GROUP, ANN, STAFF, Quote("  \n"))) == 2
