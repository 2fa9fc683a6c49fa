"""Reading a model's reply: values, verdicts, and reasoning that must not be seen."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.reply import ThinkFilter, first_json, without_reasoning, yes_or_no
from graph.shape import structured

FENCED = '```json\n{"relevant": "yes", "reason": "has {braces}"}\n```'
VALUE = {"relevant": "yes", "reason": "has {braces}"}


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (f"Sure! Here is the JSON:\n{FENCED}\nHope it helps", VALUE),
        (FENCED, VALUE),
        ('{"relevant": "yes", "reason": "has {braces}"}', VALUE),
        ('```\n{"a": 1}\n```\n```json\n{"b": 2}\n```', {"a": 1}),
        ('{"a": "a \\"quoted\\" } brace"} and {more}', {"a": 'a "quoted" } brace'}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('Given {the question}: {"a": 1}', {"a": 1}),
        ('Passages [1] and [2, 3] say so: {"a": 1}', {"a": 1}),
        ('["one", "two"]', ["one", "two"]),
        ("[1, 2]", [1, 2]),
        ("The answer:\n[]", []),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ('{"a": 1,}', {"a": 1}),
        ("{'relevant': True, 'reason': None}", {"relevant": True, "reason": None}),
        ('<think>maybe {"a": 0}</think>{"a": 1}', {"a": 1}),
        ('maybe {"a": 0}</think>\n\n{"a": 1}', {"a": 1}),
        ('"yes"', "yes"),
        ("```json\ntrue\n```", True),
        ("42", 42),
        ('{"вопрос": "почему {так}?"}', {"вопрос": "почему {так}?"}),
    ],
)
def test_lm08_first_complete_value(reply: str, value: Any) -> None:
    assert first_json(reply) == value


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "No JSON here.",
        '{"relevant": tr',
        '{"parts": ["one", {"two": 2}], "mo',
        '{"score": NaN}',
        '```json\n{"a": "cut',
        '<think>{"a": 1}',
        "{not json}",
        "[" * 50_000,
        "[" * 5_000 + "]" * 5_000,
        "{" * 50_000 + "}",
    ],
    ids=lambda reply: reply[:20],
)
def test_lm04_an_incomplete_value_is_none(reply: str) -> None:
    assert first_json(reply) is None


@given(
    st.dictionaries(
        st.text(max_size=9),
        st.none() | st.booleans() | st.text(max_size=20) | st.lists(st.text(max_size=9)),
        max_size=3,
    ),
    st.sampled_from(["", "Sure! ", "See [1].\n", "As {asked}: "]),
    st.sampled_from(["", "\nHope it helps", " {or so}", "\n```"]),
)
def test_lm08_prose_around_a_value_does_not_matter(
    value: dict[str, Any], before: str, after: str
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if "think" not in text.lower():
        assert first_json(before + text + after) == value


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("No.", False),
        ("no - unrelated", False),
        ("YES", True),
        ("Да", True),
        ("нет", False),
        ("Relevant: false", False),
        ("", None),
        ("yes and no", None),
        ("**Yes**", True),
        ("`no`", False),
        ("'Yes'.", True),
        ("No, not relevant", False),
        ("no: the passage is relevant to another service", False),
        ("Yes, there is no other passage about it", True),
        ("Нет, это про другое", False),
        ("Да, относится к вопросу.", True),
        ("да нет", None),
        ("Yes / No", None),
        ("Ответ: да", True),
        ("Answer = NO", False),
        ("I would say no", False),
        ("not relevant", False),
        ("It isn’t relevant.", False),
        ("The passage is relevant", True),
        ("не относится", False),
        ("Not true", False),
        ("неверно", False),
        ("I do not know", None),
        ("Не знаю", None),
        ("nothing", None),
        ("N", False),
        ("y", True),
        ("true", True),
        ('{"relevant": "yes"}', True),
        ('{"reason": "no word of it in there", "relevant": true}', True),
        ('```json\n{"relevant": false}\n```', False),
        ("<think>yes, no, yes</think>No", False),
        ("42", None),
    ],
)
def test_lm12_verdicts(reply: str, verdict: bool | None) -> None:
    assert yes_or_no(reply) is verdict


def shown(pieces: list[str]) -> tuple[str, str]:
    """What a stream shows, and what the filter calls the reply."""
    blocks = ThinkFilter()
    text = "".join(blocks.feed(piece) for piece in pieces) + blocks.close()
    return text, blocks.text


def cuts(text: str) -> st.SearchStrategy[list[str]]:
    """Every way to divide a text into pieces."""
    places = st.lists(st.integers(0, len(text)), max_size=12).map(sorted)
    return places.map(
        lambda at: [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    )


REPLIES = {
    "<think>plan</think>\n\nRestart it.": "Restart it.",
    "\n<thinking>a <b> plan\n</thinking> Restart `it` < now": "Restart `it` < now",
    "Restart<think>hm</think> it.": "Restart it.",
    "Restart it.<think>was that right": "Restart it.",
    "<think>one</think><think>two</think>Restart it.": "Restart it.",
    "Restart it if a < b <thing>": "Restart it if a < b <thing>",
    "Tags:\n```xml\n<think>kept</think>\n```\n<think>gone</think>End": (
        "Tags:\n```xml\n<think>kept</think>\n```\nEnd"
    ),
    "The `<think>` tag opens it.": "The `<think>` tag opens it.",
    "ends in <": "ends in <",
    "See [the page](x) [1], [th": "See [the page](x) [1], [th",
    "[THINK]plan[/THINK]Restart it [1].": "Restart it [1].",
    "◁think▷plan◁/think▷Restart it.": "Restart it.",
    "<|begin_of_thought|>plan<|end_of_thought|>Restart it.": "Restart it.",
    "<reasoning>plan</reasoning>\nRestart it.": "Restart it.",
    "<|channel|>analysis<|message|>plan<|end|><|start|>assistant"
    "<|channel|>final<|message|>Restart it.<|return|>": "Restart it.",
    "Restart it.<|im_end|>\n<|im_start|>user\nthanks": "Restart it.",
    "<|im_start|>assistant\nRestart it.<|im_end|>": "Restart it.",
    "Restart it.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nAgain.": "Restart it.",
    "Restart it.<end_of_turn>": "Restart it.",
    "Stop at `<|im_end|>`.": "Stop at `<|im_end|>`.",
}


@pytest.mark.parametrize(("reply", "visible"), REPLIES.items())
@given(data=st.data())
def test_lm10_reasoning_is_not_shown_however_the_stream_is_cut(
    reply: str, visible: str, data: st.DataObject
) -> None:
    assert shown(data.draw(cuts(reply))) == (visible, visible)
    assert shown(list(reply)) == (visible, visible)


@given(st.text().filter(lambda text: "think" not in text.lower()).map(str.lstrip), st.data())
def test_a_text_without_reasoning_passes_unchanged(text: str, data: st.DataObject) -> None:
    assert shown(data.draw(cuts(text))) == (text, text)


def test_lm10_a_closing_tag_alone_ends_reasoning_that_the_template_began() -> None:
    assert without_reasoning("The plan is secret.\n</think>\n\nRestart it.") == "Restart it."


def test_text_is_shown_as_soon_as_it_cannot_be_a_tag() -> None:
    blocks = ThinkFilter()
    assert blocks.feed("Restart ") == "Restart "
    assert blocks.feed("<thi") == ""
    assert blocks.feed("s>") == "<this>"


SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"enum": ["factual", "analytical"]},
        "parts": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
        "sure": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": ["type"],
}


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ('{"type": "factual"}', {"type": "factual"}),
        ('{"type": "Factual "}', {"type": "factual"}),
        ('{"type": "factual", "sure": "Да"}', {"type": "factual", "sure": True}),
        ('{"type": "factual", "count": 3.0}', {"type": "factual", "count": 3}),
        ('{"type": "factual", "note": null}', {"type": "factual", "note": None}),
        ('{"type": "factual", "share": 0.5}', {"type": "factual", "share": 0.5}),
        ('{"type": "factual", "more": [1]}', {"type": "factual", "more": [1]}),
        ('{"an": "example"} then {"type": "analytical"}', {"type": "analytical"}),
    ],
)
def test_a_near_miss_of_the_schema_is_converted(reply: str, data: dict[str, Any]) -> None:
    assert structured(reply, SCHEMA) == data


@pytest.mark.parametrize(
    "reply",
    [
        "factual",
        '["factual"]',
        "{}",
        '{"type": "other"}',
        '{"type": null}',
        '{"type": "factual", "parts": "one"}',
        '{"type": "factual", "parts": [1]}',
        '{"type": "factual", "count": "many"}',
        '{"type": "factual", "count": 2.5}',
        '{"type": "factual", "count": true}',
        '{"type": "factual", "sure": "perhaps"}',
        '{"type": "factual", "note": 3}',
        '{"type": "factual", "share": "half"}',
    ],
)
def test_another_shape_is_none(reply: str) -> None:
    assert structured(reply, SCHEMA) is None
