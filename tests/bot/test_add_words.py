"""Which words hand a file in, and which ask a question."""

from __future__ import annotations

import pytest

from bot.commands.add import hands_in

HANDS_IN = (
    "add this|Add this!|pls add|add|keep this file|index this|add this for manager|add to docs"
    "|add these two files|add the attached file|can you add this to your knowledge base?"
    "|add this runbook as a document, thanks|could you index this doc please"
    "|добавь|добавь это|Добавь, пожалуйста, этот документ в базу знаний|добавьте этот регламент"
    "|занеси в базу|добавь это для всех"
)
ASKS = (
    "|save|upload|index|list|add a node|how do I add this?|add this alert to which page?"
    "|remember this|keep calm|save the date|add user anna to vpn|add a report about orders"
    "|what is in this file?|import fails|добавь узел в кластер|как добавить это?|запомни это"
)


@pytest.mark.parametrize("words", HANDS_IN.split("|"))
def test_words_that_hand_a_file_in(words: str) -> None:
    assert hands_in(words)


@pytest.mark.parametrize("words", ASKS.split("|"))
def test_words_that_do_not(words: str) -> None:
    assert not hands_in(words)
