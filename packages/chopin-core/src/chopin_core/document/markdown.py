"""
The Markdown our documents are written in: CommonMark as MDX reads it, with tables, footnotes, ``$`` math and component tags.

MDX knows no raw HTML, no ``<autolinks>`` and no code by indentation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.fence import make_fence_rule
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from chopin_core.document.tags import Tag, read_tag

AcceptTag: TypeAlias = Callable[[Tag], bool]
_INTERRUPTS: Final = ["paragraph", "reference", "blockquote", "list", "footnote_def"]

DEEPEST: Final = 60
"""Blocks nested deeper are not read. The dialect allows 20 levels, and a list item counts for two here."""


def parse_blocks(text: str, accept: AcceptTag, env: dict[str, Any] | None = None) -> list[Token]:
    """
    The blocks of a text with plain line ends, as a flat list of opening and closing tokens; what stands in a line is not read.

    A line of nothing but tags that are all accepted is one ``tags`` token, with the tags in ``meta``. Elsewhere ``<`` is text.
    The parser leaves the definitions of links and footnotes in ``env``.
    """
    env = {} if env is None else env
    env["accept"] = accept
    return _BLOCKS.parse(text, env)


def _tag_lines(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    at = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith("<", at, state.eMarks[start_line]):
        return False
    # Inside a list or a quotation the next line begins with the marks of these, so there a tag must end on its line.
    stop = len(state.src) if state.level == 0 else state.eMarks[start_line]
    tags: list[Tag] = []
    line = start_line
    while at < state.eMarks[line]:
        tag = read_tag(state.src, at, stop)
        if tag is None or not state.env["accept"](tag):
            return False
        tags.append(tag)
        while tag.end > state.eMarks[line]:
            line += 1
        at = state.skipSpaces(tag.end)
    if silent:
        return True
    state.line = line + 1
    token = state.push("tags", "", 0)
    token.map = [start_line, state.line]
    token.meta = {"tags": tags}
    return True


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": DEEPEST})
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["autolink", "code", "html_block", "html_inline"])
    markdown.use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
    markdown.block.ruler.before("table", "tags", _tag_lines, {"alt": _INTERRUPTS})
    math = make_fence_rule(markers=("$",), token_type="math", disallow_marker_in_info=("$",), min_markers=2)
    markdown.block.ruler.after("fence", "math", math, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return markdown


_BLOCKS: Final = _markdown().disable(["inline", "text_join"])
