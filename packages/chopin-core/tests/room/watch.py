"""A storage that notices when two rooms of one channel would get in each other's way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

import attrs

from chopin_core.errors import ChannelArchived, Conflict, EventRepeated, StorageUnavailable, TitleTaken
from chopin_core.ids import ChannelId, OperationId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import History, Tables
from chopin_core.ports.collaboration import Checkpoint, Commit, CommitResult, Replacement, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_core.room.room import Room

R = TypeVar("R")
Before = Callable[[str], Awaitable[None]]
"""Called with the name of what is asked; a fault of storage is what it raises."""

REFUSALS = (ChannelArchived, EventRepeated, TitleTaken)
"""Conflicts that a caller may ask for; any other means that somebody else wrote."""


@attrs.define
class Watch:
    """What was seen. ``wrongs`` stays empty as long as every channel has one room at a time."""

    rooms: list[Room] = attrs.field(factory=list)
    writing: int = 0
    wrongs: list[str] = attrs.field(factory=list)

    def let_in(self, room: Room) -> None:
        """Somebody was let into a room."""
        if any(other is not room and not other.closed for other in self.rooms):
            self.wrongs.append("two rooms are open")
        self.rooms.append(room)

    def loading(self) -> None:
        if any(not room.closed for room in self.rooms):
            self.wrongs.append("loaded while a room is open")
        if self.writing:
            self.wrongs.append("loaded while somebody writes")

    @contextmanager
    def written(self) -> Iterator[None]:
        if self.writing:
            self.wrongs.append("two write at a time")
        self.writing += 1
        try:
            yield
        except Conflict as error:
            if not isinstance(error, REFUSALS):
                self.wrongs.append(type(error).__name__)
            raise
        finally:
            self.writing -= 1


async def no_fault(_: str) -> None:
    return None


def failing_once(name: str, at: int = 0) -> Before:
    """Storage that is unavailable for one call of a kind."""
    calls = count()

    async def before(asked: str) -> None:
        if asked == name and next(calls) == at:
            raise StorageUnavailable("down")

    return before


@attrs.frozen
class WatchedCollaboration:
    """The collaboration store of one channel's storage."""

    _inner: MemoryCollaborationStore
    _watch: Watch
    _before: Before

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        self._watch.loading()
        await self._before("load")
        return await self._inner.load(channel_id)

    async def operation(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        return await self._inner.operation(channel_id, operation_id)

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        with self._watch.written():
            await self._before("commit")
            return await self._inner.commit(commit, lease=lease)

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        with self._watch.written():
            await self._before("replace")
            return await self._inner.replace(replacement, lease=lease)

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        with self._watch.written():
            await self._before("checkpoint")
            await self._inner.checkpoint(checkpoint, lease=lease)

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        return await self._inner.prune(pruning, lease=lease)


class WatchedStorage(MemoryStorage):
    """The in-memory storage, with faults where ``before`` raises them."""

    def __init__(self, tables: Tables, watch: Watch, *, before: Before = no_fault) -> None:
        super().__init__(tables)
        self._watched = WatchedCollaboration(super().collaboration, watch, before)

    @property
    def collaboration(self) -> WatchedCollaboration:  # type: ignore[override]  # the same port
        return self._watched


def copy_of(tables: Tables) -> Tables:
    """What a disk holds at this moment, for another process to start from. The values are frozen, the histories are not."""
    return Tables(
        users=dict(tables.users),
        channels=dict(tables.channels),
        slugs=dict(tables.slugs),
        histories={channel_id: _copied(history) for channel_id, history in tables.histories.items()},
        leases=dict(tables.leases),
    )


def _copied(history: History) -> History:
    return attrs.evolve(
        history, operations=dict(history.operations), updates=list(history.updates), events=dict(history.events)
    )
