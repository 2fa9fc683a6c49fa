"""Tables in files: each row can be read without the rest of its table."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from document_kit import added, cut, excel, part, repacked, sheet, told

from adapters.documents.separated import convert as convert_text
from adapters.documents.xlsx import convert
from bot.ingest.reader import ReadingLimits, Refused

LIMITS = ReadingLimits()
DAY = dt.datetime(2026, 5, 1, tzinfo=dt.UTC).replace(tzinfo=None)  # Excel knows no time zones


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    lines = [["service", "port", "note"], ["gw", "8080", "a b"], ["db", "5432", "x"]]
    text = "\n".join(delimiter.join(line) for line in lines) + "\n"
    assert rows_of(convert_text(text, 100, 10).markdown)[2:] == [
        ["gw", "8080", "a b"],
        ["db", "5432", "x"],
    ]


def test_commas_inside_values_do_not_count() -> None:
    text = "service;cost;note\ngw;1,50;a, b, c\ndb;2,75;d, e, f\n"
    assert rows_of(convert_text(text, 100, 10).markdown)[2] == ["gw", "1,50", "a, b, c"]


def test_quotes_line_breaks_and_bars_stay_in_their_cell() -> None:
    text = 'name,what\n"gw","first line\nsecond, ""quoted"" | bar"\ndb,x\n'
    converted = convert_text(text, 100, 10)
    assert '| gw | first line second, "quoted" \\| bar |' in converted.markdown
    assert [anchor for _, anchor in converted.anchors][-1] == "L4"


def test_a_quotation_mark_without_its_end_swallows_no_rows() -> None:
    rows = "".join(f"host-{n},{n}\n" for n in range(300))
    converted = convert_text(f'host,rack\n"a, b",0\n"open,7\n{rows}', 1000, 10)
    assert rows_of(converted.markdown)[-1][:2] == ["host-299", "299"]
    assert [(issue.line, issue.message) for issue in converted.issues] == [
        (3, "a quotation mark without its end was read as text")
    ]


def test_a_value_of_several_lines_at_the_end_is_one_cell() -> None:
    converted = convert_text('host,note\ndb,"first\nsecond"\n', 100, 10)
    assert rows_of(converted.markdown)[2:] == [["db", "first second"]]
    assert converted.issues == ()


def test_a_long_text_in_a_cell_is_read_to_its_end() -> None:
    text = "Wait for the queue. " * 400 + "Then call the owner."
    found = cut(
        convert(excel(lambda book: sheet(book, "Steps", [["step", "text"], ["a", text]])), LIMITS)
    )
    assert "Then call the owner." in found[-1].text
    assert "Then call the owner." in convert_text(f"step,text\na,{text}\n", 100, 10).markdown


def test_the_line_that_tells_excel_the_delimiter_is_no_row() -> None:
    converted = convert_text("sep=;\na;b\n1;2\n", 100, 10)
    assert rows_of(converted.markdown)[0] == ["a", "b"]
    assert converted.anchors[-1][1] == "L3"


def test_numbers_are_no_header() -> None:
    assert rows_of(convert_text("gw,8080\ndb,5432\n", 100, 10).markdown)[0] == [
        "column 1",
        "column 2",
    ]


def test_a_wide_table_names_the_column_of_each_value() -> None:
    names = [f"a rather long name of column {n}" for n in range(30)]
    text = ",".join(names) + "\n" + ",".join(f"value{n}" for n in range(30)) + "\n"
    line = convert_text(text, 100, 100).markdown.split("\n")[0]
    assert line.startswith("- a rather long name of column 0: value0; ")


def test_rows_and_columns_over_the_limit_are_told() -> None:
    text = "a,b,c\n" + "x,y,z\n" * 20
    converted = convert_text(text, 10, 2)
    assert told(converted) == [
        "rows after the first 10 were not read",
        "columns after the first 2 were not read",
    ]


def test_in_02_each_chunk_of_a_sheet_has_the_header_and_its_place() -> None:
    """IN-02"""
    head = ["service", "prod port", "staging port", "owner"]
    rows = [[f"svc-{n:03}", 8000 + n, 9000 + n, f"team {n}"] for n in range(1, 200)]
    found = cut(convert(excel(lambda book: sheet(book, "Ports", [head, *rows])), LIMITS))
    assert len(found) > 3
    for chunk in found:
        assert "| service | prod port | staging port | owner |" in chunk.text
        assert chunk.heading == ("Ports",)
    place = next(chunk.anchor for chunk in found if "svc-083" in chunk.text)
    assert place.startswith("Ports!A")


def test_values_are_what_people_see() -> None:
    def write(book: Any) -> None:
        made = sheet(book, "Values", [["name", "value"]])
        values: list[tuple[Any, str]] = [
            (DAY, "yyyy-mm-dd"),
            (DAY + dt.timedelta(hours=6, minutes=15), "d.m.yy hh:mm"),
            (dt.time(6, 15), "hh:mm"),
            (0.255, "0.0%"),
            (42, "00000"),
            (0.1 + 0.2, "General"),
            (True, "General"),
        ]
        for row, (value, shape) in enumerate(values, start=1):
            made.write(row, 0, f"v{row}")
            made.write(row, 1, value, book.add_format({"num_format": shape}))
        made.write_formula(8, 1, "=1+1", None, 2)
        made.write(8, 0, "v8")

    rows = rows_of(convert(excel(write), LIMITS).markdown)
    assert [row[1] for row in rows[2:]] == [
        "2026-05-01", "2026-05-01 06:15", "06:15", "25.5%", "00042", "0.3", "TRUE", "2",
    ]  # fmt: skip


def test_formulas_that_were_never_computed_are_told() -> None:
    def write(book: Any) -> None:
        sheet(book, "S", [["a", "b"], ["x", 1]]).write_formula(2, 1, "=B2*2", None, "")

    assert told(convert(excel(write), LIMITS)) == [
        "formulas without a saved value: 1; open the file in Excel and save it"
    ]


def test_hidden_sheets_and_charts_are_told_and_not_read() -> None:
    def write(book: Any) -> None:
        sheet(book, "Open", [["a", "b"], ["x", "y"]])
        sheet(book, "Salaries", [["secret", "words"]]).hide()
        sheet(book, "Deep", [["secret", "words"]]).very_hidden()
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Open!$A$1:$A$2"})
        book.add_chartsheet("Curve").set_chart(chart)

    converted = convert(excel(write), LIMITS)
    assert "secret" not in converted.markdown
    assert told(converted) == [
        "hidden sheet 'Salaries' left out",
        "hidden sheet 'Deep' left out",
        "chart 'Curve' left out",
    ]


def test_captions_blank_rows_and_a_second_table() -> None:
    rows = [["Ports of production"], ["service", "port"], ["gw", 8080], [], ["db", 5432], [],
            ["person", "phone"], ["Ann", "4455"]]  # fmt: skip
    text = convert(excel(lambda book: sheet(book, "S", rows)), LIMITS).markdown
    assert text.count("| service | port |") == 2
    assert "| person | phone |\n| --- | --- |\n| Ann | 4455 |" in text
    assert "Ports of production\n\n| service" in text


def test_a_sheet_that_is_all_rows_is_read_up_to_the_limit() -> None:
    few = ReadingLimits(rows=50)
    data = excel(lambda book: sheet(book, "Big", [["a", "b"], *([["x", "y"]] * 100)]))
    assert told(convert(data, few)) == ["sheet 'Big': rows after the first 50 were not read"]


def test_a_workbook_with_macros_is_read_and_they_are_not() -> None:
    data = excel(lambda book: sheet(book, "S", [["a", "b"], ["x", "y"]]))
    with_macro = added(data, {"xl/vbaProject.bin": b"Attribute VB_Name"})
    assert "| x | y |" in convert(with_macro, LIMITS).markdown


def test_no_entity_of_a_workbook_is_resolved() -> None:
    data = excel(lambda book: sheet(book, "S", [["a", "b"], ["x", "y"]]))
    strings = part(data, "xl/sharedStrings.xml").decode()
    evil = strings.replace("?>", '?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]>', 1)
    with pytest.raises(Refused, match="document type"):
        convert(repacked(data, xl__sharedStrings__xml=evil.encode()), LIMITS)
