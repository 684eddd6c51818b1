"""
The shared text on y-py, for programs that use it already.

Only for bytes they trust: some updates of a few bytes make y-py end the whole process (architecture §4). What can be checked
without the library is checked as for pycrdt, so that an honest mistake gets the same answer. And only for a bounded number of
replicas: y-py 0.6.2 never frees a document once it has given out its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import y_py

from chopin_core.document.splice import Splice
from chopin_core.engines.clients import fresh_client
from chopin_core.engines.deltas import Delta, read_delta
from chopin_core.engines.edits import checked
from chopin_core.engines.encoding import write_update, write_vector
from chopin_core.engines.history import History
from chopin_core.engines.merging import merge_updates, merged
from chopin_core.engines.wire import NOTHING, Update, read_update, read_vector
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import ROOT, Applied, SharedText

LARGEST_CLIENT: Final = 2**32 - 1
"""y-py cuts longer ids off."""


class YpyText:
    """A replica. The library is told to count code points, as Python does; UTF-8, its default, it confuses with UTF-16."""

    def __init__(self, updates: Sequence[bytes] = ()) -> None:
        whole = merged([_read(update) for update in updates])
        self._history = History()
        self._history.check(whole)
        self._doc = y_py.YDoc(client_id=fresh_client(whole.runs), offset_kind="utf32")
        self._shared = self._doc.get_text(ROOT)
        y_py.apply_update(self._doc, updates[0] if len(updates) == 1 else write_update(whole))
        self._history.add(whole)
        self._text = str(self._shared)
        self._intact = True
        self._produced: list[bytes] = []
        self._deltas: list[Delta] = []
        # There is no way to take these back; they hold the two lists and not the replica, which can so be freed.
        produced, deltas = self._produced, self._deltas
        self._doc.observe_after_transaction(lambda event: produced.append(event.get_update()))
        self._shared.observe(lambda event: deltas.append(event.delta))

    @property
    def intact(self) -> bool:
        return self._intact

    @property
    def text(self) -> str:
        return self._text

    def apply(self, update: bytes) -> Applied:
        read = _read(update)
        if self._history.check(read):
            raise UpdateMalformed()  # no browser does that, and this library meets trusted bytes only
        self._intact = False
        produced, delta = self._observed(lambda: y_py.apply_update(self._doc, update))
        clients = self._history.typists(read)
        self._history.add(read)
        text, splices = read_delta(self._text, delta, lambda units: units)
        if len(self._shared) != len(text):
            raise UpdateMalformed()
        self._text = text
        self._intact = True
        return Applied(update=produced, splices=splices, clients=clients)

    def splice(self, splices: Sequence[Splice]) -> bytes:
        after = checked(self._text, splices)

        def edit(transaction: y_py.YTransaction) -> None:
            for splice in splices:
                if splice.end > splice.start:
                    self._shared.delete_range(transaction, splice.start, splice.end - splice.start)
                if splice.insert:
                    self._shared.insert(transaction, splice.start, splice.insert)

        produced, _ = self._observed(lambda: self._doc.transact(edit))
        if produced:
            self._history.add(read_update(produced))
        self._text = after
        return produced

    def _observed(self, change: Callable[[], None]) -> tuple[bytes, Delta]:
        """What the change added to the document (nothing, if it was known), and what it did to the text."""
        self._produced.clear()
        self._deltas.clear()
        change()
        produced = [update for update in self._produced if update != NOTHING]
        return (produced[0] if produced else b""), (self._deltas[0] if self._deltas else ())

    def state_vector(self) -> bytes:
        return bytes(y_py.encode_state_vector(self._doc))

    def diff(self, vector: bytes) -> bytes:
        asked = [(client, self._history.within(client, clock)) for client, clock in read_vector(vector).items()]
        return bytes(y_py.encode_state_as_update(self._doc, write_vector((client, clock) for client, clock in asked if clock)))

    def update(self) -> bytes:
        return bytes(y_py.encode_state_as_update(self._doc))


def _read(update: bytes) -> Update:
    read = read_update(update)
    if max(read.runs, default=0) > LARGEST_CLIENT:
        raise UpdateMalformed()
    return read


class YpyEngine:
    """Makes replicas on y-py."""

    def new(self) -> SharedText:
        return YpyText()

    def load(self, updates: Sequence[bytes]) -> SharedText:
        return YpyText(updates)

    def read(self, document: bytes) -> str:
        replica = y_py.YDoc()
        y_py.apply_update(replica, document)
        return str(replica.get_text(ROOT))

    def merge(self, updates: Sequence[bytes]) -> bytes:
        return merge_updates(updates)
