"""`belay add`, `belay note`, `belay documents`, `belay search`: documents that people hand in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_kit import Belay
from fpdf import FPDF

from bot.ingest.lock import held
from bot.kept import KeptDocuments
from graph.model import SourceType

ROTATE = "# Vault\n\n## Steps\n\nRotate the vault token with `vaultctl rotate --env prod`.\n"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.fixture
def belay(tmp_path: Path) -> Belay:
    return Belay(tmp_path / "home")


def file(belay: Belay, name: str, text: str | bytes) -> Path:
    path = belay.home.parent / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def found(belay: Belay, *words: str) -> list[str]:
    ended = belay("search", *words, "--json")
    assert ended.code == 0, ended.err
    return [hit["title"] for hit in ended.json]


def test_a_file_is_told_kept_found_replaced_and_deleted(belay: Belay) -> None:
    """IN-28: the same content again adds nothing."""
    added = belay("add", file(belay, "vault.md", f"{ROTATE}\nAWS_SECRET_ACCESS_KEY={KEY}\n"))
    assert "title: Vault" in added.out
    assert "Vault › Steps" in added.out
    assert "secrets masked: 1" in added.out
    again = belay("add", belay.home.parent / "vault.md")
    assert "kept already" in again.out
    [row] = belay("documents", "--json").json
    assert (row["type"], row["state"]) == ("upload", "published")
    assert found(belay, "rotate the vault token", "--type", "upload") == ["Vault"]
    assert found(belay, "rotate the vault token", "--type", "folder") == []
    # SC-11: what is shown of it holds no secret either
    assert KEY not in belay("documents", "show", row["id"]).out

    other = file(belay, "other.md", "# Ledger\n\nThe ledger closes at 17:40 in Tallinn.\n")
    assert row["id"] in belay("documents", "replace", row["id"], other).out
    assert found(belay, "when does the ledger close") == ["Ledger"]
    assert "Vault" not in found(belay, "rotate the vault token")

    with held(belay.home / "sync.lock"):  # while another process syncs nothing is half deleted
        belay("documents", "delete", row["id"]).failed(4)
    assert belay("documents", "delete", row["id"]).code == 0
    assert belay("documents", "--json").json == []
    assert found(belay, "when does the ledger close") == []  # SC-16
    assert not [*(belay.home / "uploads" / "contents").iterdir()]


def test_a_pdf_is_taken_as_a_sync_reads_it(belay: Belay) -> None:
    page = FPDF()
    page.add_page()
    page.set_font("Helvetica", size=12)
    page.multi_cell(0, 8, "The ledger gateway listens on port 8443 and restarts at night.")
    added = belay("add", file(belay, "gateway.pdf", bytes(page.output())))
    assert added.code == 0, added.err
    [row] = belay("documents", "--json").json
    assert "8443 and restarts" in belay("documents", "show", row["id"]).out
    assert "8443" in belay("ask", "which port does the ledger gateway listen on").out


def test_a_rebuilt_index_holds_what_was_handed_in(belay: Belay) -> None:
    docs = belay.home.parent / "docs"
    docs.mkdir()
    (docs / "pool.md").write_text("# Pool\n\nRestart the pool of pgbouncer with pgbctl.\n")
    assert belay("sync", docs).code == 0
    assert belay("add", file(belay, "vault.md", ROTATE)).code == 0
    rebuilt = belay("sync", "--rebuild")
    assert rebuilt.code == 0, rebuilt.err
    assert found(belay, "rotate the vault token") == ["Vault"]
    refused = belay("documents", "delete", "docs/pool.md")
    refused.failed(3, "docs/pool.md", "changed where it is")
    assert {row["id"] for row in belay("documents", "--type", "folder", "--json").json} == {
        "docs/pool.md"
    }


def test_a_note_is_found_when_it_was_published(belay: Belay) -> None:
    """IN-04: a note says what it says, in any language."""
    words = "Ночной вахтёр в Таллине отвечает по номеру 112-233."
    draft = belay("note", "--title", "Ночной вахтёр", typed=words)
    assert draft.code == 0, draft.err
    [row] = belay("documents", "--type", "manual", "--json").json
    assert (row["state"], row["title"]) == ("draft", "Ночной вахтёр")
    assert found(belay, "номер ночного вахтёра в Таллине") == []
    assert "published" in belay("documents", "publish", row["id"]).out
    assert found(belay, "номер ночного вахтёра в Таллине", "--type", "manual") == ["Ночной вахтёр"]


def test_level_and_expiry_of_an_upload_hold_whatever_its_text_says(belay: Belay) -> None:
    """RT-09: what has expired is not found, and its own words do not bring it back."""
    text = "---\naudience: staff\neffective_until: 2999-01-01\n---\n" + ROTATE
    past = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    added = belay("add", file(belay, "old.md", text), "--expires", past)
    assert added.code == 0, added.err
    assert found(belay, "rotate the vault token") == []
    added = belay("add", file(belay, "new.md", text + "\nAgain.\n"), "--level", "manager")
    assert added.code == 0, added.err
    assert found(belay, "rotate the vault token", "--level", "staff") == []
    assert found(belay, "rotate the vault token", "--level", "manager") == ["Vault"]


def test_what_the_index_does_not_take_is_undone(belay: Belay) -> None:
    """As in chats: a change that fails leaves the document as it was, answering included."""
    assert (
        belay("note", "--title", "Porter", typed="The night porter answers at 112-233.").code == 0
    )
    [draft] = belay("documents", "--json").json
    with held(belay.home / "sync.lock"):
        belay("documents", "publish", draft["id"]).failed(4)
    assert [row["state"] for row in belay("documents", "--json").json] == ["draft"]
    assert belay("documents", "publish", draft["id"]).code == 0
    other = file(belay, "porter.md", "The day porter answers at 445-566.")
    with held(belay.home / "sync.lock"):
        belay("documents", "replace", draft["id"], other).failed(4)
        belay("documents", "delete", draft["id"]).failed(4)
    assert belay("sync").code == 0
    assert found(belay, "which number does the night porter answer at") == ["Porter"]
    assert "112-233" in belay("documents", "show", draft["id"]).out
    assert len([*(belay.home / "uploads" / "contents").iterdir()]) == 1


def test_nothing_is_kept_of_what_the_index_does_not_take(belay: Belay) -> None:
    """The same words, given again, are taken."""
    vault = file(belay, "vault.md", ROTATE)
    ledger = file(belay, "ledger.md", "# Ledger\n\nThe ledger closes at 17:40 in Tallinn.\n")
    note = ("note", "--publish", "--title", "Porter", "The night porter answers at 112-233.")
    with held(belay.home / "sync.lock"):
        belay("add", vault, ledger).failed(4, "Another process is syncing", "Wait until it is done")
        belay(*note).failed(4, "Another process is syncing", "Wait until it is done")
    assert belay("documents", "--json").json == []
    assert not [*belay.home.glob("uploads/*/*")]
    added = belay("add", vault, ledger, vault)
    assert added.code == 0, added.err
    assert added.out.count("kept already, as") == 1
    assert belay(*note).code == 0
    assert found(belay, "rotate the vault token")[0] == "Vault"
    assert found(belay, "which number does the night porter answer at")[0] == "Porter"
    with held(belay.home / "sync.lock"):  # what was there before stays
        belay("add", file(belay, "pool.md", "# Pool\n\nThe pool restarts at 04:10.\n")).failed(4)
    assert len(belay("documents", "--json").json) == 3
    assert "kept already, as" in belay("add", ledger).out


def test_a_document_from_a_chat_tells_where_it_came_from_and_is_deleted_by_id(
    belay: Belay,
) -> None:
    store, link = KeptDocuments(belay.home), "https://example.slack.com/archives/C1/p17"
    about = {"draft": True, "title": "Vault", "audience": "staff"}
    store.add(SourceType.UPLOAD, "a.md", ROTATE.encode(), "slack:U1", origin=link, **about)
    store.add(SourceType.UPLOAD, "b.md", b"# Other", "telegram:7", **about)
    listed = belay("documents")
    assert link in listed.out
    assert "private chat on telegram" in listed.out
    for row in belay("documents", "--json").json:
        assert belay("documents", "delete", row["id"]).code == 0
    assert belay("documents", "--json").json == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("photo.png", b"\x89PNG\r\n", ["photo.png", "not supported"], id="picture"),
        pytest.param("empty.md", b"  \n", ["empty.md", "no text"], id="empty"),
        pytest.param("bytes.md", bytes(range(256)) * 40, ["bytes.md"], id="binary"),
        pytest.param("id_rsa", b"-----BEGIN PRIVATE KEY-----", ["id_rsa", "secret"], id="key"),
    ],
)
def test_what_cannot_be_read_is_not_kept(
    belay: Belay, name: str, content: bytes, words: list[str]
) -> None:
    belay("add", file(belay, name, content)).failed(3, *words)
    assert not [*belay.home.glob("uploads/contents/*")]


def test_wrong_words_are_explained(belay: Belay) -> None:
    path = file(belay, "vault.md", ROTATE)
    belay("add", belay.home.parent / "none.md").failed(3, "none.md", "no such file")
    belay("add", path, "--level", "emperor").failed(2, "emperor", "manager")
    belay("add", path, "--expires", "soon").failed(2, "soon", "2027-01-31")
    belay("note", typed=" ").failed(3, "empty")
    belay("documents", "delete", "0123456789").failed(3, "0123456789")
    belay("search", "pool", "--type", "letters").failed(2, "letters", "manual")
