"""Where leaks are looked for: rooms over a bounded set of channels, with a way in, one that is refused and one that fails."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import attrs

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import ChannelMissing, CorruptRecord, StorageUnavailable
from chopin_core.ids import ChannelId, RepositoryId, UserId, UuidV7, channel_id
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import History, Tables
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate
from chopin_core.ports.leases import WRITER
from chopin_core.room.batch import Submission
from chopin_core.room.events import Acknowledged, MemberView, RoomEvent
from chopin_core.room.history import Clerk
from chopin_core.room.presence import CursorState, encode_awareness
from chopin_core.room.room import Edit
from chopin_core.room.rooms import Rooms
from chopin_core.room.timings import Timings

CHANNELS = 50
REPOSITORY = Repository(id=RepositoryId("R_leaks"), owner="ada", name="leaks")
ADA = Person(id=UserId("local:ada"), login="ada")
UNKNOWN = ChannelId("00000000-0000-4000-8000-000000000000")
START = "# A document\n\nwith a few words to begin with\n"
HASTY = Timings(grouping=0.0, checkpoint=0.0, eviction=0.0)
"""A room goes through its whole life as fast as the loop turns."""


class Visitor:
    """A member that knows when its update is durable."""

    def __init__(self, name: str) -> None:
        self.view = MemberView(handle=name, client=name)
        self.acknowledged = asyncio.Event()

    def tell(self, event: RoomEvent) -> None:
        if isinstance(event, Acknowledged):
            self.acknowledged.set()


@attrs.define(kw_only=True)
class Site:
    """
    ``rooms`` are on a storage that answers, ``severed`` on one that does not. What storage keeps is put back to the start
    between rounds: to keep every operation is its work, so its share of the memory would hide that of the rooms.
    """

    rooms: Rooms
    severed: Rooms
    tables: Tables
    faults: list[BaseException]
    channels: tuple[ChannelId, ...] = ()
    corrupt: ChannelId = UNKNOWN
    _start: Tables = attrs.field(factory=Tables)

    async def prepare(self) -> None:
        """Documents with a few words each, and one whose snapshot cannot be trusted."""
        storage = MemoryStorage(self.tables)
        await storage.users.put(ADA, now=_now())
        made = []
        for number in range(CHANNELS + 1):
            made.append(channel_id(REPOSITORY.id, str(number)))
            title = f"Document {number}"
            await storage.channels.create(
                ChannelCreate(id=made[-1], repository=REPOSITORY, title=title, created_by=ADA.id, now=_now())
            )
            async with self.rooms.hold(made[-1]) as room:
                await room.edit(lambda _: Edit(splices=[Splice(0, 0, START)]))
        await self.quiet()
        self.corrupt, *channels = made
        self.channels = tuple(channels)
        history = self.tables.histories[self.corrupt]
        assert history.snapshot is not None
        history.snapshot = attrs.evolve(history.snapshot, source_hash="sha256:none")
        self._start = Tables(channels=dict(self.tables.channels), histories=_copied(self.tables.histories))

    async def quiet(self) -> None:
        """Until every room is put away."""
        while len(self.rooms) or len(self.severed):
            await asyncio.sleep(0.0001)

    def put_back(self) -> None:
        self.tables.channels.update(self._start.channels)
        self.tables.histories.update(_copied(self._start.histories))

    async def cycle(self, number: int) -> None:
        """Two people come, one of them writes, both go, and then the room does."""
        async with self.rooms.hold(self.channels[number % CHANNELS]) as room:
            writer, reader = Visitor("writer"), Visitor("reader")
            for member in (writer, reader):
                room.join(member)
            opening = room.open(writer)
            room.open(reader)
            cursor = CursorState(client_id=number, clock=1, json=b'{"user":{"name":"ada"}}')
            room.move_cursor(writer, opening.epoch, encode_awareness([cursor]))
            update = PycrdtEngine().load([opening.update]).splice([Splice(0, 1, f"{number} ")])
            await room.submit(Submission(member=writer, id=str(number), update=update), opening.epoch)
            await writer.acknowledged.wait()
            for member in (writer, reader):
                room.leave(member)

    async def refuse(self, number: int) -> None:
        """A channel that is not there, or is damaged, lets nobody in."""
        with suppress(ChannelMissing, CorruptRecord):
            async with self.rooms.hold(self.corrupt if number % 2 else UNKNOWN):
                raise AssertionError("let in")

    async def fail(self, number: int) -> None:
        """A storage that does not answer lets nobody in."""
        with suppress(StorageUnavailable):
            async with self.severed.hold(self.channels[number % CHANNELS]):
                raise AssertionError("let in")


async def opened() -> Site:
    tables, faults = Tables(), list[BaseException]()
    storage, severed = MemoryStorage(tables), MemoryStorage(tables)
    lease = await storage.leases.acquire(WRITER, "proof", timedelta(days=1))
    assert lease is not None
    await severed.close()
    engine, new_id = PycrdtEngine(), UuidV7()

    def rooms_on(answering: MemoryStorage) -> Rooms:
        clerk = Clerk(store=answering.collaboration, lease=lambda: lease, now=_now, new_id=new_id)
        return Rooms(storage=answering, engine=engine, clerk=clerk, fatal=faults.append, timings=HASTY)

    site = Site(rooms=rooms_on(storage), severed=rooms_on(severed), tables=tables, faults=faults)
    await site.prepare()
    return site


def _copied(histories: dict[ChannelId, History]) -> dict[ChannelId, History]:
    return {
        identity: attrs.evolve(history, operations=dict(history.operations), updates=list(history.updates))
        for identity, history in histories.items()
    }


def _now() -> datetime:
    return datetime.now(UTC)
