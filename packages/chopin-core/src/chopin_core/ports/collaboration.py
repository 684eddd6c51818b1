"""Storage of what is written in a channel: commits, replacements, checkpoints, and getting all of it back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import attrs

from chopin_core.channel import Channel, TitlePolicy
from chopin_core.conversations import Verdict
from chopin_core.counters import Epoch, StorageRevision, StorageSequence
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, OperationId
from chopin_core.instants import aware_field
from chopin_core.jsonvalue import Json
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_core.research.projections import ProjectionChange
from chopin_core.sidecar import SidecarPatch, SidecarRecord
from chopin_core.text import key_field, storable_field


@attrs.frozen(kw_only=True)
class Event:
    """One thing that happened, to be kept in order. ``id`` is unique within its channel."""

    id: str = attrs.field(validator=key_field)
    kind: str = attrs.field(validator=storable_field)
    payload: Json
    created_at: datetime = attrs.field(validator=aware_field)


@attrs.frozen(kw_only=True)
class TitleChange:
    """A new title that becomes durable together with the rest of a commit."""

    title: str = attrs.field(validator=storable_field)
    titles: TitlePolicy = TitlePolicy.REPEATABLE


@attrs.frozen(kw_only=True)
class Commit:
    """
    What must become durable together. All of it optional: an empty commit is still a commit.

    ``update`` goes to the journal. ``sidecar`` replaces the whole record (:class:`SidecarRecord`) or parts of it
    (:class:`SidecarPatch`); None keeps it. ``epoch`` is recorded with the update and not compared. ``allow_archived`` lets
    a commit of the sidecar alone through on an archived channel. ``projections`` names the research requests whose blocks the
    update adds or takes away, each once.

    Raises:
        InvalidField: ``allow_archived`` together with an update, an event, a title or a projection; a request that is named
            twice; or text that cannot be stored.
    """

    channel_id: ChannelId
    operation_id: OperationId = attrs.field(validator=key_field)
    expected: StorageRevision
    epoch: Epoch = attrs.field(validator=storable_field)
    now: datetime = attrs.field(validator=aware_field)
    update: bytes | None = None
    sidecar: SidecarRecord | SidecarPatch | None = None
    events: tuple[Event, ...] = ()
    title: TitleChange | None = None
    projections: tuple[ProjectionChange, ...] = attrs.field(default=())
    allow_archived: bool = attrs.field(default=False)

    @projections.validator
    def _each_once(self, attribute: attrs.Attribute[Any], value: tuple[ProjectionChange, ...]) -> None:
        if len({change.workspace_id for change in value}) < len(value):
            raise InvalidField("projections", "name a request twice")

    @allow_archived.validator
    def _only_records(self, attribute: attrs.Attribute[bool], value: bool) -> None:
        if value and (self.update is not None or self.events or self.title is not None or self.projections):
            raise InvalidField("allow_archived", "goes with a sidecar alone")


@attrs.frozen(kw_only=True)
class Replacement:
    """A document that takes the place of the whole history of its channel, under a new epoch."""

    channel_id: ChannelId
    operation_id: OperationId = attrs.field(validator=key_field)
    expected: StorageRevision
    epoch: Epoch = attrs.field(validator=storable_field)
    now: datetime = attrs.field(validator=aware_field)
    generation: str = attrs.field(validator=storable_field)
    source: str = attrs.field(validator=storable_field)
    source_hash: str = attrs.field(validator=storable_field)
    document: bytes
    sidecar: SidecarRecord


@attrs.frozen(kw_only=True)
class Checkpoint:
    """The document as it stands at ``revision``, so that the journal up to ``through`` is no longer needed."""

    channel_id: ChannelId
    revision: StorageRevision
    through: StorageSequence
    epoch: Epoch = attrs.field(validator=storable_field)
    now: datetime = attrs.field(validator=aware_field)
    generation: str = attrs.field(validator=storable_field)
    source: str = attrs.field(validator=storable_field)
    source_hash: str = attrs.field(validator=storable_field)
    document: bytes


@attrs.frozen(kw_only=True)
class CommitResult:
    """Where an operation stands in its channel; ``repeated`` when it had been kept before."""

    revision: StorageRevision
    sequence: StorageSequence
    repeated: bool = False


@attrs.frozen(kw_only=True)
class Snapshot:
    """The last checkpoint: complete shared-text bytes, canonical source with its hash, and a copy of the sidecar."""

    generation: str
    revision: StorageRevision
    through: StorageSequence
    epoch: Epoch
    source: str
    source_hash: str
    document: bytes
    sidecar: SidecarRecord
    created_at: datetime


@attrs.frozen(kw_only=True)
class StoredUpdate:
    """One row of the journal."""

    sequence: StorageSequence
    revision: StorageRevision
    epoch: Epoch
    update: bytes


@attrs.frozen(kw_only=True)
class StoredEvent:
    """An event and its place: the sequence of its commit, its ordinal there (from 0)."""

    sequence: StorageSequence
    ordinal: int
    event: Event


@attrs.frozen(kw_only=True)
class StoredChannel:
    """
    Everything needed to open a channel, from one consistent read.

    ``updates`` are those after the snapshot, ascending; ``events`` are all that were not pruned, by sequence and ordinal.
    ``latest`` is the last sequence given out, 0 for a new channel. ``sidecar`` is None until one was written.
    """

    channel: Channel
    latest: StorageSequence
    snapshot: Snapshot | None
    updates: tuple[StoredUpdate, ...]
    events: tuple[StoredEvent, ...]
    sidecar: SidecarRecord | None


@attrs.frozen(kw_only=True)
class DroppedConversations:
    """
    Children that had a conversation, by id: those that were cleared, and those that stay as they are, because a decision cites
    the conversation or because the record cannot be read.
    """

    cleared: tuple[ChannelId, ...]
    left: tuple[ChannelId, ...]

    @classmethod
    def of(cls, verdicts: Mapping[ChannelId, Verdict]) -> DroppedConversations:
        """Told from what was found of each child, in their order."""
        return cls(
            cleared=tuple(child for child, verdict in verdicts.items() if verdict is Verdict.CLEAR),
            left=tuple(child for child, verdict in verdicts.items() if verdict is Verdict.CITED),
        )


class CollaborationStore(Protocol):
    """
    The history of a channel. Every write is guarded by a lease: any unexpired lease of any name will do.

    Checks come in the order in which they are listed below, and a refused write leaves nothing behind. Of a commit or a
    replacement that is cancelled or loses its connection, :meth:`operation` tells whether it was kept.

    Operations are remembered for the idempotency window: until :meth:`prune` is asked to forget them. Whoever repeats one, or
    asks after it, must do so within the window.
    """

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        """
        What was kept of the channel, or None if there is none.

        Raises:
            CorruptRecord: a row breaks an invariant; nothing is repaired.
        """
        ...

    async def operation(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        """
        Where an operation was kept (``repeated`` is True), or None if it was not and no write in flight can still keep it.

        Waits for writes in flight on the channel, so that None is final within the window. Of a pruned operation nothing is
        known any more: None.
        """
        ...

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        """
        Keep the whole change or none of it: revision and sequence move by one each, also for an empty commit.

        An operation that was kept before, within the window, is answered again with its original numbers and ``repeated``,
        whatever the payload: that comes before the checks of archive and revision, but after the lease. Once it was pruned
        the same id is a new operation, which ``expected`` refuses if it was a late repeat. The activity time becomes the
        later of the stored one and ``now``. The count of unanswered decisions follows the sidecar. A title behaves as in
        ``ChannelStore.rename``: the slug goes with it, and the same title again changes nothing.

        Raises, the first that applies:
            LeaseLost: the lease is not held.
            ChannelMissing: there is no such channel.
            ChannelArchived: it is archived and the commit does not allow that.
            StaleWrite: the channel is not at ``commit.expected``.
            ProjectionRefused: a research request does not allow its block to be added or taken away now; the first by id.
            TitleTaken: the title is refused by its policy.
            EventRepeated: an event's id is in use, or stands twice in the commit.
            CommitRejected: storage rolled back for a reason of its own; the same commit may be tried again.
            OperationUnknown: the connection was lost and the operation could not be looked up either.
        """
        ...

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        """
        Start a new history: the snapshot at the new revision and sequence, the sidecar replaced, the journal emptied.

        Operations and events stay. Replays (within the window), counters and activity time as in :meth:`commit`; both share
        one space of operation ids.

        Raises: as :meth:`commit`, without ``ProjectionRefused``, ``TitleTaken`` and ``EventRepeated``.
        """
        ...

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        """
        Replace the snapshot, with a copy of the sidecar as it is stored, and drop the journal it covers, in one step.

        Moves no counter and no activity time; an archived channel is accepted, and repeating it is harmless.

        Raises, the first that applies:
            LeaseLost: the lease is not held.
            ChannelMissing: there is no such channel.
            StaleWrite: the channel is not at ``checkpoint.revision``; nothing is replaced or dropped.
            StaleCheckpoint: ``through`` lies beyond the latest sequence, or before the stored snapshot's (0 without one);
                or no sidecar was written yet, so that there is none to copy (a commit with an empty one is enough).
        """
        ...

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        """
        Forget old operations and the events of their commits: one step, in one short transaction.

        In each channel, archived ones too, operations go in the order of their sequences, and none before all that precede it
        are old enough. An event goes with the operation of its sequence, and its id is free again. A write in flight is not
        touched. Nothing else changes: no revision, sequence or activity time, no journal, snapshot or sidecar; a sequence
        is never given out again.

        Raises:
            LeaseLost: the lease is not held.
        """
        ...

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        """
        Clear children of their conversations (:mod:`chopin_core.conversations`): in the sidecar, in the snapshot's copy of it,
        and the Planner's summary and place in the transcript.

        For the start of a process, before any room opens. Each child is cleared wholly or not at all, archived ones too, and a
        second run finds nothing. Questions, threads and the document stay; no counter and no activity time moves.

        Raises:
            LeaseLost: the lease is not held.
        """
        ...
