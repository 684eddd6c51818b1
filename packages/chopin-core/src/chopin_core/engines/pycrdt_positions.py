"""Positions in a shared text on pycrdt, exact for every script."""

from __future__ import annotations

from pycrdt import Assoc, Doc, StickyIndex, Text

from chopin_core.engines.encoding import write_position, write_update
from chopin_core.engines.wire import Position, Update, read_update
from chopin_core.ports.documents import ROOT


class Places:
    """
    A copy of a document in which every UTF-16 unit is one letter.

    To find a place, the library counts UTF-8 bytes up to the run of characters and UTF-16 units inside it. In a document
    beyond ASCII that is neither; in this copy both are the same.
    """

    def __init__(self, update: bytes) -> None:
        self._doc: Doc[Text] = Doc()
        self._shared = self._doc.get(ROOT, type=Text)
        self.follow(update)

    def follow(self, update: bytes) -> None:
        self._doc.apply_update(write_update(_lettered(read_update(update))))

    def mint(self, units: int, before: bool) -> bytes:
        return mint(self._shared, units, before)

    def resolve(self, position: Position) -> int:
        return resolve(self._shared, position)


def mint(shared: Text, units: int, before: bool) -> bytes:
    return shared.sticky_index(units, Assoc.BEFORE if before else Assoc.AFTER).encode()


def resolve(shared: Text, position: Position) -> int:
    return StickyIndex.decode(write_position(position), shared).get_index()


def _lettered(update: Update) -> Update:
    return Update(
        {
            client: [run if run.text is None or run.text.isascii() else run._replace(text="x" * run.length) for run in runs]
            for client, runs in update.runs.items()
        },
        update.deleted,
    )
