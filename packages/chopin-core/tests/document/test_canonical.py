"""The canonical source of a text."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.canonical import canonical, source_hash

from .sources import DECISION, DOCUMENT, QUESTIONNAIRE, RESEARCH, hostile


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("", ""),
        ("\n\n", ""),
        ("text", "text\n"),
        ("text\n\n\n", "text\n"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree\n"),
        ("\ufeff\ufeffimport x", "\\import x\n"),
        ("  kept  \n\tkept\t", "  kept  \n\tkept\t\n"),
    ],
)
def test_line_ends_are_plain_and_there_is_one_at_the_end(text: str, source: str) -> None:
    assert canonical(text) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a < b", "a \\< b"),
        ("a <b> c", "a \\<b> c"),
        ("<div>", "\\<div>"),
        ("<!-- note -->", "\\<!-- note -->"),
        ("{x} and }", "\\{x} and }"),
        ("import x from 'y'", "\\import x from 'y'"),
        ("text\n\nexport const a = 1", "text\n\n\\export const a = 1"),
        ("# h\nimport x", "# h\n\\import x"),
        ("<https://example.com>", "\\<https://example.com>"),
        ("    indented {x}", "    indented \\{x}"),
        ("[link](<with space>)", "[link](\\<with space>)"),
    ],
)
def test_what_mdx_would_run_gets_a_backslash(text: str, source: str) -> None:
    assert canonical(text) == source + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "`<b> {x}`",
        "``a ` <b>``",
        "text\nimport x is how modules begin",
        "importing is a word",
        "> import x",
        "```\n<b>{x}\n```",
        "~~~js {1}\n<b>\n~~~",
        "```\n<b> without an end",
        "- a\n\n  ```\n  <b>\n  ```",
        "> ```\n> {x}\n> ```",
        "$$\n\\frac{a}{b}\n$$",
        "$x_{1}$",
        "already \\< and \\{",
        "| a |\n|---|\n| `<b>` |",
    ],
)
def test_what_mdx_leaves_alone_is_left_alone(text: str) -> None:
    assert canonical(text) == text + "\n"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("\\\\<b", "\\\\\\<b"),
        ("costs $5 and {x} $6", "costs $5 and \\{x} $6"),
        ("`a ``{x}` b", "`a ``{x}` b"),
        ("a ` b {x}", "a ` b \\{x}"),
        ("| a | b |\n|---|---|\n| `x|{y}` | b |", "| a | b |\n|---|---|\n| `x|\\{y}` | b |"),
        ("http://x.y/<b>", "http://x.y/&lt;b>"),
        ("[a](b`c) `{x}`", "[a](b`c) `\\{x}`"),
        ("- ```\n{x}\n```", "- ```\n\\{x}\n```"),
    ],
)
def test_where_readers_might_differ_an_escape_is_right_for_all(text: str, source: str) -> None:
    assert canonical(text) == source + "\n"


@pytest.mark.parametrize(
    "block",
    [
        DECISION,
        QUESTIONNAIRE,
        RESEARCH,
        '<Callout id="x" type="note">\n\ntext\n\n</Callout>',
        '<Tabs id="x">\n  <Tab id="y" label="z">\n    text\n  </Tab>\n</Tabs>',
        "<Callout\n  id='x'\n  type='note'\n>\ntext\n</Callout>",
        '- a\n\n  <Callout id="x" type="note">\n  text\n  </Callout>',
        "words <Underline>*under* [line](https://x.y)!</Underline> words",
        'an <Image src="https://x.y/z.png" alt="{<}" /> here',
    ],
)
def test_components_that_are_whole_stay(block: str) -> None:
    assert canonical(f"before\n\n{block}\n\nafter") == f"before\n\n{block}\n\nafter\n"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("<Callout>\n\nnever closed", "\\<Callout>\n\nnever closed"),
        ("closed\n\n</Callout>", "closed\n\n\\</Callout>"),
        ("<Tabs>\n<Callout>\n</Tabs>", "<Tabs>\n\\<Callout>\n</Tabs>"),
        ("- <Tabs>\n\n</Tabs>", "- \\<Tabs>\n\n\\</Tabs>"),
        ("<Callout>text</Callout>", "\\<Callout>text\\</Callout>"),
        ("<Callout id={x}>\n</Callout>", "\\<Callout id=\\{x}>\n\\</Callout>"),
        ("<Callout visual>\n</Callout>", "\\<Callout visual>\n\\</Callout>"),
        ("<Unknown>\n</Unknown>", "\\<Unknown>\n\\</Unknown>"),
        ("*<Underline>a*</Underline>", "*\\<Underline>a*\\</Underline>"),
        ("\\<Underline>a</Underline>", "\\<Underline>a\\</Underline>"),
        ("<Underline>a\n", "\\<Underline>a"),
    ],
)
def test_components_that_are_not_whole_become_words(text: str, source: str) -> None:
    assert canonical(text) == source + "\n"


def test_a_document_of_everything_is_its_own_source() -> None:
    assert canonical(DOCUMENT) == DOCUMENT


@given(hostile | st.text())
def test_any_text_has_a_source_and_that_is_its_own(text: str) -> None:
    source = canonical(text)
    assert canonical(source) == source
    assert source == "" or (source.endswith("\n") and not source.endswith("\n\n"))
    assert "\r" not in source


@given(hostile)
def test_nothing_is_lost_and_nothing_added_but_escapes(text: str) -> None:
    def bare(source: str) -> str:
        return source.replace("\\", "").replace("&lt;", "<").rstrip("\n")

    assert bare(canonical(text)) == bare(text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


@given(st.text(st.characters(exclude_characters="<{", exclude_categories=["Cs"])))
def test_text_without_special_characters_is_taken_as_it_is(text: str) -> None:
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    assert canonical(text).replace("\\import ", "import ").replace("\\export ", "export ") in ("", lines + "\n")


def test_the_hash_is_of_the_bytes() -> None:
    assert source_hash("é\n") == "sha256:" + hashlib.sha256("é\n".encode()).hexdigest()
