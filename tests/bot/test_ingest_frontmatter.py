"""Front matter: metadata is read, and what cannot be read closes the document (IN-14, IN-16)."""

from datetime import UTC, datetime

import pytest

from bot.ingest.frontmatter import read
from graph.model import LEVELS, Access, Status

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def test_all_known_keys() -> None:
    about = read(
        '---\ntitle: "Base: failover"\nowner: sre\naudience: Director\nlabels: [finance, "ops"]\n'
        "tenant: harrow\nstatus: draft\neffective_from: 2026-01-01\neffective_until: '2027-01-10'\n"
        "updated_at: 2026-05-20T10:00:00Z\nversion: 3\nsupersedes: old.md\n---\nBody\n"
    )
    assert (about.title, about.owner, about.version) == ("Base: failover", "sre", "3")
    assert about.updated_at == datetime(2026, 5, 20, 10, tzinfo=UTC)
    assert about.supersedes == ("old.md",)
    assert about.first_line == 14
    assert about.issues == ()
    assert about.over(Access()) == Access(
        tenant="harrow",
        audience="director",
        labels=frozenset({"finance", "ops"}),
        status=Status.DRAFT,
        effective_from=DAY,
        effective_until=datetime(2027, 1, 10, tzinfo=UTC),
    )


def test_json_front_matter() -> None:
    """Hugo's third form; a JSON file without a text below is no front matter."""
    about = read('{\n"title": "Deploys",\n"audience": "manager"\n}\n\nText\n')
    assert (about.title, about.first_line) == ("Deploys", 5)
    assert about.over(Access()).audience == "manager"
    assert read('{\n"audience": [\n}\n\nText\n').over(Access()).audience == LEVELS[-1]
    assert read('{\n"audience": "manager"\n}\n').access == {}


@pytest.mark.parametrize("mark", ["---\naudience:\u00a0director\n---\n", "---\nlabels=x\n---\n"])
def test_prose_that_names_readers_closes_the_document(mark: str) -> None:
    assert read(f"{mark}Text\n").over(Access()).audience == LEVELS[-1]
    assert read("---\nMind the audience, all of it.\n---\nText\n").first_line == 1


def test_blank_lines_above_open_nothing() -> None:
    about = read("\n\n---\naudience: director\n---\nText\n")
    assert (about.first_line, about.over(Access()).audience) == (6, "director")
    assert read("\n---\naudience: ceo\n---\nText\n").issues[0].line == 3
    assert read("\n---\nNote: read this\n---\nText\n").first_line == 1


def test_toml_front_matter() -> None:
    about = read(
        '+++\ntitle = "Deploys"\naudience = "manager"\neffective_from = 2026-01-01\n+++\nx'
    )
    assert about.title == "Deploys"
    assert about.over(Access()).audience == "manager"
    assert about.over(Access()).effective_from == DAY


def test_a_document_without_front_matter_keeps_the_default() -> None:
    default = Access(audience="senior", labels=frozenset({"sre"}))
    assert read("# Title\n\n---\n\ntext: yes").over(default) == default


@pytest.mark.parametrize(
    "text", ["---\n\nA rule, then prose.", "---\nSome prose\n---\nmore", "---"]
)
def test_a_rule_at_the_top_is_no_front_matter(text: str) -> None:
    about = read(text)
    assert about.first_line == 1
    assert not about.hidden


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("---\ntitle: Part 1: Restart\ntags: [ #ops ]\n---\n# Body", 2),
        ("---\ntitle: x\nowner: [a, b\n---\n# Body", 4),
        ("---\ntitle: x\n\tindent: y\n---\n# Body", 3),
        ("---\n- a\n- b\n---\n# Body", 2),
        ("---\naudience: staff\naudience: director\n---\n# Body", 3),
        (f"+++\nversion = {'9' * 5000}\n+++\n# Body", 1),
        ("+++\ntitle = no quotes\n+++\n# Body", 2),
        ("---\naudience: director\ntitle: never closed\n\n# Body", 1),
    ],
)
def test_an_unreadable_block_closes_the_document(block: str, line: int) -> None:
    """IN-14: the broken block may hold an access rule."""
    about = read(block)
    access = about.over(Access())
    assert access.audience == LEVELS[-1]
    assert access.labels == frozenset()
    assert len(about.issues) == 1
    assert abs(about.issues[0].line - line) <= 1  # parsers name the line where they gave up
    assert about.first_line > 1


def test_the_title_of_an_unreadable_block_is_kept() -> None:
    """IN-14"""
    assert read("---\ntitle: Part 1: Restart\n---\n").title == "Part 1: Restart"


@pytest.mark.parametrize(
    "line",
    [
        "audience: everyone",
        "audience: [staff, manager]",
        "audience:",
        "labels: {a: b}",
        "labels: []",
        "tenant: [a]",
        "effective_from: tomorrow",
        "effective_until: 2026-02-31",
    ],
)
def test_an_invalid_access_value_closes_the_document(line: str) -> None:
    """IN-14"""
    about = read(f"---\ntitle: T\n{line}\n---\nBody")
    assert about.over(Access()).audience == LEVELS[-1]
    assert [issue.line for issue in about.issues] == [3]


@pytest.mark.parametrize("line", ["updated_at: soon", "title: [a, b]", "status: purple"])
def test_an_invalid_value_that_opens_nothing_is_only_reported(line: str) -> None:
    """IN-14"""
    about = read(f"---\n{line}\naudience: manager\n---\nBody")
    assert about.over(Access()).audience == "manager"
    assert [issue.line for issue in about.issues] == [2]


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("accepted", Status.PUBLISHED),
        ("WIP", Status.DRAFT),
        ("superseded by ADR-7", Status.SUPERSEDED),
        ("черновик", Status.DRAFT),
    ],
)
def test_common_words_for_a_status(value: str, status: Status) -> None:
    assert read(f"---\nstatus: {value}\n---\n").over(Access()).status is status


def nested(levels: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "block",
    [
        nested(9),
        "x: " + "[" * 5000,
        "\n".join(["a: &a {k: v}", *(f"b{i}: {{<<: *a}}" for i in range(100))]),
    ],
)
def test_yaml_bombs_are_refused(block: str) -> None:
    """IN-16: refused before anything is expanded, and the document is closed."""
    about = read(f"---\n{block}\n---\n# Body")
    assert about.hidden
    assert about.issues


def test_tags_run_no_code() -> None:
    """IN-16"""
    about = read("---\ntitle: !!python/object/apply:os.system ['true']\nowner: !vault x\n---\nBody")
    assert about.owner == "x"
