"""reStructuredText: headings, listings and what Sphinx adds, without reading other files."""

import pytest

from adapters.documents import create
from bot.ingest.parse import parse

PAGE = """Payments gateway
================

.. contents::

Restart with :ref:`the guide <guide>` and :cmd:`pay_gw --stop`.

.. warning:: Never restart both.

.. tabs::

   .. group-tab:: Prod

      Use the prod cluster.

.. toctree::
   :maxdepth: 2

   a
   b

Steps
-----

.. code-block:: bash
   :linenos:
   :emphasize-lines: 1

   # stop
   systemctl stop pay_gw

+-------+------+
| env   | port |
+=======+======+
| prod  | 8081 |
+-------+------+

.. include:: /etc/passwd

.. raw:: html

   <script>x</script>
"""
convert = create()[".rst"]


@pytest.mark.parametrize(
    "text",
    [
        "# Payments gateway",
        "## Steps",
        "Restart with the guide and `pay_gw --stop`.",
        "Never restart both.",
        "Use the prod cluster.",
        "# stop\nsystemctl stop pay_gw",
        "| prod | 8081 |",
    ],
)
def test_text_and_structure_survive(text: str) -> None:
    assert text in convert(PAGE).markdown


@pytest.mark.parametrize("text", ["root:", "script", "maxdepth"])
def test_other_files_raw_html_and_lists_of_pages_are_left_out(text: str) -> None:
    assert text not in convert(PAGE).markdown


def test_sections_know_their_line_on_disk() -> None:
    outline = parse("gw.rst", PAGE, create()).outline
    places = {section.path[-1]: outline.line(section.start) for section in outline.sections}
    assert places == {"Payments gateway": 1, "Steps": 22}


def test_broken_markup_is_reported_and_its_text_kept() -> None:
    converted = convert(
        "Title\n=====\n\nUse `pay_gw to stop.\n\n.. figure:: x.png\n   :bad: 1\n\n   Words\n"
    )
    assert "pay_gw to stop" in converted.markdown
    assert "Words" in converted.markdown
    assert converted.issues[0].line == 4


def test_boxes_and_languages_are_kept() -> None:
    """A warning that docutils knows is a quotation, as the ones of Sphinx and Markdown are."""
    markdown = convert(".. danger:: Hot\n\n.. code-block:: bash\n\n   # x\n").markdown
    assert markdown == "> Danger\n>\n> Hot\n\n```bash\n# x\n```"
