"""Histories in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from itertools import islice, takewhile

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelArchived, EventRepeated, StaleCheckpoint, StaleWrite
from chopin_core.ids import ChannelId, OperationId
from chopin_core.jsonvalue import encode
from chopin_core.memory.channels import channel_of
from chopin_core.memory.conversations import clear
from chopin_core.memory.leases import fence, fenced
from chopin_core.memory.research_moves import bearing_on
from chopin_core.memory.tables import Connection, History, KeptEvent, KeptOperation, KeptSidecar, KeptSnapshot, utc
from chopin_core.memory.titles import keep, titled
from chopin_core.ports.collaboration import (
    Checkpoint,
    Commit,
    CommitResult,
    DroppedConversations,
    Event,
    Replacement,
    StoredChannel,
    StoredUpdate,
)
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_core.sidecar import SidecarPatch


@attrs.frozen
class MemoryCollaborationStore:
    _connection: Connection

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        tables = await self._connection.turn()
        if channel_id not in tables.channels:
            return None
        history = tables.histories[channel_id]
        return StoredChannel(
            channel=tables.channels[channel_id],
            latest=history.latest,
            snapshot=None if history.snapshot is None else history.snapshot.snapshot(),
            updates=tuple(history.updates),
            events=tuple(kept.event() for kept in history.events.values()),
            sidecar=None if history.sidecar is None else history.sidecar.record(),
        )

    async def operation(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        tables = await self._connection.turn()
        history = tables.histories.get(channel_id)
        return None if history is None else _repeat(history, operation_id)

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        written = None if commit.sidecar is None else KeptSidecar.of(commit.sidecar)
        payloads = [encode(event.payload) for event in commit.events]

        tables = await self._connection.turn()
        fence(tables, lease, self._connection.clock())
        channel = channel_of(tables, commit.channel_id)
        history = tables.histories[channel.id]
        if repeat := _repeat(history, commit.operation_id):
            return repeat
        if channel.archived and not commit.allow_archived:
            raise ChannelArchived(channel.id)
        _expect(commit.expected, channel)
        for change in sorted(commit.projections, key=lambda change: change.workspace_id):
            change.refuse_unfit(*bearing_on(tables, channel.id, change.workspace_id))
        if commit.title is not None and commit.title.title != channel.title:
            channel = titled(tables, channel, commit.title.title, commit.title.titles)
        result = _next(channel, history)
        events = _numbered(channel, history, result.sequence, zip(commit.events, payloads, strict=True))

        if written is not None:
            patch = commit.sidecar if isinstance(commit.sidecar, SidecarPatch) else None
            history.sidecar = written if patch is None else written.over(history.sidecar, patch.removed)
            channel = attrs.evolve(channel, unanswered_decisions=history.sidecar.unanswered_decisions())
        if commit.update is not None:
            update = StoredUpdate(
                sequence=result.sequence, revision=result.revision, epoch=commit.epoch, update=bytes(commit.update)
            )
            history.updates.append(update)
        history.events.update(events)
        keep(tables, _moved(channel, self._recorded(history, commit.operation_id, result), commit.now))
        await asyncio.sleep(0)  # the answer travels too: whoever is cancelled here was kept and never hears of it
        return result

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        sidecar = KeptSidecar.of(replacement.sidecar)

        tables = await self._connection.turn()
        fence(tables, lease, self._connection.clock())
        channel = channel_of(tables, replacement.channel_id)
        history = tables.histories[channel.id]
        if repeat := _repeat(history, replacement.operation_id):
            return repeat
        if channel.archived:
            raise ChannelArchived(channel.id)
        _expect(replacement.expected, channel)
        result = _next(channel, history)

        history.sidecar = sidecar
        history.snapshot = KeptSnapshot(
            generation=replacement.generation,
            revision=result.revision,
            through=result.sequence,
            epoch=replacement.epoch,
            source=replacement.source,
            source_hash=replacement.source_hash,
            document=bytes(replacement.document),
            sidecar=sidecar,
            created_at=utc(replacement.now),
        )
        history.updates.clear()
        channel = attrs.evolve(channel, unanswered_decisions=sidecar.unanswered_decisions())
        keep(tables, _moved(channel, self._recorded(history, replacement.operation_id, result), replacement.now))
        await asyncio.sleep(0)  # as in commit
        return result

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        tables = await self._connection.turn()
        fence(tables, lease, self._connection.clock())
        channel = channel_of(tables, checkpoint.channel_id)
        history = tables.histories[channel.id]
        _expect(checkpoint.revision, channel)
        stored = StorageSequence(0) if history.snapshot is None else history.snapshot.through
        if history.sidecar is None or not stored <= checkpoint.through <= history.latest:
            raise StaleCheckpoint(checkpoint.through, stored, history.latest)

        history.snapshot = KeptSnapshot(
            generation=checkpoint.generation,
            revision=checkpoint.revision,
            through=checkpoint.through,
            epoch=checkpoint.epoch,
            source=checkpoint.source,
            source_hash=checkpoint.source_hash,
            document=bytes(checkpoint.document),
            sidecar=history.sidecar,
            created_at=utc(checkpoint.now),
        )
        history.updates[:] = (update for update in history.updates if update.sequence > checkpoint.through)

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        tables = await fenced(self._connection, lease)
        latest = self._connection.clock() - pruning.older_than
        ids = sorted(id for id in tables.channels if pruning.start is None or id >= pruning.start)
        left = pruning.limit
        for id in ids[: pruning.limit]:
            left -= _forget(tables.histories[id], latest, left)
            if not left:
                return Pruned(operations=pruning.limit, next=id)
        return Pruned(operations=pruning.limit - left, next=next(iter(ids[pruning.limit :]), None))

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        tables = await self._connection.turn()
        fence(tables, lease, self._connection.clock())
        children = sorted(channel.id for channel in tables.channels.values() if channel.parent_id is not None)
        verdicts = {child: clear(tables, child) for child in children}
        await asyncio.sleep(0)  # as in commit
        return DroppedConversations.of(verdicts)

    def _recorded(self, history: History, operation_id: OperationId, result: CommitResult) -> CommitResult:
        """Record the operation and its sequence."""
        history.operations[operation_id] = KeptOperation(result=result, kept_at=self._connection.clock())
        history.latest = result.sequence
        return result


def _forget(history: History, latest: datetime, most: int) -> int:
    """Drop the first operations, as far as they are kept no later than ``latest``; how many went."""
    old = takewhile(lambda item: item[1].kept_at <= latest, history.operations.items())
    gone = [(id, kept.result.sequence) for id, kept in islice(old, most)]
    for id, _ in gone:
        del history.operations[id]
    sequences = {sequence for _, sequence in gone}
    for event in [event for event in history.events.values() if event.sequence in sequences]:
        del history.events[event.id]
    return len(gone)


def _repeat(history: History, operation_id: OperationId) -> CommitResult | None:
    kept = history.operations.get(operation_id)
    return None if kept is None else attrs.evolve(kept.result, repeated=True)


def _expect(expected: StorageRevision, channel: Channel) -> None:
    if channel.revision != expected:
        raise StaleWrite(expected, channel.revision)


def _next(channel: Channel, history: History) -> CommitResult:
    return CommitResult(revision=StorageRevision(channel.revision + 1), sequence=StorageSequence(history.latest + 1))


def _numbered(
    channel: Channel, history: History, sequence: StorageSequence, events: Iterable[tuple[Event, str]]
) -> dict[str, KeptEvent]:
    numbered: dict[str, KeptEvent] = {}
    for ordinal, (event, payload) in enumerate(events):
        if event.id in history.events or event.id in numbered:
            raise EventRepeated(channel.id, event.id)
        numbered[event.id] = KeptEvent(
            sequence=sequence,
            ordinal=ordinal,
            id=event.id,
            kind=event.kind,
            payload=payload,
            created_at=utc(event.created_at),
        )
    return numbered


def _moved(channel: Channel, result: CommitResult, now: datetime) -> Channel:
    return attrs.evolve(channel, revision=result.revision, updated_at=max(channel.updated_at, utc(now)))
