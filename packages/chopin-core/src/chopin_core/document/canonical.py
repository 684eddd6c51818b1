"""The canonical MDX of a text: what was written, with a backslash before what MDX would otherwise run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from chopin_core.document.inline_tags import whole_tags
from chopin_core.document.lines import Lines, read_lines
from chopin_core.document.literals import Reader, addresses, escaped
from chopin_core.document.spans import Span, within

_BYTE_ORDER_MARK: Final = "\ufeff"
_SPECIAL: Final = re.compile(r"[<{]")
_MODULE: Final = re.compile(r"(?:import|export) ")
_ANY: Final = re.compile(r"[<{]|^(?:import|export) ", re.MULTILINE)
_DELIMITER_ROW: Final = re.compile(r"[ \t>]*[|:-][ \t>|:-]*")
_CELL: Final = re.compile(r"(?:[^|\\]|\\.)*(?:\||\\?\Z)", re.DOTALL)


def canonical(text: str) -> str:
    """
    The text as MDX: plain line ends, one at the end (none when nothing was written), no byte order mark at the start, and
    nothing MDX would evaluate.

    Any text has one, and it is its own. It compiles with MDX and its GFM and math extensions, and holds no expression, no
    import or export, and no element but paired components. Where ``<`` and ``{`` cannot mean anything to MDX, as in code,
    they stay; where parsers might differ on that they are escaped.
    """
    text = text.lstrip(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not text:
        return ""
    if _ANY.search(text):
        text = "\n".join(_escaped(read_lines(text)))
    return text + "\n"


def source_hash(source: str) -> str:
    """``sha256:`` and the digest of a canonical source in hexadecimal."""
    return "sha256:" + hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _escaped(read: Lines) -> Iterator[str]:
    run: list[int] = []
    for number, line in enumerate(read.lines):
        apart = number in read.literal or number in read.tags
        if apart or not line.strip(" \t"):
            yield from _words(read, run)
            run = []
            yield line
        else:
            run.append(number)
    yield from _words(read, run)


def _words(read: Lines, run: list[int]) -> Iterator[str]:
    """Lines of words between two lines that are none: one paragraph, or several blocks."""
    lines = [read.lines[number] for number in run]
    if not any(_ANY.search(line) for line in lines):
        yield from lines
        return
    table = any(map(_DELIMITER_ROW.fullmatch, lines))
    reader = Reader()
    for number, line in zip(run, lines, strict=True):
        doubtful = number >= read.doubtful
        module = _MODULE.match(line) and (doubtful or table or number not in read.continued)
        units = _CELL.findall(line) if table else [line]
        yield ("\\" if module else "") + _line(units, None if doubtful else reader)


def _line(units: list[str], reader: Reader | None) -> str:
    text = "".join(units)
    left: list[Span] = []
    literal: list[Span] = []
    offset = 0
    for unit in units:
        if reader is not None:
            literal += _moved(reader.literal(unit), offset)
        left += _moved(whole_tags(unit), offset)
        offset += len(unit)
    if not _SPECIAL.search(text):
        return text
    bare = addresses(text)
    pieces: list[str] = []
    done = 0
    for match in _SPECIAL.finditer(text):
        at = match.start()
        if within(literal, at) or within(left, at):
            continue
        if text[at] == "<" and within(bare, at):
            # To the GFM extension a backslash would be one more character of the address.
            pieces += (text[done:at], "&lt;")
            done = at + 1
        elif not escaped(text, at):
            pieces += (text[done:at], "\\")
            done = at
    return "".join((*pieces, text[done:]))


def _moved(spans: list[Span], by: int) -> Iterator[Span]:
    return (Span(span.start + by, span.end + by) for span in spans)
