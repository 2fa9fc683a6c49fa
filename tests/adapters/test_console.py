"""The terminal on a pipe: answers on standard output, work on standard error, nothing drawn."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from adapters.console import Console, create

ANSWER = "Restart it with `systemctl restart gw` [1].\n\n**Sources**\n\n- [1] Gateway — a.md#L3\n"


@pytest.fixture
def pipe() -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(io.StringIO("first\n\nпод упал\nlast"), out, err), out, err


Pipe = tuple[Console, io.StringIO, io.StringIO]


def test_a_pipe_is_nobody_typing(pipe: Pipe) -> None:
    assert not pipe[0].interactive


def test_markdown_is_printed_as_it_is(pipe: Pipe) -> None:
    console, out, err = pipe
    console.show(ANSWER)
    assert out.getvalue() == ANSWER + "\n"
    assert err.getvalue() == ""


def test_long_lines_and_markup_are_left_alone(pipe: Pipe) -> None:
    console, out, _ = pipe
    long = "word " * 200 + "[bold]not markup[/bold] :fire: https://example.org/a_b_c"
    console.plain(long)
    console.show(long)
    assert out.getvalue() == f"{long}\n{long}\n"


def test_stages_and_tokens_are_for_people(pipe: Pipe) -> None:
    console, out, err = pipe
    console.stage("searching")
    for piece in ("Restart ", "it"):
        console.token(piece)
    console.show("Restart it")
    assert out.getvalue() == "Restart it\n"
    assert err.getvalue() == ""


def test_progress_and_notes_go_to_standard_error(pipe: Pipe) -> None:
    console, out, err = pipe
    bars = console.progress()
    bars.begin("indexing [docs]", 3)
    bars.advance()
    bars.advance(2)
    bars.end()
    console.note("12 files, 1 skipped: [a].md")
    assert out.getvalue() == ""
    assert "indexing [docs] ..." in err.getvalue()
    assert "12 files, 1 skipped: [a].md" in err.getvalue()
    assert "\x1b" not in err.getvalue()
    assert len(err.getvalue().splitlines()) == 2


def test_a_table_is_aligned_plain_text(pipe: Pipe) -> None:
    console, out, _ = pipe
    console.table(("name", "n"), [("one", "1"), ("[three]", "33")], "Sources")
    assert out.getvalue() == "Sources\nname     n\none      1\n[three]  33\n"


def test_a_table_without_rows_is_its_head(pipe: Pipe) -> None:
    console, out, _ = pipe
    console.table(("name", "n"), [])
    assert out.getvalue() == "name  n\n"


async def test_questions_are_read_a_line_each(pipe: Pipe) -> None:
    console, out, err = pipe
    assert [line async for line in console.questions("> ")] == ["first", "", "под упал", "last"]
    assert out.getvalue() == ""
    assert err.getvalue() == ""


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE", "CLICOLOR_FORCE"])
def test_a_pipe_stays_plain_where_colours_are_forced(variable: str) -> None:
    """Build servers set these; scripts read what is printed."""
    os.environ[variable] = "1"
    out, err = io.StringIO(), io.StringIO()
    console = Console(io.StringIO(), out, err)
    console.show("**bold** `code`")
    console.note("a note")
    console.progress().begin("work", None)
    assert out.getvalue() == "**bold** `code`\n"
    assert "\x1b" not in err.getvalue()


def encoded(encoding: str) -> tuple[TextIO, io.BytesIO]:
    raw = io.BytesIO()
    return io.TextIOWrapper(raw, encoding=encoding, write_through=True), raw


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp1251"])
def test_what_the_terminal_cannot_write_becomes_a_mark(encoding: str) -> None:
    out, raw = encoded(encoding)
    console = Console(io.StringIO(), out, encoded(encoding)[0])
    console.show("Под упал → 🔥 \ud83d ok")
    console.note("Под упал 🔥")
    assert raw.getvalue().endswith(b"ok\n")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("под\nнода\n".encode(), ["под", "нода"]),
        (b"\xef\xbb\xbffirst\r\nsecond\r\n", ["first", "second"]),
        ("под\n".encode("cp1251"), None),  # another encoding: marks, and no crash
        (b"\x00\xff\xfe\n", None),
        (b"", []),
    ],
)
async def test_any_bytes_can_be_piped_in(
    tmp_path: Path, data: bytes, expected: list[str] | None
) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes(data)
    with path.open(encoding="utf-8") as stdin:
        console = Console(stdin, io.StringIO(), io.StringIO())
        read = [line async for line in console.questions("> ")]
    assert read == expected if expected is not None else len(read) == 1


@pytest.fixture
def terminal() -> Iterator[tuple[Console, int]]:
    """A console whose output is a real terminal."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as out:
        yield Console(io.StringIO(), out, out), leader
    os.close(leader)


def test_a_terminal_gets_markdown_rendered(terminal: tuple[Console, int]) -> None:
    console, leader = terminal
    console.show("**bold** and `code`")
    shown = os.read(leader, 10_000).decode()
    assert "bold" in shown
    assert "**" not in shown
    assert "\x1b[" in shown


def test_the_factory_writes_to_the_standard_streams(capsys: pytest.CaptureFixture[str]) -> None:
    console = create()
    console.show("to stdout")
    console.note("to stderr")
    captured = capsys.readouterr()
    assert captured.out == "to stdout\n"
    assert captured.err == "to stderr\n"
