"""Notebooks, Confluence pages and archives."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from document_kit import packed, pdf, told

from adapters.documents.archive import unpack
from adapters.documents.confluence import convert as convert_page
from adapters.documents.notebook import convert as convert_notebook
from bot.ingest.parse import ConversionFailed
from bot.ingest.reader import ReadingLimits, Refused

LIMITS = ReadingLimits()


def notebook(*cells: dict[str, Any], language: str = "python") -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": language}}})


def test_a_notebook_is_its_text_its_code_and_what_it_printed() -> None:
    text = notebook(
        {"cell_type": "markdown", "source": ["# Drill\n", "Every Tuesday."]},
        {
            "cell_type": "code",
            "source": ["# not a heading\n", "print(lag)"],
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31mlag\x1b[0m 17 ms\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "17"}},
                {"output_type": "display_data", "data": {"image/png": "aaaa"}},
                {"output_type": "error", "ename": "OSError", "evalue": "no host"},
            ],
        },
    )
    converted = convert_notebook(text)
    assert converted.markdown == (
        "# Drill\nEvery Tuesday.\n\n```python\n# not a heading\nprint(lag)\n```\n\n"
        "Output:\n\n```text\nlag 17 ms\n```\n\nOutput:\n\n```text\n17\n```\n\n"
        "Output:\n\n```text\nOSError: no host\n```"
    )
    assert told(converted) == ["pictures in outputs left out: 1"]


def test_a_long_output_is_cut() -> None:
    cell = {"cell_type": "code", "source": "x", "outputs": [{"text": "y" * 100_000}]}
    assert len(convert_notebook(notebook(cell)).markdown) < 3000


def test_a_notebook_of_the_third_format() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Drill"},
        {"cell_type": "code", "input": "1 + 1"},
    ]
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]})
    assert convert_notebook(text).markdown == "## Drill\n\n```python\n1 + 1\n```"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"cells": 3}', "[" * 100_000])
def test_what_is_no_notebook_is_told(text: str) -> None:
    with pytest.raises(ConversionFailed):
        convert_notebook(text)


STORAGE = """<title>Restart</title><body>
<ac:structured-macro ac:name="toc"/>
<ac:structured-macro ac:name="warning"><ac:parameter ac:name="title">Hot</ac:parameter>
<ac:rich-text-body><p>Never before 06:00.</p></ac:rich-text-body></ac:structured-macro>
<h2>Steps</h2><p>See <ac:link><ri:page ri:content-title="Contacts"/></ac:link> and
<ac:link><ri:page ri:content-title="X"/><ac:plain-text-link-body><![CDATA[the desk]]>
</ac:plain-text-link-body></ac:link>&nbsp;first.
<ac:structured-macro ac:name="status"><ac:parameter ac:name="title">DONE</ac:parameter>
</ac:structured-macro></p>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter>
<ac:plain-text-body><![CDATA[if [ 1 > 0 ]; then
  echo "<a> & b" | wc
fi]]></ac:plain-text-body></ac:structured-macro>
<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>
<ac:task-body>Tell Ann</ac:task-body></ac:task></ac:task-list>
<table><tbody><tr><th>service</th><th>port</th></tr><tr><td rowspan="2">gw</td><td>1</td></tr>
<tr><td>2</td></tr></tbody></table>
<ac:image><ri:attachment ri:filename="x.png"/></ac:image></body>"""


def test_macros_are_what_a_reader_sees() -> None:
    converted = convert_page(STORAGE)
    text = converted.markdown
    assert converted.title == "Restart"
    assert "> **Warning: Hot**" in text
    assert "> Never before 06:00." in text
    assert '```bash\nif [ 1 > 0 ]; then\n  echo "<a> & b" | wc\nfi\n```' in text
    assert "See Contacts and" in text
    assert "the desk" in text
    assert "DONE" in text
    assert "- [x] Tell Ann" in text
    assert "| gw | 1 |\n|  | 2 |" in text
    assert "x.png" not in text
    assert "toc" not in text


def test_an_unknown_declaration_costs_no_page() -> None:
    assert convert_page("<body><h1>Gate</h1><p><![x and words</p></body>").markdown == (
        "# Gate\n\n<![x and words"
    )


def entities(*pages: tuple[int, str, int, str], extra: str = "") -> str:
    found = [
        '<object class="Space"><id name="id">9</id><property name="name">Ops</property></object>'
    ]
    for key, title, parent, body in pages:
        above = f'<property name="parent" class="Page"><id name="id">{parent}</id></property>'
        found.append(
            f'<object class="Page" package="x"><id name="id">{key}</id>'
            f'<property name="title"><![CDATA[{title}]]></property>{above if parent else ""}'
            '<property name="space" class="Space"><id name="id">9</id></property>'
            '<property name="lastModificationDate">2026-05-01 10:00:00.000</property>'
            '<property name="contentStatus"><![CDATA[current]]></property></object>'
            f'<object class="BodyContent"><id name="id">{key + 100}</id>'
            f'<property name="body"><![CDATA[{body}]]></property>'
            f'<property name="content" class="Page"><id name="id">{key}</id></property></object>'
        )
    return f'<?xml version="1.0"?>{extra}<hibernate-generic>{"".join(found)}</hibernate-generic>'


def test_an_xml_export_is_its_pages_under_the_pages_above_them() -> None:
    code = (
        '<ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[a > b]] >'
        "</ac:plain-text-body></ac:structured-macro>"
    )
    xml = entities((1, "Payments", 0, "<p>All.</p>"), (2, "Restart / stop", 1, code))
    found = list(unpack(packed({"entities.xml": xml, "attachments/2/3/1": b"x"}), LIMITS))
    assert [(member.path, member.reason) for member in found] == [
        ("Ops/Payments", ""),
        ("Ops/Payments/Restart ∕ stop", ""),
        ("attachments/2/3/1", "attachment of an export"),
    ]
    assert "a > b" in convert_page(found[1].data.decode()).markdown
    assert found[0].updated_at is not None
    assert found[0].updated_at.year == 2026


def test_older_versions_and_drafts_are_no_pages() -> None:
    xml = entities((1, "Payments", 0, "<p>All.</p>"))
    old = xml.replace("[current]", "[draft]")
    assert list(unpack(packed({"entities.xml": old}), LIMITS)) == []


def test_entities_of_an_export_are_refused() -> None:
    xml = entities((1, "A", 0, ""), extra='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>')
    with pytest.raises(Refused, match="document type"):
        list(unpack(packed({"entities.xml": xml}), LIMITS))


def members(files: dict[str, str | bytes], limits: ReadingLimits = LIMITS) -> dict[str, str]:
    """Each path with its reason for being skipped."""
    found = unpack(packed(files), limits)
    return {member.path: f"{member.reason} {member.detail}".strip() for member in found}


def test_an_archive_is_a_folder() -> None:
    inner = packed({"a.md": "# A"})
    assert members({
        "ops/a.md": "# A",
        "ops/b.pdf": pdf("Text."),
        "ops/.env": "x",
        "__MACOSX/a.md": "x",
        "ops/x.png": b"x",
        "ops/more.zip": inner,
        "../../etc/cron.md": "x",
        "/etc/passwd.md": "x",
        "C:\\x.md": "x",
    }) == {
        "ops/a.md": "",
        "ops/b.pdf": "",
        "ops/.env": "hidden",
        "__MACOSX/a.md": "hidden",
        "ops/x.png": "format not supported .png",
        "ops/more.zip": "unsafe an archive in an archive; unpack it",
        "_/_/etc/cron.md": "unsafe its path leads out of the archive",
        "etc/passwd.md": "unsafe its path leads out of the archive",
        "C:\\x.md": "unsafe its path leads out of the archive",
    }  # fmt: skip


@pytest.mark.parametrize("page", ["cp866", "cp1251", "utf-8"])
def test_names_that_are_not_marked_are_read_in_the_page_that_fits(page: str) -> None:
    data = packed({"X" * 10 + ".md": "# A"}).replace(
        b"X" * 10, "ПланЁ".encode(page).ljust(10, b"_")
    )
    [found] = unpack(data, LIMITS)
    assert found.path.replace("_", "") == "ПланЁ.md"


def test_in_22_links_in_an_archive_are_not_followed() -> None:
    link = zipfile.ZipInfo("hosts.md")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(link, "/etc/hosts")
        archive.writestr("a.md", "# A")
    found = {item.path: item for item in unpack(stream.getvalue(), LIMITS)}
    assert (found["hosts.md"].detail, found["hosts.md"].data) == ("symbolic link", b"")
    assert found["a.md"].data == b"# A"


def test_bombs_cost_themselves_or_the_archive() -> None:
    bomb = {"ops/bomb.md": " " * 50_000_000, "ops/a.md": "# A"}
    assert members(bomb) == {
        "ops/bomb.md": "unsafe unpacks to over 200 times its size",
        "ops/a.md": "",
    }
    with pytest.raises(Refused, match=r"over a limit.*bytes unpacked"):
        members(bomb, ReadingLimits(unpacked_bytes=1_000_000))
    with pytest.raises(Refused, match="files inside, limit 5"):
        members({f"{n}.md": "x" for n in range(9)}, ReadingLimits(members=5))


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", b"PK\x05\x06", packed({"a.md": "x" * 99})[:-30]],
    ids=["a member", "an end", "cut off"],  # an archive holds the time it was made at
)
def test_a_broken_archive_is_refused(data: bytes) -> None:
    with pytest.raises(Refused, match="broken"):
        list(unpack(data, LIMITS))
