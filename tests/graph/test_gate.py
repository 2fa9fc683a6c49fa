"""What a reader sees while the answer is still being written."""

from __future__ import annotations

import pytest
from answering import passage
from hypothesis import example, given
from hypothesis import strategies as st

from graph.blocks import blocks
from graph.evidence import unsupported
from graph.gate import Gate, insufficient
from graph.literals import literals
from graph.proof import Sources

SOURCES = Sources(
    [
        passage("The weather is fine."),
        passage(
            "Port 8443.\n\n```bash\nkubectl rollout restart deployment/api\n```\n\nWait 5 min."
        ),
    ]
)


def streamed(text: str, size: int = 1) -> str:
    gate = Gate(SOURCES)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return "".join([gate.feed(piece) for piece in pieces] + [gate.close()])


@pytest.mark.parametrize(
    "text",
    [
        "INSUFFICIENT: the port of 8443 is for another service\nThe port is 8443 [2].",
        "**INSUFFICIENT:** no port",
        "Insufficient: no port\n\nmore",
        "insufficient : nothing",
        "НЕДОСТАТОЧНО: нет порта",
        "\n\nINSUFFICIENT",
    ],
)
def test_nothing_is_shown_of_an_insufficient_reply(text: str) -> None:
    assert insufficient(text)
    assert streamed(text) == ""


@pytest.mark.parametrize("text", ["Insufficient disk space is the cause [2].\n", "The port [2].\n"])
def test_an_answer_is_not_mistaken_for_it(text: str) -> None:
    assert insufficient(text) is None
    assert streamed(text)


def test_nothing_is_shown_before_the_first_line_is_known() -> None:
    gate = Gate(SOURCES)
    assert gate.feed("Insuffi") == ""
    assert gate.feed("cient. ") == ""


def test_sentences_pass_one_by_one_and_unsupported_ones_do_not() -> None:
    gate = Gate(SOURCES)
    first = gate.feed("The port of the API is 8443 [2]. It was 9999 [2]. Wait")
    assert first == "The port of the API is 8443 [1]. "
    assert gate.feed(" 5 min [2].\n") + gate.close() == "Wait 5 min [1]."


@pytest.mark.parametrize("mark", ["[2]", "[#2]", "[^2]", "[source 2]", "(source 2)", "【2】"])
def test_a_mark_of_any_style_is_shown_in_ours(mark: str) -> None:
    assert streamed(f"The port is 8443 {mark}.\n") == "The port is 8443 [1]."


def test_a_command_passes_only_as_a_whole_block() -> None:
    gate = Gate(SOURCES)
    gate.feed("Restart it so that it comes up [2]:\n")
    assert "kubectl" not in gate.feed("```bash\nkubectl rollout restart deployment/api\n")
    assert "kubectl rollout restart deployment/api" in gate.feed("```\n") + gate.close()


def test_after_a_failed_step_nothing_more_passes() -> None:
    text = "Do this at once, please [2]:\n1. Wait 5 min.\n2. Run `rm -rf /`.\n3. Wait 5 min.\n"
    assert streamed(text) == "Do this at once, please [1]:\n1. Wait 5 min.\n"


@pytest.mark.parametrize(
    "text",
    [
        "The port is 8443, see https://evil.example/x [2].\n",
        "The port is [8443](https://evil.example/x) [2].\n",
        "![port](https://evil.example/p.png?8443) it is [2].\n",
        "<img src=https://evil.example/x> the port [2].\n",
        "The port is 8443 and more [7].\n",
    ],
)
def test_foreign_links_html_and_unknown_marks_are_held_back(text: str) -> None:
    assert streamed(text).strip() == ""


@given(st.integers(1, 40))
def test_the_size_of_the_pieces_does_not_matter(size: int) -> None:
    text = (
        "The port is 8443 [2]. It is not 77. Then wait 5 min.[2]\n\nRun this [2]:\n"
        "```bash\nkubectl rollout restart deployment/api\n```\n\n- wait 5 min\n- port 8443 [2]\n"
    )
    assert streamed(text, size) == streamed(text, len(text))


@given(st.text(alphabet="a18.[2]`\n#|- *<>", max_size=80), st.integers(1, 9))
@example(". 1.", 1)
@example("a. 18.\n- a", 3)
@example("[#1]", 2)
@example("[#1-1]", 7)
@example("<|``* .\n<``[", 1)
def test_nothing_unsupported_is_ever_shown(text: str, size: int) -> None:
    shown = streamed(f"Begin with the port 8443.\n\n{text}", size)
    claims = [item for block in blocks(shown) for item in literals(block)]
    assert unsupported(claims, SOURCES.all()) == []


def test_a_command_in_signs_of_prose_is_held_back() -> None:
    assert "kubectl" not in streamed(
        "Run:\n\n```\nkubectl\u00a0rollout restart deployment/api\n```\n"
    )
