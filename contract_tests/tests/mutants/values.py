"""Values that are still the caller's, or still storage's, after they changed hands; and patches that are none."""

from __future__ import annotations

import attrs

from chopin_core.counters import StorageRevision
from chopin_core.ids import ChannelId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.ports.collaboration import Commit, CommitResult, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.sidecar import SidecarPatch, SidecarRecord

from mutants import memory


@attrs.frozen
class HandsOutItsOwn(MemoryCollaborationStore):
    """What was loaded once is handed out again, the very same objects, until something is written."""

    _loaded: dict[object, StoredChannel] = attrs.field(factory=dict)

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        stored = await super().load(channel_id)
        if stored is None:
            return None
        written = stored.snapshot and (stored.snapshot.generation, stored.snapshot.created_at)
        return self._loaded.setdefault((stored.channel, written), stored)


@attrs.frozen
class KeepsTheCallers(MemoryCollaborationStore):
    """A record is kept as the object that the caller gave."""

    _given: dict[tuple[ChannelId, StorageRevision], SidecarRecord] = attrs.field(factory=dict)

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        stored = await super().load(channel_id)
        if stored is None:
            return None
        return attrs.evolve(stored, sidecar=self._given.get((channel_id, stored.channel.revision), stored.sidecar))

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        before = await self.load(commit.channel_id)
        result = await super().commit(commit, lease=lease)
        record = commit.sidecar
        if isinstance(record, SidecarPatch):
            record = record.applied_to(None if before is None else before.sidecar)
        if record is not None and not result.repeated:
            self._given[commit.channel_id, result.revision] = record
        return result


class ReplacesByPatches(MemoryCollaborationStore):
    """A patch takes the place of the whole record."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        if isinstance(commit.sidecar, SidecarPatch):
            whole = SidecarRecord(head=commit.sidecar.head, sections=commit.sidecar.sections)
            commit = attrs.evolve(commit, sidecar=whole)
        return await super().commit(commit, lease=lease)


live_objects_handed_out = memory.adapter(collaboration=HandsOutItsOwn)
live_objects_kept = memory.adapter(collaboration=KeepsTheCallers)
patch_replaces_the_record = memory.adapter(collaboration=ReplacesByPatches)
