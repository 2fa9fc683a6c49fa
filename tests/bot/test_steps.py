"""The first steps of a document, word for word."""

from __future__ import annotations

from bot.steps import StepBounds, Steps, first_steps
from graph.model import Passage, SourceType

FENCE = "```bash\nkubectl drain $NODE --ignore-daemonsets   # not   --force\n```"


def passage(text: str, number: int = 1, heading: str = "") -> Passage:
    headings = (heading,) if heading else ()
    return Passage(
        str(number), "docs", SourceType.FOLDER, "a.md", "A", headings, text, f"a.md#L{number}"
    )


def steps(*document: Passage, matched: Passage | None = None, characters: int = 1500) -> Steps:
    found = first_steps(document, matched, StepBounds(characters=characters))
    assert found is not None
    return found


def test_the_section_that_says_what_to_do_comes_before_later_procedures() -> None:
    """Looking comes before acting, as the document has it."""
    found = steps(
        passage(
            "## Meaning\n\n- one\n- two\n\n## Diagnosis\n\nLook at the node:\n\n" + FENCE
            + "\n\n## Drain by hand\n\n1. Drain it.\n2. Delete it."
        )
    )  # fmt: skip
    assert found.heading == ("Diagnosis",)
    assert found.text == f"Look at the node:\n\n{FENCE}"
    assert not found.whole


def test_without_such_a_section_it_is_the_first_procedure() -> None:
    found = steps(passage("Some talk.\n\n- a\n- b\n\n1. Drain it.\n\n   " + "```\n   x\n   ```"))
    assert found.text.startswith("1. Drain it.")
    assert "```\n   x\n   ```" in found.text
    assert found.whole


def test_steps_of_the_passage_that_was_found_come_first() -> None:
    first, second = passage("1. Call.", 1, "Steps"), passage("1. Wait.", 2, "Later")
    assert steps(first, second).passage is first
    assert steps(first, second, matched=second).text == "1. Wait."


def test_prose_is_quoted_in_whole_sentences_and_tables_stay_tables() -> None:
    assert steps(passage("One. Two. Three. Four. Five.")).text == "One. Two. Three. Four."
    table = "| Picture | Go to |\n| --- | --- |\n| one region | the operator |\n| all | the CA |"
    assert steps(passage(f"## What to do\n\n{FENCE}\n\n{table}")).text == f"{FENCE}\n\n{table}"


def test_long_steps_are_cut_between_steps() -> None:
    many = "\n".join(f"{n}. Do step {n}." for n in range(1, 200))
    found = steps(passage(many), characters=200)
    assert found.text.endswith("\n\n[…]")
    assert len(found.text) < 220
    assert all(line in many for line in found.text.splitlines()[:-2])
    assert not found.whole


def test_a_document_that_says_nothing_has_no_steps() -> None:
    assert first_steps([passage("TODO")], None, StepBounds()) is None
