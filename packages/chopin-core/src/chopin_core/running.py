"""A running Chopin: the writer of one storage, its rooms and its documents, from start to drain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import attrs

from chopin_core.documents import Documents
from chopin_core.ids import ChannelId, UuidV7
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.retention import Retention, Sweeper
from chopin_core.room.history import Clerk
from chopin_core.room.rooms import Rooms
from chopin_core.room.timings import Timings
from chopin_core.writer import LeaseTimings, Loss, Writer


@attrs.frozen(kw_only=True)
class Chopin:
    """What the shells and embedders work with."""

    documents: Documents
    rooms: Rooms
    sweeper: Sweeper


def _ignore(_: object) -> None:
    return None


@asynccontextmanager
async def running(
    storage: Storage,
    engine: DocumentEngine,
    *,
    owner: str,
    failed: Callable[[BaseException], None] = _ignore,
    lost: Callable[[Loss], None] = _ignore,
    cited: Callable[[Sequence[ChannelId]], None] = _ignore,
    unswept: Callable[[BaseException], None] = _ignore,
    timings: Timings | None = None,
    lease_timings: LeaseTimings | None = None,
    retention: Retention | None = None,
) -> AsyncIterator[Chopin]:
    """
    Be the writer of a storage while the context is open; leaving it writes every room out and lets the lease go.

    ``owner`` is the name others are told while they are refused. ``failed`` is called when storage failed in the middle of a
    write and ``lost`` when the lease is gone: nothing more will be acknowledged then, so leave the context and start over.
    Children are cleared of conversations before any room opens; ``cited`` is told of those that had to stay as they are.
    ``unswept`` is told why a sweep of old operations broke off; there will be others. The storage stays open.

    Raises:
        LeaseHeld: another process is the writer.
    """
    new_id = UuidV7()
    writer = await Writer.take(storage.leases, owner, now=_now, lost=lost, timings=lease_timings)
    try:
        dropped = await storage.collaboration.drop_child_conversations(lease=writer.lease)
        if dropped.left:
            cited(dropped.left)
        clerk = Clerk(store=storage.collaboration, lease=lambda: writer.lease, now=_now, new_id=new_id)
        rooms = Rooms(storage=storage, engine=engine, clerk=clerk, fatal=failed, timings=timings)
        documents = Documents(storage=storage, rooms=rooms, engine=engine, now=_now, new_id=new_id)
        sweeper = Sweeper(storage.collaboration, lease=lambda: writer.lease, retention=retention or Retention(), failed=unswept)
        try:
            yield Chopin(documents=documents, rooms=rooms, sweeper=sweeper)
        finally:
            await sweeper.close()
            await rooms.close()
    finally:
        await writer.release()


def _now() -> datetime:
    return datetime.now(UTC)
