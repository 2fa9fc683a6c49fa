"""Dialects of Markdown: boxes stay readable and attached, code stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ingest.chunk import ChunkLimits, chunks
from bot.ingest.dialects import common_markdown
from bot.ingest.parse import parse


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('!!! warning "Hot"\n    Stop it.', "> **Warning: Hot**  \n> Stop it."),
        ("!!! danger\n    Stop it.", "> **Danger**  \n> Stop it."),
        ('??? note "More"\n    Text.', "> **Note: More**  \n> Text."),
        ("!!! note\n    a\n\n    b\nafter", "> **Note**  \n> a\n>\n> b\nafter"),
        ("!!! tip\n    !!! warning\n        x", "> **Tip**  \n> > **Warning**  \n> > x"),
        ('=== "Linux"\n\n    apt', "**Linux:**\n\napt"),
        (":::danger[Loss]\nNever.\n:::", "> **Danger: Loss**  \n> Never.\n"),
        (":::note Read this\nText.\n:::", "> **Note: Read this**  \n> Text.\n"),
        ("> [!WARNING]\n> Hot", "> **Warning**  \n> Hot"),
        ("> [!faq]- Why?\n> So", "> **Question: Why?**  \n> So"),
        ("```{warning} Hot\nNever.\n```", "> **Warning: Hot**  \n> Never.\n"),
        (":::{note}\n:name: x\nText.\n:::", "> **Note**  \n>\n> Text.\n"),
        ("```{admonition} Loss\n:class: danger\nNo.\n```", "> **Danger: Loss**  \n>\n> No.\n"),
        ("````{tip}\n```sh\nls\n```\n````", "> **Tip**  \n> ```sh\n> ls\n> ```\n"),
        ("```{tab-item} Linux\napt\n```", "**Linux:**\napt\n"),
        ("```{code-block} sh\n:linenos:\nls\n```", "```sh\n\nls\n```"),
        ("```{python}\nprint(1)\n```", "```python\nprint(1)\n```"),
        ("```{yaml}\n---\na: 1\n---\n```", "```yaml\n---\na: 1\n---\n```"),
        ("```{toctree}\na\nb\n```\nx", "\n\n\n\nx"),
        ('::: {.callout-warning title="Hot"}\nNo.\n:::', "> **Warning: Hot**  \n> No.\n"),
        ("::: {.callout-tip}\n## Do it\nYes.\n:::", "> **Tip: Do it**  \n>\n> Yes.\n"),
        ("::: {.column}\nleft\n:::", "\nleft\n"),
        ("See {ref}`the page <p>`, {kbd}`q`.", "See the page, `q`."),
        ("(label)=\n# Head", "\n# Head"),
        ("See [[Page#Part|the page]].", "See the page."),
        ("See [[Page#Part]] and ![[p.png|300]].", "See Page › Part and p.png."),
        ("a %%hidden%%, b", "a , b"),
        ("%%\nhidden\n%%\nb", "\n\n\nb"),
        ("import Tabs from '@theme/Tabs';\n\nText", "\n\nText"),
        ("# Disk\n\n[[_TOC_]]\n\nText", "# Disk\n\n\n\nText"),
        ("[TOC]\n\nText", "\n\nText"),
        ("[[toc]]\nText", "\nText"),
        ("See [[toc]] there.", "See toc there."),
        ('<TabItem value="l" label="Linux">\n\napt\n\n</TabItem>', "**Linux:**\n\napt\n\n"),
        ('<Admonition type="danger" title="Loss">\nNo', "**Danger: Loss** \nNo"),
        ("{% highlight sh %}\nls\n{% endhighlight %}", "```sh\nls\n```"),
        ("{: .warning }\nHot.", "**Warning:**\nHot."),
        ("{% raw %}a{% endraw %}", "a"),
        ("{{< warning >}}Hot{{< /warning >}}", "**Warning** Hot"),
        ('{{% tab "Linux" %}}apt', "**Linux:**apt"),
    ],
)
def test_a_dialect_as_plain_markdown(written: str, read: str) -> None:
    assert common_markdown(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n!!! note\n[[ -f x ]] && y\n%%a%%\n```",
        "~~~\n:::note\n:::\n~~~",
        "```md\n```{note}\n:::{tip}\n{ref}`x`\n```",
        "```{note}\nwithout an end, {ref} and `{ref}`x``",
        "~~~\n(x)=\n~~~",
        "text\n\n    if [[ -f x ]]; then\n    !x",
        "`[[a]]` and ``[[b]] ` c``",
        "Put <HOST> in Map<String, Int>.",
        "100%% of it and 5 %% more",
        "a ::: b",
        "{{ site.url }} and {{ .Values.port }}",
        "- item\n\n  ```\n  [[x]]\n  ```",
        "![alt](p.png) [x](y)",
        "Title\n===\n\ntext",
    ],
)
def test_code_and_what_only_looks_like_a_dialect_stay(text: str) -> None:
    assert common_markdown(text) == text


def test_a_fence_inside_a_box_stays_whole() -> None:
    written = '!!! danger "Loss"\n    Never run:\n\n    ```sh\n    [[ -f x ]] && rm x\n    ```\n'
    assert "> ```sh\n> [[ -f x ]] && rm x\n> ```" in common_markdown(written)


def test_line_numbers_stay_and_the_warning_with_its_step() -> None:
    text = '# Purge\n\nRun it.\n\n!!! warning "Before"\n    Carts are lost.\n\n## Next\n\nDone.\n'
    (chunk,) = chunks(parse("a.md", text, {}).outline, ChunkLimits())
    assert chunk.lines == (1, 10)
    assert "Run it.\n\n> **Warning: Before**  \n> Carts are lost." in chunk.text


_PIECES = st.sampled_from(
    ["!!! note", "    ", ":::", ":::tip", "```", "=== \"a\"", "> [!x]", "[[a|b]]", "%%", "\n",
     "```{note}", ":::{tab-item} x", "::: {.callout-tip}", ":class: x", "---", "(x)=", "{ref}`a`",
     "text", "{% raw %}", "{{< tab >}}", "<Tabs>", "|", "`", "~~~", "{: .x }"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40))
def test_no_line_is_ever_added_or_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert common_markdown(text).count("\n") == text.count("\n")


def test_boxes_without_end_take_no_time() -> None:
    deep = "\n".join(" " * 4 * n + "!!! note" for n in range(500))
    colons = ":::note\n" * 2000
    directives = "```{note}\n" * 20_000 + ":::\n" * 20_000
    assert common_markdown(directives).count("\n") == 40_000
    assert common_markdown(deep).count("\n") == deep.count("\n")
    assert common_markdown(colons).count("\n") == 2000
