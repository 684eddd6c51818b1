"""The shared text on pycrdt: the engine that may meet bytes from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycrdt import Doc, Text, TextEvent, TransactionEvent, get_update

from chopin_core.document.splice import Splice
from chopin_core.engines import panics
from chopin_core.engines.agreement import check_agreement
from chopin_core.engines.clients import fresh_client
from chopin_core.engines.deltas import Delta, read_delta
from chopin_core.engines.edits import checked
from chopin_core.engines.encoding import write_position, write_update, write_vector
from chopin_core.engines.history import Deleted, History
from chopin_core.engines.merging import merge_updates, merged
from chopin_core.engines.neighbours import Neighbours
from chopin_core.engines.offsets import string_index, utf16_index
from chopin_core.engines.order import check_order, doubtful
from chopin_core.engines.pycrdt_positions import Places
from chopin_core.engines.pycrdt_seams import check_seams
from chopin_core.engines.wire import Position, Run, Update, read_position, read_update, read_vector
from chopin_core.errors import InvalidField, UpdateMalformed
from chopin_core.ports.documents import ROOT, Applied, SharedText


class PycrdtText:
    """A replica. Its text is kept as a string beside the library's, which counts bytes, and follows the library's deltas."""

    def __init__(self, updates: Sequence[bytes] = ()) -> None:
        whole = merged([read_update(update) for update in updates])
        self._history = History()
        self._history.check(whole)
        self._doc: Doc[Text] = Doc(client_id=fresh_client(whole.runs))
        self._shared: Text = self._doc.get(ROOT, type=Text)
        self._take(updates[0] if len(updates) == 1 else write_update(whole))
        self._history.add(whole)
        self._neighbours = Neighbours()
        self._neighbours.add(whole)
        self._text = str(self._shared)
        self._intact = True
        self._places: Places | None = None

    def _take(self, update: bytes, first: Deleted | None = None) -> None:
        with panics.refused(), self._doc.transaction():
            if first:
                self._doc.apply_update(write_update(Update({}, dict(first))))
            self._doc.apply_update(update)
        with panics.refused():
            # What two updates of a circle wait for passes History.check, and stays out of the document and of update().
            left_out = get_update(update, self._doc.get_state())
        if not left_out.startswith(b"\0"):
            raise UpdateMalformed(incomplete=True)

    @property
    def intact(self) -> bool:
        return self._intact

    @property
    def text(self) -> str:
        return self._text

    def apply(self, update: bytes) -> Applied:
        read = read_update(update)
        first = self._history.check(read)
        self._refuse_foreign(read)
        if since := doubtful(read):
            check_order(read, self._runs(since))
        if seams := self._neighbours.seams(read):
            whole = read_update(self._doc.get_update())
            known = all(self._history.knows(place) for seam in seams for place in seam if place is not None)
            check_seams(whole if known else merged([whole, read]), seams)
        self._intact = False
        produced, delta = self._observed(lambda: self._take(update, first))
        clients = self._history.typists(read)
        self._history.add(read)
        self._neighbours.add(read)
        text, splices = read_delta(self._text, delta, _Octets(self._text).characters)
        if len(self._shared) != len(text.encode()):
            raise UpdateMalformed()
        self._text = text
        self._intact = True
        return Applied(update=produced, splices=splices, clients=clients)

    def _refuse_foreign(self, update: Update) -> None:
        told = {client: self._history.known(client, runs) for client, runs in update.runs.items()}
        told = {client: runs for client, runs in told.items() if runs}
        if told:
            ours = self._runs({client: runs[0].clock for client, runs in told.items()})
            for client, runs in told.items():
                check_agreement(ours.get(client, ()), runs)

    def _runs(self, since: Mapping[int, int]) -> Mapping[int, list[Run]]:
        """What these clients wrote, each from a clock on."""
        vector = {**read_vector(self._doc.get_state()), **since}
        return read_update(self._doc.get_update(write_vector(vector.items()))).runs

    def splice(self, splices: Sequence[Splice]) -> bytes:
        after = checked(self._text, splices)

        def edit() -> None:
            text = self._text
            index = offset = 0
            with self._doc.transaction():
                for splice in splices:
                    if splice.start < index:
                        index = offset = 0
                    offset += len(text[index : splice.start].encode())
                    index = splice.start
                    removed = len(text[splice.start : splice.end].encode())
                    if removed:
                        del self._shared[offset : offset + removed]
                    if splice.insert:
                        self._shared.insert(offset, splice.insert)
                    text = text[: splice.start] + splice.insert + text[splice.end :]

        produced, _ = self._observed(edit)
        if produced:
            read = read_update(produced)
            self._history.add(read)
            self._neighbours.add(read)
        self._text = after
        return produced

    def _observed(self, change: Callable[[], None]) -> tuple[bytes, Delta]:
        """What the change added to the document (nothing, if it was known), and what it did to the text."""
        produced: list[bytes] = []
        delta: list[Delta] = []

        def on_update(event: TransactionEvent) -> None:
            produced.append(event.update)

        def on_text(event: TextEvent) -> None:
            delta.append(event.delta)  # type: ignore[attr-defined]  # pycrdt types it in prose only

        # An observer that stays keeps the document in memory for ever, so each call brings its own.
        with panics.refused():
            document = self._doc.observe(on_update)
            text = self._shared.observe(on_text)
            try:
                change()
            finally:
                self._doc.unobserve(document)
                self._shared.unobserve(text)
        if produced and self._places is not None:
            self._places.follow(produced[0])
        return (produced[0] if produced else b""), (delta[0] if delta else ())

    def state_vector(self) -> bytes:
        return self._doc.get_state()

    def diff(self, vector: bytes) -> bytes:
        # Clocks of clients unknown here, or ahead of what is known, mean nothing to this replica.
        asked = [(client, self._history.within(client, clock)) for client, clock in read_vector(vector).items()]
        with panics.refused():
            return self._doc.get_update(write_vector((client, clock) for client, clock in asked if clock))

    def update(self) -> bytes:
        return self._doc.get_update()

    def mint(self, index: int, before: bool) -> bytes:
        if not 0 <= index <= len(self._text):
            raise InvalidField("position", "lies outside the text")
        if index == (0 if before else len(self._text)):
            return write_position(Position(None, before))
        return self._place_finder().mint(utf16_index(self._text, index), before)

    def resolve(self, encoded: bytes) -> int | None:
        position = read_position(encoded)
        if position is None:
            return None
        if position.beside is None:
            return 0 if position.before else len(self._text)
        if not self._history.knows(position.beside):
            return None
        with panics.refused():
            return string_index(self._text, self._place_finder().resolve(position))

    def _place_finder(self) -> Places:
        if self._places is None:
            self._places = Places(self._doc.get_update())
        return self._places


class _Octets:
    """How many characters of a text a run of UTF-8 bytes holds, asked from left to right."""

    def __init__(self, text: str) -> None:
        self._encoded = None if text.isascii() else text.encode()
        self._at = 0

    def characters(self, octets: int) -> int:
        if self._encoded is None:
            return octets
        start, self._at = self._at, self._at + octets
        try:
            return len(self._encoded[start : self._at].decode())
        except UnicodeDecodeError:
            raise UpdateMalformed() from None


class PycrdtEngine:
    """Makes replicas on pycrdt, and positions in them."""

    def new(self) -> SharedText:
        return PycrdtText()

    def load(self, updates: Sequence[bytes]) -> SharedText:
        return PycrdtText(updates)

    def read(self, document: bytes) -> str:
        replica: Doc[Text] = Doc()
        with panics.refused():
            replica.apply_update(document)
            return str(replica.get(ROOT, type=Text))

    def merge(self, updates: Sequence[bytes]) -> bytes:
        return merge_updates(updates)

    def mint(self, replica: SharedText, index: int, *, before: bool = False) -> bytes:
        return _own(replica).mint(index, before)

    def resolve(self, replica: SharedText, position: bytes) -> int | None:
        return _own(replica).resolve(position)


def _own(replica: SharedText) -> PycrdtText:
    if not isinstance(replica, PycrdtText):
        raise TypeError("the replica was made by another engine")
    return replica
