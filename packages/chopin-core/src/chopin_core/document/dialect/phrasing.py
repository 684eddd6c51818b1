"""What stands in a paragraph, a heading or a cell: words, emphasis, links, code, math, and tags among them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from chopin_core.document.tags import read_tag

DEEPEST: Final = 24
_DOLLARS: Final = re.compile(r"\$+")
_SPARE_BRACKETS: Final = 200


def too_many_brackets(content: str) -> bool:
    """
    Whether reading this would cost far more than its length.

    For every ``[`` that begins no link the parser looks ahead, once per level of nesting it allows.
    """
    return content.count("[") > _SPARE_BRACKETS + 4 * content.count("](")


def parse_phrasing(content: str, env: dict[str, Any]) -> list[Token]:
    """
    The tokens of a line of text, flat. A tag is one ``tag`` token with the tag in ``meta``, ``{…`` one ``brace``.

    Only footnotes are looked up in ``env``: links by reference are not part of the dialect.
    """
    found: list[Token] = []
    known = {"footnotes": env["footnotes"]} if "footnotes" in env else {}
    _PHRASING.inline.parse(content, _PHRASING, known, found)
    return found


def _tag(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "<":
        return False
    tag = read_tag(state.src, state.pos, state.posMax)
    if tag is None:
        return _single(state, silent, "angle")
    if not silent:
        token = state.push("tag", "", 0)
        token.meta = {"tag": tag}
    state.pos = tag.end
    return True


def _brace(state: StateInline, silent: bool) -> bool:
    return state.src[state.pos] == "{" and _single(state, silent, "brace")


def _single(state: StateInline, silent: bool, kind: str) -> bool:
    if not silent:
        token = state.push(kind, "", 0)
        token.content = state.src[state.pos : state.pos + 2]
    state.pos += 1
    return True


def _math(state: StateInline, silent: bool) -> bool:
    opening = _DOLLARS.match(state.src, state.pos)
    if opening is None:
        return False
    # What was looked for in vain is not looked for again: by text, as the alternative text of an image is read apart.
    lacking: set[int] = state.env.setdefault("dollars", {}).setdefault(state.src, set())
    length = len(opening[0])
    closing = None
    if length not in lacking:
        closing = next((run for run in _DOLLARS.finditer(state.src, opening.end()) if len(run[0]) == length), None)
    if closing is None:
        lacking.add(length)
    if closing is None or closing.end() > state.posMax:
        if not silent:
            state.append_pending(opening[0])
        state.pos = opening.end()
        return True
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content = state.src[opening.end() : closing.start()]
    state.pos = closing.end()
    return True


class _AsWritten(MarkdownIt):
    """Leaves addresses to the rules for links."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url


def _markdown() -> MarkdownIt:
    markdown = _AsWritten("commonmark", {"maxNesting": DEEPEST})
    markdown.enable("strikethrough").disable(["autolink", "html_inline"])
    markdown.use(footnote_plugin, inline=False, move_to_end=False)
    rules: list[tuple[str, Callable[[StateInline, bool], bool]]] = [("tag", _tag), ("brace", _brace), ("math", _math)]
    for name, rule in rules:
        markdown.inline.ruler.before("backticks", name, rule)
    return markdown


_PHRASING: Final = _markdown()
