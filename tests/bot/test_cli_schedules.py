"""Scheduled sources and vaults from the command line, in processes of their own."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_kit import PATIENCE, Belay, lines_until, terminate

from bot.ingest.lock import held
from bot.library import LOCK_FILE

FAST = """
[schedules]
jitter = "0s"
look = "0.2s"
lease = "2s"
retry = "1s"
vault = "1s"
"""
PROTOCOLS = '[git]\nprotocols = ["file"]\n'
QUESTION = "which number is the pager of the night shift?"


@dataclass(frozen=True)
class Desk:
    """A repository with one page, and `belay` with a settings file beside it."""

    folder: Path
    belay: Belay

    @property
    def repository(self) -> Path:
        return self.folder / "up"

    def writes(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def commits(self, number: int) -> None:
        self.writes("up/pager.md", f"# Pager\n\nThe pager of the night shift is number {number}.\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=self.repository, check=True, capture_output=True)

    def settings(self, *parts: str) -> None:
        self.writes("belay.toml", "\n".join((PROTOCOLS, *parts)))

    def source(self, name: str, *lines: str) -> str:
        return "\n".join(
            ("[[sources]]", f'name = "{name}"', f'url = "{self.repository.as_uri()}"', *lines, "")
        )

    @contextmanager
    def watching(self) -> Iterator[subprocess.Popen[bytes]]:
        """`belay sync --watch`, killed at the end of the block."""
        with self.belay.start("sync", "--watch") as process:
            try:
                yield process
            finally:
                process.kill()

    def listed(self) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in self.belay("sources", "--json").json}

    def until(self, holds: Callable[[dict[str, dict[str, Any]]], bool]) -> dict[str, Any]:
        """What `belay sources` tells once it tells this; there is nothing to wait on."""
        end = time.monotonic() + PATIENCE
        while not holds(found := self.listed()):
            assert time.monotonic() < end, found
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    repository = tmp_path / "up"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    desk = Desk(tmp_path, Belay(tmp_path / "home"))
    desk.commits(4400)
    return desk


def complete(row: dict[str, Any]) -> bool:
    """A scheduled sync was."""
    last = row["schedule"]["last_run"]
    return bool(last["by"]) and last["result"] == "complete"


def waits_after_failures(row: dict[str, Any]) -> bool:
    told = row["schedule"]
    return told["failures_in_a_row"] > 1 and told["last_run"]["result"] == "failed"


def folder(name: str, *lines: str) -> str:
    return "\n".join(("[[sources]]", f'path = "{name}"', *lines, ""))


def test_sources_tell_of_schedules_before_and_after_a_sync(desk: Desk) -> None:
    desk.writes("docs/billing.md", "# Billing\n\nBilling listens on port 8081.\n")
    cron = 'schedule = "0 3 * * *"'
    desk.settings(desk.source("runbooks", cron), desk.source("plain"), folder("docs"))
    before = desk.belay("sources")
    assert "runbooks  repo  never" in before.out
    assert "runbooks: 0 3 * * * (UTC); next run now" in before.out
    assert "not running: start `belay run`" in before.out
    assert desk.belay("sync").code == 0
    rows = desk.listed()
    assert rows["plain"]["schedule"] is rows["docs"]["schedule"] is None
    told = rows["runbooks"]["schedule"]
    assert (told["schedule"], told["time_zone"]) == ("0 3 * * *", "UTC")
    assert told["next_run"][11:14] == "03:"  # and less than the minute of jitter
    assert told["last_run"]["result"] == "complete"
    assert told["last_success"] == rows["runbooks"]["last_run"]
    assert (told["overdue"], told["leader"]) == (False, None)
    after = desk.belay("sources").out
    assert "03:00 UTC" in after
    assert "OVERDUE" not in after


def test_a_source_that_could_never_be_read_is_told_with_its_error(desk: Desk) -> None:
    """And tried again: the branch comes later."""
    desk.settings(desk.source("vault", 'kind = "vault"', 'branch = "night"'), FAST)
    with desk.watching() as process:
        rows = desk.until(lambda rows: rows["vault"]["schedule"]["failures_in_a_row"] > 0)
        assert rows["vault"]["state"] == "never"
        assert "night" in rows["vault"]["schedule"]["last_run"]["error"]
        desk.git("branch", "night")
        lines_until(process, "vault: 1 indexed")


def test_watch_follows_the_schedule_of_a_repository(desk: Desk) -> None:
    """And SIGTERM ends it: nobody leads any more, and the next process may at once."""
    desk.settings(desk.source("vault", 'kind = "vault"'), FAST)
    with desk.watching() as process:
        lines_until(process, "vault: 1 indexed")
        desk.commits(5511)
        lines_until(process, "vault: 1 indexed")
        row = desk.until(lambda rows: rows["vault"]["schedule"]["last_run"]["result"] == "complete")
        leader = row["vault"]["schedule"]["leader"]
        assert leader.endswith(f":{process.pid}")
        assert row["vault"]["schedule"]["last_run"]["by"] == leader
        ended = terminate(process)
    assert ended.code == 143
    assert "syncing by schedule: vault (every 1 s)" in ended.err
    ended.without_frames()
    assert desk.listed()["vault"]["schedule"]["leader"] is None
    assert "5511" in desk.belay("ask", QUESTION).out


def test_a_second_process_takes_over_after_the_first_was_killed(desk: Desk) -> None:
    desk.settings(desk.source("vault", 'kind = "vault"'), FAST)
    with desk.watching() as first:
        lines_until(first, "vault: 1 indexed")
        with desk.watching() as second:
            rows = desk.until(lambda rows: rows["vault"]["schedule"]["leader"] is not None)
            assert rows["vault"]["schedule"]["leader"].endswith(f":{first.pid}")
            first.kill()
            desk.commits(5511)
            lines_until(second, "vault: 1 indexed")
            assert f":{second.pid}" in desk.belay("sources").out
    assert "5511" in desk.belay("ask", QUESTION).out


def test_a_server_that_is_away_costs_neither_the_start_nor_an_answer(desk: Desk) -> None:
    """OP-11: the old state answers; the error and the next try can be seen."""
    desk.settings(desk.source("vault", 'kind = "vault"'), FAST)
    with desk.watching():
        desk.until(lambda rows: bool(rows) and complete(rows["vault"]))
    desk.repository.rename(desk.folder / "away")
    process = desk.belay.start("run")
    try:
        rows = desk.until(lambda rows: waits_after_failures(rows["vault"]))
        told = rows["vault"]["schedule"]
        assert "cannot be fetched" in told["last_run"]["error"]
        assert told["next_run"] > told["last_run"]["ended"]
        assert told["last_success"] < told["last_run"]["started"]
        doctor = {row["check"]: row for row in desk.belay("doctor", "--json").json}
        assert doctor["schedules"]["state"] == "note"
        assert "vault failed" in doctor["schedules"]["message"]
    finally:
        ended = desk.belay.end(process, f"{QUESTION}\n")
    assert ended.code == 0
    assert "4400" in ended.out
    assert "not synced: " not in ended.err  # the start left it to the schedule
    assert "times in a row: " in desk.belay("sources").out


def test_other_readers_of_a_source_count_from_the_next_start_on(desk: Desk) -> None:
    """SC-16: the start leaves a source to its schedule only as long as it is read as before."""
    slow = FAST.replace('vault = "1s"', 'vault = "30d"')
    desk.settings(desk.source("vault", 'kind = "vault"'), FAST)
    with desk.watching() as process:
        lines_until(process, "vault: 1 indexed")
        desk.until(lambda rows: complete(rows["vault"]))
    vault = desk.source("vault", 'kind = "vault"')
    desk.settings(vault, slow)
    assert "Reading vault" not in desk.belay("run", typed=f"{QUESTION}\n").err
    desk.settings(vault, 'audience = "director"', slow)
    closed = desk.belay("run", typed="")
    assert "Reading vault" in closed.err
    assert "4400" not in desk.belay("ask", QUESTION, "--level", "staff").out


def test_doctor_tells_that_nobody_runs_the_syncs(desk: Desk) -> None:
    desk.settings(desk.source("vault", 'kind = "vault"'))
    assert desk.belay("sync").code == 0
    rows = {row["check"]: row for row in desk.belay("doctor", "--json").json}
    assert rows["schedules"]["state"] == "note"
    assert "1 scheduled source; nobody runs them now" in rows["schedules"]["message"]
    assert rows["schedules"]["remedy"] == "start `belay run`"
    assert "gone" not in rows["index"]["message"]


def test_watch_cannot_follow_a_repository_without_a_schedule(desk: Desk) -> None:
    desk.settings(desk.source("runbooks"), desk.source("notes"))
    ended = desk.belay("sync", "--watch")
    ended.failed(3, "'runbooks', 'notes' have no schedule", 'schedule = "*/15 * * * *"')
    assert "belay run" in ended.err
    desk.settings()
    assert desk.belay("note", "The porter answers at 112-233.", "--publish").code == 0
    desk.belay("sync", "--watch").failed(3, "nothing to watch", "belay sync --watch ~/runbooks")


def test_watch_of_a_folder_names_the_repository_that_it_cannot_follow(desk: Desk) -> None:
    desk.writes("docs/billing.md", "# Billing\n\nBilling listens on port 8081.\n")
    desk.settings(desk.source("runbooks"), folder("docs"))
    with desk.watching() as process:
        lines_until(process, "docs: 1 indexed")
        desk.writes("docs/orders.md", "# Orders\n\nOrders listens on port 8082.\n")
        lines_until(process, "docs: 1 indexed, 1 unchanged")
        assert "'runbooks' has no schedule" in terminate(process).err


def test_a_change_during_another_sync_is_not_lost(desk: Desk) -> None:
    desk.writes("docs/billing.md", "# Billing\n\nBilling listens on port 8081.\n")
    desk.settings(folder("docs"), FAST)
    with desk.watching() as process:
        lines_until(process, "docs: 1 indexed")
        with held(desk.belay.home / LOCK_FILE):
            desk.writes("docs/orders.md", "# Orders\n\nOrders listens on port 8082.\n")
            assert process.stderr is not None
            assert any(b"waiting for another sync" in line for line in process.stderr)
        lines_until(process, "docs: 1 indexed, 1 unchanged")


# Vaults


def test_a_vault_is_read_only_and_a_repository_of_its_address_is_not(desk: Desk) -> None:
    desk.settings(desk.source("vault", 'kind = "vault"'), desk.source("mine"))
    desk.writes("page.md", "# Page\n\nAnother text.\n")
    assert desk.belay("sync").code == 0
    kinds = {name: row["kind"] for name, row in desk.listed().items()}
    assert kinds == {"vault": "vault", "mine": "repo"}
    desk.belay("forget", "vault").failed(3, "'vault' is a vault", "read only", "belay.toml")
    for words in (("delete", "vault/pager.md"), ("replace", "vault/pager.md", "page.md")):
        refused = desk.belay("documents", *words)
        refused.failed(3, "'vault/pager.md'", "(vault) is read-only", "belay sync")
    assert desk.belay("forget", "mine").code == 0
    assert sorted(desk.listed()) == ["vault"]
    assert "4400" in desk.belay("ask", QUESTION).out


def test_the_sync_of_a_vault_removes_only_its_own_chunks(desk: Desk) -> None:
    """Of a page that lies in two sources, and of one that lies in the other only."""
    desk.git("branch", "work")
    desk.settings(
        desk.source("vault", 'kind = "vault"'),
        desk.source("mine", 'branch = "work"'),
        folder("docs"),
    )
    desk.writes("docs/pager.md", "# Night\n\nAt night the porter answers at 112-233.\n")
    assert desk.belay("sync").code == 0
    desk.writes("up/other.md", "# Other\n\nOther things.\n")
    desk.git("rm", "-q", "pager.md")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "without the pager")
    synced = desk.belay("sync", "vault")
    assert synced.code == 0, synced.err
    assert "1 removed" in synced.out
    rows = desk.listed()
    assert (rows["vault"]["files"], rows["mine"]["files"], rows["docs"]["files"]) == (1, 1, 1)
    assert "4400" in desk.belay("ask", QUESTION).out
    assert "112-233" in desk.belay("ask", "who answers at night?").out


def test_a_vault_that_is_no_vault_any_more_can_be_forgotten(desk: Desk) -> None:
    desk.settings(desk.source("vault", 'kind = "vault"'))
    assert desk.belay("sync").code == 0
    desk.settings()
    shutil.rmtree(desk.repository)
    assert desk.belay("forget", "vault").code == 0
    assert desk.listed() == {}
