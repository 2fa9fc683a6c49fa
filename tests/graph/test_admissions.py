"""Replies that admit in prose that the passages hold no answer."""

from __future__ import annotations

import pytest

from graph.admissions import admits_nothing


@pytest.mark.parametrize(
    "reply",
    [
        "The provided passages do not contain information about the port [1].",
        "The documents don't mention a port [1][2].",
        "I'm sorry, but the context does not specify which port is used [1].",
        "There is no information about the port in the passages [1].",
        "The port is not mentioned in the provided documents [1].",
        "I don't know. The documents do not say which port it is [1].",
        "Unfortunately, I could not find the port in the passages. Please ask the platform team.",
        "The passages contain no details on this [1].",
        "В предоставленных документах нет информации об этом [1].",
        "К сожалению, в документах не указан порт [1].",
        "Документы не содержат сведений о порте [1].",
        "Информация о порте в источниках отсутствует [1].",
        "Я не знаю [1].",
    ],
)
def test_an_admission_in_prose_is_no_answer(reply: str) -> None:
    assert admits_nothing(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "Restart the parser [1]. The documents do not say which port it uses [1].",
        "The documents do not mention the port; try `netstat -tlnp` [1].",
        "The backup does not contain secrets [1].",
        "Config files do not hold passwords [1].",
        "The alert is not sent at night [1].",
        "1. The runbook does not describe it [1].\n2. Restart it [1].",
        "В резервной копии нет паролей [1].",
        "Релизы по пятницам не разрешены [1].",
        "",
    ],
)
def test_an_answer_is_not_taken_for_an_admission(reply: str) -> None:
    assert admits_nothing(reply) is None
