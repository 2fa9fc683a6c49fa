"""The whole bot with a real model behind a real server. Shape counts, not wording."""

from __future__ import annotations

import re

import pytest

from adapters.openai import create_chat
from graph.model import Outcome
from graph.policy import Limits
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.model_cases import DOCS, PARSER
from tests.servers.llama import MODEL, llama_server, missing


@pytest.mark.peer
@pytest.mark.skipif(bool(missing()), reason=missing())
async def test_a_real_small_model_never_says_what_the_documents_do_not(a_team: OpenTeam) -> None:
    """SmolLM2 writes badly, which is the point: what leaves is verified or quoted."""
    team = await a_team({"parser.md": DOCS["parser.md"]})
    with llama_server() as url:
        model = create_chat(MODEL, url, timeout=60, silence_timeout=60)
        chat = team.chat(model=model, limits=Limits(answer_tokens=24))
        await chat.says(PARSER)
        await model.close()
    assert chat.outcome in (Outcome.ANSWERED, Outcome.NOT_FOUND)
    assert chat.purposes[0] == "generate"
    everything = str(DOCS["parser.md"])
    for literal in re.findall(r"`[^`]+`|\d+", chat.answer.text):
        number_of_a_source = literal.isdigit() and int(literal) <= len(chat.cited)
        assert number_of_a_source or literal.strip("`") in everything
