"""The commands and what they take. Each loads its own modules, so `belay --help` is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.running import run

app = typer.Typer(
    name="belay",
    help="Answers a team's questions from the team's own documents, and says so when they hold "
    "no answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Level = Annotated[
    str, typer.Option(help="Read only what this level may read (default: the level setting).")
]
NoWeb = Annotated[bool, typer.Option("--no-web", help="Do not search the web for this.")]


@app.command("run")
def run_(
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep the folders in sync while running.")
    ] = False,
) -> None:
    """Bring the folders up to date and start the bot: here, the terminal chat."""
    from bot.cli.chat import run_bot

    run(run_bot, watch)


@app.command()
def chat(level: Level = "", no_web: NoWeb = False) -> None:
    """Ask questions in the terminal; piped input is read as one question a line."""
    from bot.cli.chat import Asking
    from bot.cli.chat import chat as start

    run(start, Asking(level, not no_web))


@app.command()
def ask(
    question: Annotated[list[str], typer.Argument(help="The question.")],
    level: Level = "",
    no_web: NoWeb = False,
    as_json: Json = False,
) -> None:
    """Answer one question."""
    from bot.cli.chat import Asking
    from bot.cli.chat import ask as start

    run(start, " ".join(question), Asking(level, not no_web), as_json)


@app.command()
def sync(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders to index (default: all known).")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay and sync again whenever something changes.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Empty the index first (another embedder).")
    ] = False,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Accept that most files of a folder are gone.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every skipped file and problem.")
    ] = False,
) -> None:
    """Index folders of documents; only what changed is read again."""
    from bot.cli.sync import Choices
    from bot.cli.sync import sync as start

    run(start, Choices(tuple(folders or ()), watch, rebuild, allow_loss, verbose))


@app.command()
def sources(as_json: Json = False) -> None:
    """List the indexed folders: files, chunks, skipped files with reasons, last sync."""
    from bot.cli.sync import sources as start

    run(start, as_json)


@app.command()
def forget(name: Annotated[str, typer.Argument(help="The source's name.")]) -> None:
    """Take a folder with all its chunks out of the index; the files stay."""
    from bot.cli.sync import forget as start

    run(start, name)


@app.command()
def why(
    question: Annotated[
        list[str] | None,
        typer.Argument(help="A question to try, or the id of an earlier one (default: the last)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how an answer came about: type, thresholds, candidates, removals, times."""
    from bot.cli.why import why as start

    run(start, " ".join(question or []), as_json)


@app.command()
def calibration(
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Also draw it (needs the extra `plot`).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how far unrelated questions and yours reach, and what each threshold lets through."""
    from bot.cli.calibration import calibration as start

    run(start, plot, as_json)


@app.command("eval")
def eval_(
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUESTIONS.jsonl | types FILE.jsonl", help="What to measure."),
    ],
    docs: Annotated[
        Path | None, typer.Option(help="The documents that the questions are about.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write all figures to this file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help="Also write a page with charts and the worst questions."
        ),
    ] = None,
) -> None:
    """Measure answers on labelled questions: recall, honesty, query types, milliseconds."""
    from bot.cli.evals import Files, evaluate

    run(evaluate, words, docs, Files(json_file, report))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check settings, index, embedder, model and web search, and say what to fix."""
    from bot.cli.doctor import doctor as start

    run(start, as_json)


def main() -> None:
    app()
