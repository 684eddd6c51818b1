"""Answers that come before the change is kept, and changes that come after the answer or come in part."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Coroutine
from typing import Any

import attrs

from chopin_core.errors import Conflict
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import encode
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.tables import KeptEvent, KeptSidecar
from chopin_core.ports.collaboration import Commit, CommitResult, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_storage_pg import commits, loading
from chopin_storage_pg.collaboration import PgCollaborationStore

from mutants import memory, postgres

_UNDER_WAY: set[asyncio.Future[Any]] = set()


def _left_to_itself(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """The work goes on whatever becomes of the caller, and nobody hears of its end."""
    task = asyncio.create_task(work)
    _UNDER_WAY.add(task)
    task.add_done_callback(_UNDER_WAY.discard)
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return task


class AcknowledgesBeforeCommit(MemoryCollaborationStore):
    """Every check is made, the answer is given, and only then is anything kept."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        rehearsal = MemoryCollaborationStore(attrs.evolve(self._connection, tables=copy.deepcopy(self._connection.tables)))
        answer = await rehearsal.commit(commit, lease=lease)
        _left_to_itself(super().commit(commit, lease=lease))
        return answer


class KeepsAfterCancellation(MemoryCollaborationStore):
    """A caller that gives up is let go at once, while its commit is still on its way."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        return await asyncio.shield(_left_to_itself(self._slowly(commit, lease)))

    async def _slowly(self, commit: Commit, lease: Lease) -> CommitResult:
        await asyncio.sleep(0.002)  # as long as a disk takes
        return await super().commit(commit, lease=lease)


class KeepsHalfOfWhatItRefuses(MemoryCollaborationStore):
    """Of a refused commit the sidecar and the events stay."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        try:
            return await super().commit(commit, lease=lease)
        except Conflict:
            history = self._connection.tables.histories.get(commit.channel_id)
            if history is None:
                raise
            if commit.sidecar is not None:
                history.sidecar = KeptSidecar.of(commit.sidecar)
            for ordinal, event in enumerate(commit.events):
                kept = KeptEvent(
                    sequence=history.latest,
                    ordinal=ordinal,
                    id=event.id,
                    kind=event.kind,
                    payload=encode(event.payload),
                    created_at=event.created_at,
                )
                history.events.setdefault(event.id, kept)
            raise


class LoadsInTwoSteps(MemoryCollaborationStore):
    """The channel is read at one moment and its history at the next."""

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        first = await super().load(channel_id)
        second = await super().load(channel_id)
        return second if first is None or second is None else attrs.evolve(second, channel=first.channel)


class PgAcknowledgesBeforeCommit(PgCollaborationStore):
    """The answer is given inside the transaction."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        answered: asyncio.Future[CommitResult] = asyncio.get_running_loop().create_future()

        async def keep() -> None:
            try:
                async with self._connections.writing() as connection:
                    given = (*commits.lease_arguments(lease), *commits.arguments(commit))
                    row = (await connection.exec_driver_sql(commits.ONE, given)).one()
                    answered.set_result(commits.answer(row, commit, lease))
            except BaseException as fault:
                if not answered.done():
                    answered.set_exception(fault)
                raise

        if commit.title is not None:
            return await super().commit(commit, lease=lease)
        _left_to_itself(keep())
        return await answered


class PgLoadsInManySteps(PgCollaborationStore):
    """Every statement sees what is there when it begins."""

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        async with self._connections.writing() as connection:
            return await loading.load(connection, channel_id)


acknowledge_before_commit = memory.adapter(collaboration=AcknowledgesBeforeCommit)
kept_after_cancellation = memory.adapter(collaboration=KeepsAfterCancellation)
half_of_a_refused_commit = memory.adapter(collaboration=KeepsHalfOfWhatItRefuses)
load_not_one_moment = memory.adapter(collaboration=LoadsInTwoSteps)

acknowledge_before_commit_sql = postgres.with_collaboration(PgAcknowledgesBeforeCommit)
load_not_one_moment_sql = postgres.with_collaboration(PgLoadsInManySteps)
