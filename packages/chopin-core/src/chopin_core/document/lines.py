"""
What MDX makes of each line of a text: code or math, tags of components, or words.

MDX's parser and ours agree on plain documents and differ in rare corners of lists and quotations. There the answer is
*words*, which escaping makes harmless whichever way MDX reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import attrs
from markdown_it.token import Token

from chopin_core.document.components import FLOW, stands_alone
from chopin_core.document.elements import Element, pair, starts
from chopin_core.document.fences import MAYBE_FENCE, certain_fences, opens_containers, place, stays
from chopin_core.document.markdown import parse_blocks

_ROUNDS: Final = 4
_NEEDS_PARSING: Final = re.compile(rf"</?(?:{'|'.join(sorted(FLOW))})\b|^(?:import|export) ", re.MULTILINE)
_MAY_BEGIN: Final = re.compile(r"[ \t>]*(?: {4}|\t|<|[-+*](?:[ \t]|$)|\d{1,9}[.)])")


@attrs.frozen
class Lines:
    """
    The lines of a text without their ends. From ``doubtful`` on nobody can say where code begins.

    ``literal`` lines are code or math, ``tags`` lines hold tags of paired components and nothing else, ``continued`` lines
    go on with a paragraph.
    """

    lines: Sequence[str]
    literal: frozenset[int]
    tags: frozenset[int]
    continued: frozenset[int]
    doubtful: int


@attrs.frozen
class Parsed:
    """The lines of a text, and what was parsed to tell them apart."""

    lines: Lines
    tokens: Sequence[Token]
    elements: Sequence[Element]


def read_lines(text: str) -> Lines:
    """The lines of a text whose line ends are plain; parsed only where a look does not tell."""
    return _at_a_glance(text) or parse_lines(text).lines


def _at_a_glance(text: str) -> Lines | None:
    """The lines of a text without components or modules, whose fences are all plain."""
    fences = certain_fences(text)
    if fences is None:
        return None
    literal: set[int] = set()
    done = number = 0
    for start, end in (*fences, (len(text), len(text))):
        if _NEEDS_PARSING.search(text, done, start):
            return None
        first = number + text.count("\n", done, start)
        number = first + text.count("\n", start, end)
        if start < end:
            literal.update(range(first, number + 1))
        done = end
    lines = text.split("\n")
    return Lines(lines, frozenset(literal), frozenset(), frozenset(range(1, len(lines))), len(lines))


def parse_lines(text: str) -> Parsed:
    """The lines of a text whose line ends are plain."""
    lines = text.split("\n")
    refused: set[int] = set()
    for _ in range(_ROUNDS):
        tokens = parse_blocks(text, lambda tag: stands_alone(tag) and tag.start not in refused)
        literal, doubtful = _literal_lines(lines, tokens)
        elements, alone = pair(tokens)
        alone += [line for element in elements for line in _doubted(lines, element, doubtful)]
        if not alone:
            return Parsed(_answer(lines, tokens, literal, doubtful), tokens, elements)
        refused.update(starts({id(line): line for line in alone}.values()))
    tokens = parse_blocks(text, lambda tag: False)
    literal, doubtful = _literal_lines(lines, tokens)
    # Among words a tag may still stand alone on its line, and end a paragraph.
    return Parsed(attrs.evolve(_answer(lines, tokens, literal, doubtful), continued=frozenset()), tokens, [])


def _answer(lines: Sequence[str], tokens: Sequence[Token], literal: frozenset[int], doubtful: int) -> Lines:
    tags: set[int] = set()
    continued: set[int] = set()
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "paragraph_open" and token.map:
            continued.update(_continuations(lines, *token.map))
    for token in tokens:
        if token.type == "tags" and token.map:
            tags.update(range(*token.map))
    return Lines(lines, literal, frozenset(tags), frozenset(continued), doubtful)


def _continuations(lines: Sequence[str], start: int, stop: int) -> Iterator[int]:
    for number in range(start, stop):
        if number > start:
            yield number
        # To MDX a block may begin at an indent, a tag, or a mark that begins none here; and an escape may make a definition.
        if (number > start and _MAY_BEGIN.match(lines[number])) or "]:" in lines[number]:
            return


def _literal_lines(lines: Sequence[str], tokens: Sequence[Token]) -> tuple[frozenset[int], int]:
    """The lines of code and math, up to the first place where it is doubtful what is code."""
    literal: set[int] = set()
    tags: set[int] = set()
    doubtful = len(lines)
    for token in tokens:
        if token.map and token.type in ("fence", "math"):
            start, stop = token.map
            if not _certain(lines, start, stop, token.markup):
                doubtful = min(doubtful, start)
            literal.update(range(start, stop))
        elif token.map and token.type == "tags":
            tags.update(range(*token.map))
    for number, line in enumerate(lines[:doubtful]):
        if number not in literal and number not in tags and MAYBE_FENCE.fullmatch(line):
            doubtful = number
            break
    return frozenset(number for number in literal if number < doubtful), doubtful


def _certain(lines: Sequence[str], start: int, stop: int, markup: str) -> bool:
    """Whether a fence begins and ends where it does for every reader of lists and quotations."""
    before = lines[start][: lines[start].index(markup)]
    if not before:
        return True  # only a line of its own kind ends a fence at the margin
    prefix = place(before)
    if not opens_containers(before, lines[start - 1] if start else "") or not stays(lines[start + 1 : stop], prefix):
        return False
    end = lines[stop - 1].removeprefix(prefix).strip(" \t")
    if stop - 1 > start and end.startswith(markup) and not end.strip(markup[0]):
        return True
    # Left open, it ends with the item or quotation that begins on its line, and so before the next word at the margin.
    return bool(before.strip()) and not "".join(lines[stop : stop + 1])[:1].isspace()


def _doubted(lines: Sequence[str], element: Element, doubtful: int) -> list[Token]:
    """The lines of an element's tags, where some reader may put one of them into another container than the other."""
    first, last = element.opening.map, element.closing.map
    assert first is not None and last is not None
    start, stop = first[0], last[1]
    before = lines[start][: lines[start].index("<")]
    held = not before or (
        opens_containers(before, lines[start - 1] if start else "") and stays(lines[start + 1 : stop], place(before))
    )
    return [] if held and stop <= doubtful else [element.opening, element.closing]
