"""The room's side of the storage contract: where the channel stands, and moving it on by one fenced commit at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import attrs

from chopin_core.counters import Epoch, StorageRevision, StorageSequence
from chopin_core.document.canonical import source_hash
from chopin_core.errors import CommitRejected, CorruptRecord
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import (
    Checkpoint,
    CollaborationStore,
    Commit,
    CommitResult,
    Replacement,
    TitleChange,
)
from chopin_core.ports.leases import Lease
from chopin_core.sidecar import SidecarPatch, SidecarRecord

RETRIES = 5
"""How often a commit that storage rolled back is tried again before that counts as a fault."""


@attrs.frozen(kw_only=True)
class Clerk:
    """What it takes to write: the store, the lease as it is held now, the time, and fresh ids."""

    store: CollaborationStore
    lease: Callable[[], Lease]
    now: Callable[[], datetime]
    new_id: Callable[[], str]


class History:
    """
    Where one channel stands in storage. Nothing else writes to it while the lease is held, so the position is known.

    Every method raises what the store raises. After anything but a refusal that the caller asked for (``TitleTaken``) the
    position is no longer known and the room must not go on.
    """

    def __init__(self, clerk: Clerk, channel_id: ChannelId, revision: StorageRevision, sequence: StorageSequence) -> None:
        self._clerk = clerk
        self._channel_id = channel_id
        self.revision = revision
        self.sequence = sequence

    async def commit(
        self,
        *,
        operation_id: OperationId,
        epoch: Epoch,
        update: bytes | None = None,
        sidecar: SidecarPatch | None = None,
        title: TitleChange | None = None,
    ) -> None:
        """Keep a change; a commit that storage rolled back is tried again a few times."""
        commit = Commit(
            channel_id=self._channel_id,
            operation_id=operation_id,
            expected=self.revision,
            epoch=epoch,
            now=self._clerk.now(),
            update=update,
            sidecar=sidecar,
            title=title,
        )
        self._moved(await self._retried(lambda: self._clerk.store.commit(commit, lease=self._clerk.lease())))

    async def replace(self, *, epoch: Epoch, source: str, document: bytes, sidecar: SidecarRecord) -> None:
        """Start a new history under a new epoch."""
        replacement = Replacement(
            channel_id=self._channel_id,
            operation_id=OperationId(f"replace:{epoch}"),
            expected=self.revision,
            epoch=epoch,
            now=self._clerk.now(),
            generation=self._clerk.new_id(),
            source=source,
            source_hash=source_hash(source),
            document=document,
            sidecar=sidecar,
        )
        self._moved(await self._retried(lambda: self._clerk.store.replace(replacement, lease=self._clerk.lease())))

    async def checkpoint(self, *, epoch: Epoch, source: str, document: bytes) -> None:
        """Fold the journal into a snapshot; the position stays."""
        await self._clerk.store.checkpoint(
            Checkpoint(
                channel_id=self._channel_id,
                revision=self.revision,
                through=self.sequence,
                epoch=epoch,
                now=self._clerk.now(),
                generation=self._clerk.new_id(),
                source=source,
                source_hash=source_hash(source),
                document=document,
            ),
            lease=self._clerk.lease(),
        )

    async def _retried(self, write: Callable[[], Awaitable[CommitResult]]) -> CommitResult:
        for _ in range(RETRIES):
            try:
                return await write()
            except CommitRejected:
                continue
        return await write()

    def _moved(self, result: CommitResult) -> None:
        # A replay may only be our own: another operation under this id would mean that somebody else wrote here.
        if result.revision != self.revision + 1 or result.sequence <= self.sequence:
            raise CorruptRecord(f"channel {self._channel_id}", "an operation was answered out of order")
        self.revision = result.revision
        self.sequence = result.sequence
