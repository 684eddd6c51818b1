"""The open rooms of one process: opened once, shared, and put away when nobody needs them any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs

from chopin_core.counters import Epoch
from chopin_core.document.canonical import canonical
from chopin_core.document.validity import check_change
from chopin_core.errors import ChannelArchived, ChannelMissing, Closing, Conflict, Missing
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.room.foundation import Foundation
from chopin_core.room.history import Clerk, History
from chopin_core.room.recovery import Recovered, recover
from chopin_core.room.room import Room
from chopin_core.room.timings import Timings
from chopin_core.sidecar import Sidecar


@attrs.define
class _Place:
    """Where a room is or will be. ``holds`` counts who needs it; ``door`` lets one open or put away at a time."""

    door: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    room: Room | None = None
    holds: int = 0
    eviction: asyncio.TimerHandle | None = None


class Rooms:
    """
    One room for each channel that somebody needs, opened on the first need and put away some time after the last.

    Opening and putting away are serialised for each channel, so nobody is ever in a room that another one replaces. A room
    that cannot be loaded is not registered, and the next need tries again. A fault of storage is fatal for the process:
    ``fatal`` is called once with it, and the process is expected to drain.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        engine: DocumentEngine,
        clerk: Clerk,
        fatal: Callable[[BaseException], None],
        timings: Timings | None = None,
    ) -> None:
        self._storage = storage
        self._engine = engine
        self._clerk = clerk
        self._fatal = fatal
        self._timings = timings or Timings()
        self._places: dict[ChannelId, _Place] = {}
        self._evictions: set[asyncio.Task[None]] = set()
        self._closing = False

    def __len__(self) -> int:
        """How many rooms are open or being opened."""
        return len(self._places)

    @asynccontextmanager
    async def hold(self, channel_id: ChannelId) -> AsyncIterator[Room]:
        """
        The channel's room, which stays open while the context is.

        Raises:
            ChannelMissing: there is no such channel.
            CorruptRecord: what is stored of it cannot be trusted; other channels are not affected.
            Closing: the process is draining.
            Unavailable: storage does not answer.
        """
        if self._closing:
            raise Closing()
        place = self._places.setdefault(channel_id, _Place())
        place.holds += 1
        if place.eviction is not None:
            place.eviction.cancel()
            place.eviction = None
        try:
            async with place.door:
                room = place.room
                if room is None or room.closed:
                    room = place.room = await self._open(channel_id)
            yield room
        finally:
            place.holds -= 1
            if not place.holds:
                self._leave_open_a_while(channel_id, place)

    async def close(self) -> None:
        """Put every room away, each wholly written out. Nothing is opened any more."""
        self._closing = True
        for place in self._places.values():
            if place.eviction is not None:
                place.eviction.cancel()
        await asyncio.gather(*(self._put_away(channel_id, place) for channel_id, place in list(self._places.items())))
        if self._evictions:
            await asyncio.wait(self._evictions)

    def _leave_open_a_while(self, channel_id: ChannelId, place: _Place) -> None:
        # A reload must cost neither the epoch nor the reader's patience; a room that never opened needs no while.
        wait = self._timings.eviction if place.room is not None and not place.room.closed else 0.0
        place.eviction = asyncio.get_running_loop().call_later(wait, self._evict, channel_id, place)

    def _evict(self, channel_id: ChannelId, place: _Place) -> None:
        task = asyncio.get_running_loop().create_task(self._put_away(channel_id, place))
        self._evictions.add(task)
        task.add_done_callback(self._evictions.discard)

    async def _put_away(self, channel_id: ChannelId, place: _Place) -> None:
        async with place.door:
            if place.holds and not self._closing:
                return
            if place.room is not None:
                await place.room.shut()
                place.room = None
            # Whoever came while the room was being written out waits at the door of this very place.
            if not place.holds and self._places.get(channel_id) is place:
                del self._places[channel_id]
                if place.eviction is not None:  # set by somebody who left meanwhile
                    place.eviction.cancel()

    async def _open(self, channel_id: ChannelId) -> Room:
        stored = await self._storage.collaboration.load(channel_id)
        if stored is None:
            raise ChannelMissing(channel_id)
        recovered = recover(stored, self._engine)
        history = History(self._clerk, channel_id, stored.channel.revision, stored.latest)
        if recovered is None:
            recovered = await self._begin(history, stored)
        return Room(
            Foundation(
                engine=self._engine,
                channels=self._storage.channels,
                check=check_change,
                timings=self._timings,
                new_id=self._clerk.new_id,
                failed=self._failed,
            ),
            history,
            channel=attrs.evolve(stored.channel, revision=history.revision),
            epoch=recovered.epoch,
            live=recovered.live,
            sidecar=recovered.sidecar,
            journal_rows=len(stored.updates),
        )

    async def _begin(self, history: History, stored: StoredChannel) -> Recovered:
        """The empty document of a channel that nobody opened yet, made durable before anybody sees it."""
        epoch, live, sidecar = Epoch(self._clerk.new_id()), self._engine.new(), Sidecar()
        if not stored.channel.archived:
            try:
                await history.replace(epoch=epoch, source=canonical(""), document=live.update(), sidecar=sidecar.record())
            except (Conflict, Missing) as refusal:
                if not isinstance(refusal, ChannelArchived | ChannelMissing):
                    self._failed(refusal)
                raise
        return Recovered(epoch=epoch, live=live, sidecar=sidecar)

    def _failed(self, error: BaseException) -> None:
        # A channel archived or deleted under its room costs the room, not the process.
        if not isinstance(error, ChannelArchived | ChannelMissing):
            self._fatal(error)
