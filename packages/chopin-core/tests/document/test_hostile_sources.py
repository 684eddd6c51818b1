"""Large sources made to be slow: every question about a text is answered, without recursion to the bottom of it."""

from __future__ import annotations

import sys

import pytest

from chopin_core.document.blocks import blocks
from chopin_core.document.canonical import canonical
from chopin_core.document.dialect.source import issues_of
from chopin_core.document.protected import protected_blocks
from chopin_core.document.validity import LARGEST_SOURCE

SIZE = 64 * 1024
"""A quarter of what a document may have, for the sake of the suite; benchmarks/dialect.py shows how the cost grows."""

UNITS = (
    *(
        "[",
        "[a](",
        "![",
        "](",
        "][",
        "[^",
        "[a]: b\n",
        "*a _b ",
        "**a ",
        "~~a ",
        "`a ",
        "$a ",
        "<",
        "<a ",
        "<a b='",
        "<a b={",
        "{",
    ),
    *("<Tab>", "<Tab>\n", "</Tab>\n", "<Callout>\n\n", '<Decision id="1">\n', '<Decision id="\n', "<Underline>a</Underline>"),
    *("<Underline>*", '<Image src="x"/>', "> ", "- ", "1. a\n", "a\n=\n", "> a\nb\n", "a|b\n-|-\n", "|", "```\n", "- ```\n"),
    *("  ```\n", "$$\n", "http://", "http://`` ", "import \n", "\\", "\\<", "&amp;", "\n", "[[a](b)", "\u200d", "😀"),
)
SOURCES = {unit: unit * (SIZE // len(unit.encode())) for unit in UNITS} | {
    "runs of all lengths": "".join("`" * length + " " for length in range(1, 350)),
    "a list in a list": "".join("  " * depth + "- x\n" for depth in range(250)),
    "a tab in a tab": "".join("  " * depth + "<Tab>\n" for depth in range(150)) + "</Tab>\n" * 150,
    "half of them closed": "<Tab>\n" * 5_000 + "</Tab>\n" * 4_500,
}


@pytest.mark.parametrize("unit", ["[", "<Tab>", "{", "> ", "a|b\n-|-\n"])
def test_the_largest_document_is_no_exception(unit: str) -> None:
    source = unit * (LARGEST_SOURCE // len(unit))
    assert len(canonical(source)) >= len(source.rstrip("\n"))
    issues_of(source)


@pytest.mark.parametrize("source", SOURCES.values(), ids=map(repr, SOURCES.keys()))
def test_every_question_is_answered(source: str) -> None:
    limit = sys.getrecursionlimit()
    # Deep enough for a parser that stops at its own limit of nesting, and for the test runner below it.
    sys.setrecursionlimit(min(limit, 1000))
    try:
        assert canonical(canonical(source)) == canonical(source)
        issues_of(source)
        blocks(source)
        protected_blocks(source)
    finally:
        sys.setrecursionlimit(limit)
