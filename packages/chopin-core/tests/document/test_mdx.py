"""The canonical source before the real MDX compiler: it compiles, runs nothing, and says what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from chopin_core.document.canonical import canonical
from chopin_core.document.components import FLOW, TEXT
from chopin_core.document.dialect.source import issues_of

from .sources import DECISION, DOCUMENT, QUESTIONNAIRE, RESEARCH, hostile_sources
from node.run import node

CODE = ["<T>{}", "a < b && {c}", "\\{kept\\}", "import x", "</Callout>", "<!-- x -->", "{`a`}"]


def compiled(sources: Sequence[str], *, extensions: bool = True) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = node("compile.mjs", {"sources": sources, "extensions": extensions})
    return answers


def harmless(answer: dict[str, Any]) -> bool:
    return answer["error"] is None and not answer["executable"] and FLOW | TEXT >= set(answer["elements"])


def test_the_compiler_would_run_what_is_not_escaped() -> None:
    """The witness: without it the other tests could not fail."""
    raw = ["{x}", "import x from 'y'", "<b>x</b>", "a <b", "<Callout>", "<Note a={1} />"]
    assert not any(map(harmless, compiled(raw)))


@pytest.mark.parametrize("seed", range(3))
def test_any_text_compiles_and_runs_nothing(seed: int) -> None:
    texts = hostile_sources(seed, 1500)
    sources = list(map(canonical, texts))
    for text, source, answer in zip(texts, sources, compiled(sources), strict=True):
        assert harmless(answer), (text, source, answer)


CORNERS = [
    # Lists that MDX takes for text, or the other way round, and the fences and tags in them.
    "é(\n> 2) $$<Underline>\n- ](\\a<Underline>*u*</Underline>===\n",
    "&lt;\n1. 2) ````</Callout>---\n<Tabs>\n\n    [$",
    "[a]: _===\n2) ```http://x.y/}--></Callout>(\n$$\n\n  ~~~",
    "é(\n> 2) <Callout>\n>    </Callout>\n",
    "-       ```\n  {x}\n  ```\n",
    "-      <Callout>\n  {x}\n  </Callout>\n",
    "text\n2) ```\n   {x}\n   ```\n",
    "- ```\n{x}\n```\n{y}",
    # What begins a block to MDX, so that an import may follow.
    "- x\na\n+\nimport y",
    "a\n    # h\nimport x",
    "a\n    =\nimport y",
    "a | b\n-|-\nimport x",
    "<Underline></Underline>\nimport y",
    "<Underline> </Underline>\nimport y",
    "> [a]: <Callout>$$<Callout></Callout>\nimport y",
    "\ufeffimport x",
    # Backticks and dollars that a link, a label or an address swallows.
    "[a](b`c) {x} `d`",
    "[a][b`c] {x} `d`\n\n[b`c]: /url",
    "[^b`c] {x} `d`\n\n[^b`c]: text",
    "http://x.y/`a {b} `c`",
    "www.z.w\x85😀[<Tabs>",
    "http://x.y/|<Tabs>\n-      ",
    "`a\n`{x}` b",
    "$5 is\n`a$b {x}`",
    "| a |\n|---|\n| `x|{y}` |",
    # Tags that are only half there.
    "\\<Underline>*u*</Underline>'|\\",
    '\\<Image alt="{x}" />',
    "www.z.w<Underline>u</Underline>",
    "<Underline>[a</Underline>](b)",
    "**a <Underline>a**b</Underline>",
    "<Tab>\n" * 3000 + "</Tab>\n" * 3000,
]
"""Found by the test above with other seeds, or by reading MDX's parser beside ours."""


def test_corners_where_parsers_differ_are_harmless() -> None:
    for text, answer in zip(CORNERS, compiled(list(map(canonical, CORNERS))), strict=True):
        assert harmless(answer), (text, canonical(text), answer)
        assert canonical(canonical(text)) == canonical(text)


def test_without_its_extensions_mdx_is_as_harmless() -> None:
    # Math is an extension; an MDX without it reads braces between dollars.
    texts = [text for text in hostile_sources(99, 2000) if "$" not in text]
    for text, answer in zip(texts, compiled(list(map(canonical, texts)), extensions=False), strict=True):
        assert harmless(answer), (text, answer)


def test_code_and_math_say_what_was_written() -> None:
    frames = [
        "`{}`",
        "x ``{}`` y",
        "```\n{}\n```",
        "- a\n\n  ```\n  {}\n  ```",
        "> ~~~\n> {}\n> ~~~",
        "| a |\n|---|\n| ``{}`` |",
    ]
    cases = [(code, frame.replace("{}", code)) for frame in frames for code in CODE if "`" not in code or "`{}`" != frame]
    cases += [(code, f"$$\n{code}\n$$") for code in CODE] + [("\\frac{a}{b}", "a $\\frac{a}{b}$ b")]
    for (code, text), answer in zip(cases, compiled([canonical(text) for _, text in cases]), strict=True):
        assert harmless(answer), text
        assert answer["literals"] == [code], text


def test_components_reach_the_compiler_as_elements() -> None:
    blocks = [DECISION, QUESTIONNAIRE, RESEARCH, DOCUMENT]
    answers = compiled(list(map(canonical, blocks)))
    assert all(map(harmless, answers))
    assert [len(answer["elements"]) for answer in answers] == [2, 4, 1, 5]


def test_a_source_without_issues_is_canonical_and_compiles() -> None:
    sources = [source for source in hostile_sources(7, 6000) if "\r" not in source and not issues_of(source)]
    assert len(sources) > 50
    for source, answer in zip(sources, compiled(sources), strict=True):
        assert canonical(source).rstrip("\n").replace("\\< ", "< ") == source.rstrip("\n").replace("\\< ", "< ")
        assert harmless(answer), (source, answer)
