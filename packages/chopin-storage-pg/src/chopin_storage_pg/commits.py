"""A commit as ``chopin_commit`` takes it, and the answer it gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelArchived, ChannelMissing, CorruptRecord, EventRepeated, LeaseLost, StaleWrite
from chopin_core.jsonvalue import encode
from chopin_core.ports.collaboration import Commit, CommitResult, Event
from chopin_core.ports.leases import Lease
from chopin_core.sidecar import SidecarPatch, SidecarRecord, unanswered_decisions
from chopin_storage_pg.engine import DriverConnection
from chopin_storage_pg.prepared import Prepared

Row: TypeAlias = tuple[str, int | None, int | None, str | None]
"""What the function answers: outcome, revision, sequence, id of a repeated event."""

_LEASE: Final = ("text", "text", "bigint")
_COMMIT: Final = (
    "text text bigint text timestamptz bytea boolean text boolean integer json json".split()
)  # channel, operation, expected, epoch, at, update, archived, head, whole, unanswered, sections, events


def _call(*marks: str) -> str:
    typed = (f"{mark}::{kind}" for mark, kind in zip(marks, (*_LEASE, *_COMMIT), strict=True))
    return f"SELECT outcome, at_revision, at_sequence, event_id FROM chopin_commit({', '.join(typed)})"


def _marks(first: int, count: int) -> list[str]:
    return [f"${place}" for place in range(first, first + count)]


ONE: Final = _call(*["%s"] * (len(_LEASE) + len(_COMMIT)))
"""For a driver that takes its parameters as ``%s``."""

_ALONE: Final = Prepared("chopin_commit", _call(*_marks(1, len(_LEASE) + len(_COMMIT))))

_COLUMNS: Final = [f"c{place}" for place in range(len(_COMMIT))]
_GIVEN: Final = ", ".join(f"{mark}::{kind}[]" for mark, kind in zip(_marks(4, len(_COMMIT)), _COMMIT, strict=True))
_TOGETHER: Final = Prepared(
    "chopin_commits",
    f"""
    SELECT kept.* FROM unnest({_GIVEN}) WITH ORDINALITY AS given ({", ".join(_COLUMNS)}, place)
        CROSS JOIN LATERAL ({_call(*_marks(1, len(_LEASE)), *_COLUMNS)}) AS kept
    ORDER BY given.place
    """,
)
"""Many commits in one transaction: the function is called for one after the other, in the order given."""


def arguments(commit: Commit) -> tuple[Any, ...]:
    """
    What the function wants to know of a commit, in its order.

    Raises:
        InvalidField: a value is not JSON.
    """
    head: str | None = None
    sections: dict[str, str | None] = {}
    unanswered: int | None = None
    match commit.sidecar:
        case SidecarRecord(head=value, sections=given):
            head, sections = encode(value), {name: encode(section) for name, section in given.items()}
            unanswered = unanswered_decisions(given.get("questions"))
        case SidecarPatch(head=value, sections=given, removed=removed):
            head = encode(value)
            sections = {**dict.fromkeys(removed), **{name: encode(section) for name, section in given.items()}}
            if "questions" in sections:
                unanswered = unanswered_decisions(given.get("questions"))
        case None:
            pass
    return (
        commit.channel_id,
        commit.operation_id,
        commit.expected,
        commit.epoch,
        commit.now,
        commit.update,
        commit.allow_archived,
        head,
        isinstance(commit.sidecar, SidecarRecord),
        unanswered,
        json.dumps(sections) if sections else None,
        json.dumps([_event(event) for event in commit.events]) if commit.events else None,
    )


def _event(event: Event) -> dict[str, str]:
    return {"id": event.id, "kind": event.kind, "payload": encode(event.payload), "at": event.created_at.isoformat()}


def lease_arguments(lease: Lease) -> tuple[str, str, int]:
    return lease.name, lease.owner, lease.fencing


async def call(connection: DriverConnection, lease: Lease, given: Sequence[tuple[Any, ...]]) -> Sequence[Row]:
    """The function's row for each of some commits, by their :func:`arguments`; all in one transaction, which ends with it."""
    if len(given) == 1:
        found = await _ALONE.rows(connection, (*lease_arguments(lease), *given[0]))
    else:
        found = await _TOGETHER.rows(connection, (*lease_arguments(lease), *zip(*given, strict=True)))
    return [_row(*fields) for fields in found]


def _row(outcome: bytes | None, revision: bytes | None, sequence: bytes | None, event_id: bytes | None) -> Row:
    assert outcome is not None, "every way through the function sets it"
    return (
        outcome.decode(),
        None if revision is None else int(revision),
        None if sequence is None else int(sequence),
        None if event_id is None else event_id.decode(),
    )


def answer(row: Sequence[Any], commit: Commit, lease: Lease) -> CommitResult:
    """
    The function's row as the port has it.

    Raises: what the port names.
    """
    outcome, revision, sequence, event_id = row
    match outcome:
        case "kept" | "repeated":
            return CommitResult(
                revision=StorageRevision(revision), sequence=StorageSequence(sequence), repeated=outcome == "repeated"
            )
        case "fenced":
            raise LeaseLost(lease.name, lease.fencing)
        case "missing":
            raise ChannelMissing(commit.channel_id)
        case "archived":
            raise ChannelArchived(commit.channel_id)
        case "stale":
            raise StaleWrite(commit.expected, revision)
        case "event":
            raise EventRepeated(commit.channel_id, event_id)
        case _:
            raise CorruptRecord(f"channel {commit.channel_id}", "has no state row")
