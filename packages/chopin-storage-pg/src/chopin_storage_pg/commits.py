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

Row: TypeAlias = tuple[str, int | None, int | None, str | None]
"""What the function answers: outcome, revision, sequence, id of a repeated event."""

_TYPES: Final = (
    "text text bigint text timestamptz bytea boolean text boolean integer json json".split()
)  # channel, operation, expected, epoch, at, update, archived, head, whole, unanswered, sections, events

ONE: Final = f"""
SELECT outcome, at_revision, at_sequence, event_id
FROM chopin_commit(%s::text, %s::text, %s::bigint, {", ".join(f"%s::{kind}" for kind in _TYPES)})
"""

MANY: Final = f"""
SELECT kept.outcome, kept.at_revision, kept.at_sequence, kept.event_id
FROM unnest({", ".join(f"%s::{kind}[]" for kind in _TYPES)}) WITH ORDINALITY
    AS given (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, place)
CROSS JOIN LATERAL chopin_commit(
    %s::text, %s::text, %s::bigint, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12
) AS kept
ORDER BY given.place
"""
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
