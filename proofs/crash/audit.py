"""Whether what is stored is what was acknowledged: wholly, once, and nothing half."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import attrs
from pycrdt import Doc, Text

from chopin_core.document.canonical import canonical

from . import markers
from .history import Update
from .rows import Rows, SnapshotRow


@attrs.frozen
class Violation:
    """``kind`` is what the report counts: lost, duplicated, half, or what else does not agree."""

    kind: str
    detail: str


def text_of(rows: Rows, *, journal: bool = True) -> str:
    """
    The text that the rows make. Read by the library itself, so that no judgement of our engine stands between.

    Raises:
        ValueError: they cannot be read.
    """
    document = Doc[Text]()
    text: Text = document.get("source", type=Text)
    if rows.snapshot is not None:
        document.apply_update(rows.snapshot.document)
    for row in rows.journal if journal else ():
        document.apply_update(row.update)
    return str(text)


def audited(rows: Rows, updates: Sequence[Update], *, settled: bool = False) -> list[Violation]:
    """
    What is wrong with a document, given what its writers sent in this order and were told. ``settled``: all of it has been
    sent again by now and must be there.
    """
    if rows.snapshot is None:
        known = rows.revision or rows.latest or rows.journal or any(update.acknowledged is not None for update in updates)
        return [Violation("snapshot", "there is none")] if known else []
    try:
        text = text_of(rows)
    except ValueError as error:
        return [Violation("unreadable", str(error))]
    found, debris = markers.read(text)
    there = present(updates, found)
    return [
        *_texts(updates, there, Counter(found), settled=settled),
        *([Violation("half", f"{len(debris)} characters that belong to no marker: {debris[:60]!r}")] if debris else ()),
        *_order(updates, there),
        *_counters(rows, updates, len(there)),
        *_sequences(rows),
        *_snapshot(rows, rows.snapshot),
    ]


def present(updates: Sequence[Update], found: Sequence[str]) -> set[str]:
    """
    The updates that left a trace: a marker of theirs is in the text, or was taken out of it by an update that is present.

    Every update puts in at least one marker, and only its own writer takes it out, later.
    """
    traces, there = set(found), set()
    for update in reversed(updates):
        if not traces.isdisjoint(update.markers):
            there.add(update.id)
            traces.update(update.removed)
    return there


def _texts(updates: Sequence[Update], there: set[str], found: Counter[str], *, settled: bool) -> Iterator[Violation]:
    taken_out = {marker for update in updates if update.id in there for marker in update.removed}
    sent = {marker for update in updates for marker in update.markers}
    for update in updates:
        if update.id not in there:
            if settled or update.acknowledged is not None:
                yield Violation("lost", f"{update.id}, acknowledged at sequence {update.sequence}")
            continue
        missing = [marker for marker in update.markers if not found[marker] and marker not in taken_out]
        lingering = [marker for marker in update.removed if found[marker]]
        if missing or lingering:
            yield Violation("half", f"{update.id} lacks {missing} and left {lingering}")
    for marker, times in found.items():
        if times > 1:
            yield Violation("duplicated", f"{marker} stands there {times} times")
        if marker not in sent:
            yield Violation("half", f"nobody sent {marker}")


def _order(updates: Sequence[Update], there: set[str]) -> Iterator[Violation]:
    """Of each writer a beginning is there, without a gap."""
    missing: dict[str, str] = {}
    for update in updates:
        if update.id not in there:
            missing.setdefault(update.writer, update.id)
        elif update.writer in missing:
            yield Violation("gap", f"{update.id} is there without {missing[update.writer]}")


def _counters(rows: Rows, updates: Sequence[Update], there: int) -> Iterator[Violation]:
    """One sequence for each update, one plan revision for each commit of text; nobody was told more than is stored."""
    head = dict(rows.head or {})
    commits = sum(not operation.id.startswith("replace:") for operation in rows.operations)
    expected = {"version": 1, "documentSeq": there, "revision": commits}
    if head != expected:
        yield Violation("sidecar", f"its head is {head}, and the text says {expected}")
    told = max((update.sequence for update in updates if update.sequence is not None), default=0)
    if told > head.get("documentSeq", 0):
        yield Violation("sequence", f"{told} was acknowledged, and {head.get('documentSeq')} is stored")


def _sequences(rows: Rows) -> Iterator[Violation]:
    """Revision and sequence are what the operations say, and the journal goes from the snapshot to the latest without a gap."""
    assert rows.snapshot is not None
    counted = list(range(1, rows.latest + 1))
    if [operation.sequence for operation in rows.operations] != counted or rows.revision != rows.latest:
        yield Violation("sequence", f"{len(rows.operations)} operations, revision {rows.revision}, latest {rows.latest}")
    numbered = [(row.revision, row.sequence) for row in rows.operations] + [
        (row.revision, row.sequence) for row in rows.journal
    ]
    if any(revision != sequence for revision, sequence in numbered):
        yield Violation("revision", "it is not that of its sequence")
    if [row.sequence for row in rows.journal] != counted[rows.snapshot.through :]:
        yield Violation("sequence", f"the journal does not go from {rows.snapshot.through} to {rows.latest}")
    operations = {operation.sequence: operation.id for operation in rows.operations}
    for row in rows.journal:
        if operations.get(row.sequence) != f"{row.epoch}:{hashlib.sha256(row.update).hexdigest()}":
            yield Violation("operation", f"the one at {row.sequence} is not that of its bytes")


def _snapshot(rows: Rows, snapshot: SnapshotRow) -> Iterator[Violation]:
    if {row.epoch for row in rows.journal} - {snapshot.epoch}:
        yield Violation("epoch", "the journal holds more than one")
    if snapshot.revision != snapshot.through or snapshot.through > rows.latest:
        yield Violation("revision", f"the snapshot is of {snapshot.revision}, through {snapshot.through}")
    if snapshot.source_hash != "sha256:" + hashlib.sha256(snapshot.source.encode()).hexdigest():
        yield Violation("hash", "it is not that of the source")
    if canonical(text_of(rows, journal=False)) != snapshot.source:
        yield Violation("source", "it is not that of the document")
    if snapshot.through == rows.latest and snapshot.head != rows.head:
        yield Violation("sidecar", "the copy is not the original")


def by_kind(violations: Sequence[Violation]) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for violation in violations:
        kinds[violation.kind].append(violation.detail)
    return dict(kinds)
