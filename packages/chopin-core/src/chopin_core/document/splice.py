"""One replacement in a text: the step that edits, deltas and rewrites are made of."""

from __future__ import annotations

from collections.abc import Iterable

import attrs


@attrs.frozen
class Splice:
    """``text[start:end]`` became ``insert``. Offsets are Python string indices; several are applied left to right."""

    start: int
    end: int
    insert: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text after the splices, each in the coordinates left by the ones before it."""
    for splice in splices:
        text = text[: splice.start] + splice.insert + text[splice.end :]
    return text
