"""A room on the in-memory storage, and people who listen in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import attrs
import pytest

from chopin_core.channel import Channel
from chopin_core.document.splice import Splice
from chopin_core.documents import Documents
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId, RepositoryId, UserId, UuidV7, channel_id
from chopin_core.memory.storage import MemoryStorage
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.ports.documents import SharedText
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.room.batch import Submission
from chopin_core.room.events import Acknowledged, MemberView, Reset, RoomEvent, Updated
from chopin_core.room.history import Clerk
from chopin_core.room.room import Room
from chopin_core.room.rooms import Rooms
from chopin_core.room.timings import Timings

REPOSITORY = Repository(id=RepositoryId("R_1"), owner="ada", name="engine")
ADA = Person(id=UserId("local:ada"), login="ada")
E = TypeVar("E", bound=RoomEvent)


class Listener:
    """A member with a replica of its own, as a browser has one; it does what the room tells it."""

    def __init__(self, handle: str) -> None:
        self.view = MemberView(handle=handle, client=f"{handle}-1")
        self.events: list[RoomEvent] = []
        self.replica: SharedText = PycrdtEngine().new()
        self.epoch = ""
        self.sent: dict[str, bytes] = {}
        self._heard = asyncio.Event()

    def tell(self, event: RoomEvent) -> None:
        self.events.append(event)
        if isinstance(event, Updated):
            self.replica.apply(event.update)
        self._heard.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Listen until something heard made the condition true."""
        while not condition():
            self._heard = asyncio.Event()
            await self._heard.wait()

    def told(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def enter(self, room: Room) -> None:
        room.join(self)
        self.open(room)

    def open(self, room: Room) -> None:
        opening = room.open(self)
        self.replica = PycrdtEngine().load([opening.update])
        self.epoch = opening.epoch

    @property
    def acknowledged(self) -> list[str]:
        return [event.id for event in self.told(Acknowledged)]

    @property
    def resets(self) -> int:
        return len(self.told(Reset))

    async def write(self, room: Room, word: str, at: int | None = None) -> bytes:
        """Put a word into the own replica and send the update, named after the word; what was sent."""
        at = len(self.replica.text) if at is None else at
        self.sent[word] = update = self.replica.splice([Splice(at, at, word)])
        await room.submit(Submission(member=self, id=word, update=update), self.epoch)
        return update

    async def come_back(self, room: Room) -> bool:
        """
        After the connection was lost: catch up, and send again what was not acknowledged. False for a replica that the
        document has left behind; then it is given up for a new one.
        """
        room.join(self)
        opening = room.open(self, self.epoch, self.replica.state_vector())
        if opening.epoch != self.epoch:
            self.epoch, self.replica = opening.epoch, PycrdtEngine().load([opening.update])
            return False
        self.replica.apply(opening.update)
        for word, update in self.sent.items():
            if word not in self.acknowledged:
                await room.submit(Submission(member=self, id=word, update=update), self.epoch)
        return True


@attrs.frozen(kw_only=True)
class House:
    """Everything around a room: one storage, one lease, and the faults that were called fatal."""

    storage: MemoryStorage
    lease: Lease
    rooms: Rooms
    documents: Documents
    fatal: list[BaseException]

    async def channel(self, name: str = "notes") -> Channel:
        return await channel_in(self.storage, name)

    def second(self, timings: Timings | None = None) -> House:
        """Another process after this one: the same storage, nothing else in common."""
        return house_on(self.storage, self.lease, timings or FAST)


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FAST = Timings(grouping=0.001, checkpoint=0.02, eviction=0.03)


async def channel_in(storage: MemoryStorage, name: str) -> Channel:
    await storage.users.put(ADA, now=NOW)
    return await storage.channels.create(
        ChannelCreate(id=channel_id(REPOSITORY.id, name), repository=REPOSITORY, title=name, created_by=ADA.id, now=NOW)
    )


async def lease_on(storage: MemoryStorage) -> Lease:
    """The writer's lease, for longer than any test takes."""
    lease = await storage.leases.acquire(WRITER, "test", timedelta(days=1))
    assert lease is not None
    return lease


def house_on(storage: MemoryStorage, lease: Lease, timings: Timings) -> House:
    fatal: list[BaseException] = []
    new_id = UuidV7()
    engine = PycrdtEngine()
    clerk = Clerk(store=storage.collaboration, lease=lambda: lease, now=lambda: NOW, new_id=new_id)
    rooms = Rooms(storage=storage, engine=engine, clerk=clerk, fatal=fatal.append, timings=timings)
    return House(
        storage=storage,
        lease=lease,
        rooms=rooms,
        documents=Documents(storage=storage, rooms=rooms, engine=engine, now=lambda: NOW, new_id=new_id),
        fatal=fatal,
    )


def put_in_place(patch: pytest.MonkeyPatch, store: object, method: str, stand_in: Callable[..., object]) -> None:
    """Let a stand-in answer for one method of a store, as a fault of the database or a slow one would."""
    patch.setattr(type(store), method, lambda _, *words, **named: stand_in(*words, **named))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


async def type_in(room: Room, member: Listener, index: int, text: str, name: str = "u1") -> None:
    update = member.replica.splice([Splice(index, index, text)])
    await room.submit(Submission(member=member, id=name, update=update), member.epoch)


async def stored(house: House, channel: ChannelId) -> StoredChannel:
    loaded = await house.storage.collaboration.load(channel)
    assert loaded is not None
    return loaded


async def text_after_restart(house: House, channel: ChannelId) -> str:
    second = house.second()
    async with second.rooms.hold(channel) as room:
        text = room.view().text
    await second.rooms.close()
    return text
