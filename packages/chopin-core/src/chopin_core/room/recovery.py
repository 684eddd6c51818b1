"""Turning what storage returned into a document that may be opened, or refusing to."""

from __future__ import annotations

import attrs

from chopin_core.counters import Epoch
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.errors import CorruptRecord, UpdateMalformed
from chopin_core.ports.collaboration import Snapshot, StoredChannel
from chopin_core.ports.documents import DocumentEngine, SharedText
from chopin_core.sidecar import Sidecar, restore


@attrs.frozen(kw_only=True)
class Recovered:
    """A document as it was last durable."""

    epoch: Epoch
    live: SharedText
    sidecar: Sidecar


def recover(stored: StoredChannel, engine: DocumentEngine) -> Recovered | None:
    """
    The document of a stored channel, or None for one that was never opened (no snapshot, no journal, revision 0).

    Checked in the order of seeds/storage.md, "Recovery": the sidecar, the checkpoint against its canonical source and hash,
    then the journal, which must ascend and stay in the epoch.

    Raises:
        CorruptRecord: something does not fit; it names the record and, in the journal, the sequence.
    """
    where = f"channel {stored.channel.id}"
    snapshot = stored.snapshot
    if snapshot is None:
        if stored.channel.revision or stored.updates or stored.sidecar is not None:
            raise CorruptRecord(where, "was written to but has no snapshot")
        return None
    if stored.sidecar is None:
        raise CorruptRecord(where, "has a snapshot but no sidecar")
    sidecar = restore(stored.sidecar)
    live = _checkpoint(snapshot, engine, where)
    if stored.updates:
        live = _journal(stored, snapshot, engine, where)
    return Recovered(epoch=snapshot.epoch, live=live, sidecar=sidecar)


def recoverable_source(text: str, document: bytes, engine: DocumentEngine) -> str | None:
    """
    The canonical source to store beside a document that shows a text, or None if nobody would recover that text from it.

    Hostile updates exist that one and the same library integrates in two ways, depending on what it had before.
    """
    try:
        recovered = engine.read(document)
    except UpdateMalformed:
        return None
    return canonical(text) if recovered == text else None


def _checkpoint(snapshot: Snapshot, engine: DocumentEngine, where: str) -> SharedText:
    try:
        replica = engine.load([snapshot.document])
    except UpdateMalformed as error:
        raise CorruptRecord(f"{where}, snapshot", str(error)) from error
    if source_hash(snapshot.source) != snapshot.source_hash:
        raise CorruptRecord(f"{where}, snapshot", "its hash is not that of its source")
    if canonical(replica.text) != snapshot.source:
        raise CorruptRecord(f"{where}, snapshot", "its document does not project to its source")
    return replica


def _journal(stored: StoredChannel, snapshot: Snapshot, engine: DocumentEngine, where: str) -> SharedText:
    last = snapshot.through
    for row in stored.updates:
        if row.sequence <= last:
            raise CorruptRecord(f"{where}, journal at {row.sequence}", "sequences do not ascend")
        if row.epoch != snapshot.epoch:
            raise CorruptRecord(f"{where}, journal at {row.sequence}", "belongs to another epoch")
        last = row.sequence
    updates = [snapshot.document, *(row.update for row in stored.updates)]
    try:
        return engine.load(updates)
    except UpdateMalformed:
        raise _first_unreadable(stored, updates, engine, where) from None


def _first_unreadable(stored: StoredChannel, updates: list[bytes], engine: DocumentEngine, where: str) -> CorruptRecord:
    """Which row it was; only asked when the channel cannot be opened anyway, so its cost does not matter."""
    replica = engine.load(updates[:1])
    for row in stored.updates:
        try:
            replica.apply(row.update)
        except UpdateMalformed as error:
            return CorruptRecord(f"{where}, journal at {row.sequence}", str(error))
    return CorruptRecord(f"{where}, journal", "does not make a whole")
