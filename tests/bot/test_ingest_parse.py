"""Each format by its suffix: config files as they stand, broken ones with a note (IN-16)."""

import json

import pytest

from bot.ingest.chunk import ChunkLimits, ChunkText, chunks
from bot.ingest.parse import parse, readable_name, supported


def cut(path: str, text: str) -> tuple[list[ChunkText], list[int]]:
    parsed = parse(path, text, {})
    return chunks(parsed.outline, ChunkLimits()), [issue.line for issue in parsed.issues]


def test_yaml_is_shown_as_it_stands() -> None:
    """IN-16: aliases are not expanded, tags are not run, several documents are one file."""
    text = (
        "base: &b {cpu: 1}\nsvc:\n  <<: *b\n---\n"
        "kind: ConfigMap\ndata: !vault |\n  3363\nkind: Twice\n"
    )
    found, issues = cut("a.yaml", text)
    assert issues == []
    assert found[0].text == f"```yaml\n{text.rstrip()}\n```"
    assert found[0].heading == ("base · svc · kind · data",)


def test_broken_yaml_is_text_with_a_note() -> None:
    """IN-16"""
    found, issues = cut("a.yaml", "base: &b {cpu: 1}\nsvc:\n\t<<: *b\n")
    assert "\t<<: *b" in found[0].text
    assert issues == [3]


def test_billion_laughs_stay_text() -> None:
    """IN-16"""
    text = "a0: &a0 lol\n" + "\n".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)
    )
    found, _ = cut("b.yaml", text)
    assert sum(len(chunk.text) for chunk in found) < 2 * len(text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"a": [1,\n}'),
        ("a.toml", "[a]\nx = \n"),
        ("a.yml", "a: [1\nb: 2"),
        ("a.json", "[" * 100_000),
        ("a.yaml", "[" * 20_000),
    ],
)
def test_broken_config_is_indexed_with_a_note(path: str, text: str) -> None:
    """IN-16"""
    _, issues = cut(path, text + "\n\n")
    assert len(issues) == 1


def test_config_sections_are_top_level_keys() -> None:
    yaml = "\n".join(f"key{n}:\n" + "  - some value of the list\n" * 40 for n in range(3))
    found, _ = cut("a.yaml", yaml)
    assert [chunk.heading for chunk in found] == [("key0",), ("key1",), ("key2",)]
    assert found[1].lines == (43, 83)
    text = json.dumps({f"key{n}": ["value"] * 90 for n in range(3)}, indent=2)
    assert {"key0", "key1", "key2"} <= {chunk.heading[-1] for chunk in cut("a.json", text)[0]}
    toml = "\n".join(f"[table.t{n}]\n" + "value = 'x'\n" * 90 for n in range(3))
    assert ("table.t1",) in {chunk.heading for chunk in cut("a.toml", toml)[0]}


def test_text_files_have_no_headings() -> None:
    found, _ = cut("hosts.txt", "# primary\n10.0.0.1 db-01\n\n# replica\n10.0.0.2 db-02\n")
    assert found[0].heading == ()
    assert "# replica" in found[0].text


@pytest.mark.parametrize(
    "path", ["a.md", "A.MD", "a.txt", "a.yml", "a.rst", "a.htm", "README", "x/NOTES"]
)
def test_supported(path: str) -> None:
    assert supported(path)


@pytest.mark.parametrize("path", ["a.png", "a.exe", "a.md.7z", "a.py"])
def test_not_supported(path: str) -> None:
    assert not supported(path)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("ops/db-failover_plan.md", "Db failover plan"),
        ("инструкция.txt", "Инструкция"),
        ("README", "README"),
    ],
)
def test_a_file_name_as_title(path: str, title: str) -> None:
    assert readable_name(path) == title
