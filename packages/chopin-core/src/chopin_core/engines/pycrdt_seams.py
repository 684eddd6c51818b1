"""Whether the neighbours that an update names where authors met who did not know each other can lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from pycrdt import Doc, Text

from chopin_core.engines import panics
from chopin_core.engines.encoding import write_update
from chopin_core.engines.neighbours import Seam
from chopin_core.engines.pycrdt_positions import resolve
from chopin_core.engines.wire import Id, Position, Run, Update
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import ROOT

_LONGEST: Final = 10_000
"""Dead characters in a row beyond which they stay dead, and count as one place: their number is free to claim."""


def check_seams(known: Update, seams: Sequence[Seam]) -> None:
    """
    Somewhere the two lay side by side: whoever knew both, and what their authors knew, had nothing between them. So what
    ``left`` was typed before lies no farther to the left than ``right``, and what ``right`` was typed behind no farther to the
    right than ``left``.

    Where this is broken the libraries place the character here or there, depending on what arrived before: the document
    would say one thing to those who are there and another to whoever loads it. ``known`` is all that is known; its order is
    read from a copy in which nobody is dead, so it costs time by the document. Honest people need it seldom.

    Raises:
        UpdateMalformed: it is broken.
    """
    order = _Order(known)
    for seam in seams:
        behind = -1 if seam.behind is None else order.place(seam.behind)
        before = inf if seam.before is None else order.place(seam.before)
        left, right = order.place(seam.left), order.place(seam.right)
        if seam.left == seam.right or not behind <= left <= right <= before:
            raise UpdateMalformed()


class _Order:
    def __init__(self, known: Update) -> None:
        document: Doc[Text] = Doc()
        self._shared = document.get(ROOT, type=Text)
        runs = {client: [_alive(run) for run in runs] for client, runs in known.runs.items()}
        with panics.refused():
            document.apply_update(write_update(Update(runs, {})))

    def place(self, character: Id) -> int:
        with panics.refused():
            return resolve(self._shared, Position(character, before=False))


def _alive(run: Run) -> Run:
    return run._replace(text="x" * run.length) if run.text is not None or run.length <= _LONGEST else run
