"""What is left of a reply when everything that is no answer is gone."""

from __future__ import annotations

import pytest

from graph.bare_answer import bare_answer, without_loose_end

SAID = "Restart it with `systemctl restart parser` [1]."


@pytest.mark.parametrize(
    "reply",
    [
        f"```markdown\n{SAID}\n```",
        f"```\n{SAID}\n```",
        f'{{"answer": "{SAID}"}}',
        f'```json\n{{"response": "{SAID}", "sources": [1]}}\n```',
        f"Assistant: {SAID}",
        f"**Answer:** {SAID}",
        f"Ответ: {SAID}",
        f"{SAID} {SAID} {SAID}",
        f"{SAID}\n\n{SAID}\n\n{SAID}",
        f"{SAID}\n\nUser: and the queue?\nAssistant: Restart the queue [1].",
        f"{SAID}\n**Human:** what else?\n**AI:** Nothing [1].",
    ],
)
def test_wrapping_made_up_turns_and_repetitions_go(reply: str) -> None:
    assert bare_answer(reply) == SAID
    assert bare_answer(SAID) == SAID


def test_items_and_steps_that_repeat_are_one() -> None:
    assert (
        bare_answer("- Wait [1].\n- Wait [1].\n- Wait [1].\n- Go [1].") == "- Wait [1].\n- Go [1]."
    )
    assert bare_answer("1. Wait [1].\n2. Wait [1].\n3. Go [1].") == "1. Wait [1].\n3. Go [1]."


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"text": "ok"}\n```',
        "```\nkubectl get pods\n```",
        "```\necho ${names[1]} | wc\n```\n[1]",
        "The credentials [1]:\n\nUser: admin\nDatabase: orders",
        "1. Restart node a [1].\n2. Wait 5 minutes [1].\n3. Restart b [1].\n4. Wait 5 minutes [1].",
        "| a | b |\n| --- | --- |\n| 1 | 1 |\n| 1 | 1 |",
        "The FAQ says [1]:\n\nQuestion: which port?\nAnswer: 8443.",
        "INSUFFICIENT: no port",
    ],
)
def test_an_answer_stays_as_it_is(reply: str) -> None:
    assert bare_answer(reply) == reply


def test_a_late_admission_is_told_without_its_keyword() -> None:
    assert (
        bare_answer(f"{SAID}\n\nINSUFFICIENT: No port is given.") == f"{SAID}\n\nNo port is given."
    )


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (f"{SAID} Then wait for the", SAID),
        (f"{SAID}\n\n1. Drain it [1].\n2. Dele", f"{SAID}\n\n1. Drain it [1]."),
        ("Run:\n\n```bash\nhelm list\nhelm rollback app", "Run:\n\n```bash\nhelm list\n```"),
        (f"{SAID}\n\n```bash\nkubectl delete", SAID),
        (f"{SAID} Then run `kubectl delete", SAID),
        (
            f"{SAID}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3",
            f"{SAID}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (f"{SAID} Then it is done [2].", f"{SAID} Then it is done [2]."),
        ("Then wait for the", ""),
    ],
)
def test_what_was_cut_ends_with_its_last_whole_statement(cut: str, kept: str) -> None:
    assert without_loose_end(cut) == kept
