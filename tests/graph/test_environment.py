"""RT-16: which environment a question asks for, and which one a document is about."""

from __future__ import annotations

import pytest

from graph.environment import asked_environments, named_environments, spelt_together

ASKED = {
    "maintenance window of the production database": {"prod"},
    "restart it in prod": {"prod"},
    "на проде упал шлюз": {"prod"},
    "лимит на продовом кластере": {"prod"},
    "боевая база": {"prod"},
    "можно ли на продуктиве": {"prod"},
    "pg-prod-1 is down": {"prod"},
    "deploy to staging": {"staging"},
    "the stage cluster": {"staging"},
    "на стейджинге": {"staging"},
    "pre-prod redis": {"staging"},
    "pre-production hosts": {"staging"},
    "на препроде": {"staging"},
    "on the test database": {"test"},
    "in QA": {"test"},
    "в тестовом окружении": {"test"},
    "на тестовом стенде": {"test"},
    "test-db is full": {"test"},
    "memory on dev": {"dev"},
    "в среде разработки": {"dev"},
    "на деве": {"dev"},
    "reset the sandbox": {"sandbox"},
    "в песочнице": {"sandbox"},
    "UAT hosts": {"uat"},
    "the difference between staging and prod": {"staging", "prod"},
    "на проде и на стейдже": {"staging", "prod"},
    "how do I test the restore": set(),
    "how to test alerts": set(),
    "results of the load test": set(),
    "in the test suite": set(),
    "как протестировать алерт": set(),
    "какие тесты запустить": set(),
    "in stage 2 of the rollout": set(),
    "non-prod clusters": set(),
    "the product page is slow": set(),
    "reproduce the bug": set(),
    "продуктовая команда и продовольствие": set(),
    "предпродажная подготовка": set(),
    "the developer portal": set(),
}
NAMED = {
    "db-prod": {"prod"},
    "runbooks/prod/db": {"prod"},
    "db_stg": {"staging"},
    "Stage": {"staging"},
    "db-test": {"test"},
    "Контур тест": {"test"},
    "redis-dev": {"dev"},
    "dev/notes": {"dev"},
    "Load test": set(),
    "smoke-test": set(),
    "How to test alerts": set(),
    "Нагрузочный тест": set(),
    "Stage 2": set(),
    "Test plan": set(),
    "prod/load-test": {"prod"},
    "Databases": set(),
}


@pytest.mark.parametrize(("question", "expected"), ASKED.items())
def test_a_question_names_environments(question: str, expected: set[str]) -> None:
    assert asked_environments(question) == expected
    assert asked_environments(question.upper()) == expected


@pytest.mark.parametrize(("name", "expected"), NAMED.items())
def test_a_document_is_about_environments(name: str, expected: set[str]) -> None:
    assert named_environments(name) == expected


def test_pre_production_does_not_speak_of_production() -> None:
    assert spelt_together("the Pre-prod and pre production hosts") == (
        "the preprod and preproduction hosts"
    )
    assert spelt_together("prepare prod") == "prepare prod"
