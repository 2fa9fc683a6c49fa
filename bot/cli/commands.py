"""The commands and what they take. Each loads its own modules, so `belay --help` is instant."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.audit_commands import audit, gaps
from bot.cli.backup_commands import backup, restore
from bot.cli.documents_commands import add, documents, note
from bot.cli.lookup_commands import Kinds, mcp, search
from bot.cli.migrate_commands import migrate
from bot.cli.running import run
from bot.cli.session_commands import sessions
from graph.model import LEVELS

app = typer.Typer(
    name="belay",
    help="Answer a team's questions from the team's own documents.\n\n"
    "Begin with: belay sync ~/runbooks, then: belay chat. Settings are environment variables "
    "(BELAY_HOME, BELAY_MODEL, ...) or keys of belay.toml; docs/settings.md lists them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


Level = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="Read only what this level may read: "
        f"{', '.join(LEVELS)}, unless belay.toml names others.",
    ),
]
NoWeb = Annotated[bool, typer.Option("--no-web", help="Do not search the web for this.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"belay {version('belay-bot')}")
        raise typer.Exit


@app.callback()
def belay(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command("run")
def run_(
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep the folders in sync while running.")
    ] = False,
) -> None:
    """Bring the folders up to date and start the bot.

    It answers on every messenger that has a token, and in the terminal when none has. Sources with
    a schedule are synced by it meanwhile.
    """
    from bot.cli.serve import run_bot

    run(run_bot, watch)


@app.command()
def chat(level: Level = "", kind: Kinds = None, no_web: NoWeb = False) -> None:
    """Ask questions in the terminal.

    Piped input is read as one question a line. A question may refer to the ones before it.
    """
    from bot.cli.chat import Asking
    from bot.cli.chat import chat as start

    run(start, Asking(level, not no_web, tuple(kind or ())))


@app.command()
def ask(
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="The question; quotes are optional.")
    ],
    level: Level = "",
    kind: Kinds = None,
    no_web: NoWeb = False,
    as_json: Json = False,
) -> None:
    """Answer one question.

    With --type it is answered from documents of these types alone, and never from the web. Ends
    with code 0 when there is an outcome, "not in your documents" included, and with code 1 when
    something that was needed did not work.
    """
    from bot.cli.chat import Asking
    from bot.cli.chat import ask as start

    run(start, " ".join(question), Asking(level, not no_web, tuple(kind or ())), as_json)


@app.command()
def sync(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FOLDER", help="Folders to index; all known by default."),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Stay; sync folders whenever something changes, other sources by their schedule.",
        ),
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild",
            help="Build the index anew from all known folders; the old one answers until then.",
        ),
    ] = False,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Accept that most files of a folder are gone.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every skipped file and problem.")
    ] = False,
) -> None:
    """Index folders of documents.

    Only what changed is read again, and what is gone is taken out. Without folders, all that are
    known are brought up to date: those of belay.toml and those that were synced before.
    """
    from bot.cli.sync import Choices
    from bot.cli.sync import sync as start

    run(start, Choices(tuple(folders or ()), watch, rebuild, allow_loss, verbose))


@app.command()
def sources(kind: Kinds = None, as_json: Json = False) -> None:
    """List the sources, what was skipped, and the next syncs."""
    from bot.cli.sync import sources as start

    run(start, kind or (), as_json)


@app.command()
def forget(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in `belay sources`.")],
) -> None:
    """Take a folder out of the index; its files stay."""
    from bot.cli.sync import forget as start

    run(start, name)


app.add_typer(sessions, name="sessions")

Who = Annotated[
    str,
    typer.Argument(
        metavar="CODE|KEY",
        help="The code that the bot gave them, or a key such as telegram:42.",
    ),
]


@app.command()
def allow(
    who: Who,
    level: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help=f"What they may read: {', '.join(LEVELS)}, or the levels that belay.toml names; "
            "the first one by default.",
        ),
    ] = "",
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="A brand or team whose documents they may read; repeatable."
        ),
    ] = None,
    tenant: Annotated[
        str, typer.Option(metavar="TENANT", help="Whose documents; [access] tenant by default.")
    ] = "",
    admin: Annotated[bool, typer.Option("--admin", help="They may let others in.")] = False,
) -> None:
    """Let a person or a group talk to the bot."""
    from bot.cli.access import Rights
    from bot.cli.access import allow as start

    run(start, who, Rights(level, frozenset(label or ()), tenant, admin))


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `belay access` shows it.")],
) -> None:
    """Take access away again."""
    from bot.cli.access import revoke as start

    run(start, key)


@app.command()
def access(as_json: Json = False) -> None:
    """List who may talk to the bot."""
    from bot.cli.access import access as start

    run(start, as_json)


@app.command()
def oncall(
    team: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEAM", help="A schedule, or a team or service that has one."),
    ] = None,
    at: Annotated[
        str, typer.Option(metavar="TIME", help='When: 18:00, "tomorrow 9:00", "in 2h", a date.')
    ] = "",
) -> None:
    """Tell who is on call, now or at a time.

    From the calendars in [[oncall.schedules]] of belay.toml. Without a team, all of them.
    """
    from bot.cli.oncall import oncall as start

    run(start, " ".join(team or []), at)


@app.command()
def why(
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="A question to try, or the id of an earlier one."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how an answer came about.

    Type, thresholds, every candidate with its scores, what was removed, and the time of each
    step. Without arguments it is about the last question.
    """
    from bot.cli.why import why as start

    run(start, " ".join(question or []), as_json)


app.command()(add)
app.command()(note)
app.add_typer(documents, name="documents")
app.command()(search)
app.command()(mcp)
app.command()(audit)
app.command()(gaps)
app.command()(backup)
app.command()(restore)
app.command()(migrate)


@app.command()
def calibration(
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Also draw it (needs the extra `plot`).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what each threshold lets through on your index.

    It compares how far unrelated questions reach with how far those reached that were asked here.
    """
    from bot.cli.calibration import calibration as start

    run(start, plot, as_json)


@app.command("eval")
def eval_(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[types | followups | access DIR] FILE.jsonl", help="What to measure."
        ),
    ],
    docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The documents that the questions are about."),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write all figures to this file."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help="Also write a page with charts and the worst questions."
        ),
    ] = None,
) -> None:
    """Measure answers on your own labelled questions.

    Recall, false answers and refusals, query types and milliseconds. With `types FILE.jsonl`
    only the types of questions are measured, without documents; with `followups FILE.jsonl`
    whether the last messages of conversations are understood, and with --docs what they find.
    With `access DIR FILE.jsonl` people ask in their places; code 1 tells that somebody was
    shown what they may not see.
    """
    from bot.cli.evals import Files, evaluate

    run(evaluate, words, docs, Files(json_file, report))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check everything Belay depends on, and say what to fix.

    Settings, data folder, embedder, index, schedules, chat model, web search, messengers and who
    may talk to the bot. Ends with code 1 when something is broken.
    """
    from bot.cli.doctor import doctor as start

    run(start, as_json)
