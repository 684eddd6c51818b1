"""A keystroke in the largest document without disk or socket: what the engine, the checks and the room cost by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from statistics import median
from time import perf_counter
from typing import Final

import attrs

from benchmarks.effort import Effort
from benchmarks.keystrokes import ADA, REPOSITORY
from benchmarks.row import Row
from chopin_core.document.splice import Splice
from chopin_core.document.validity import LARGEST_SOURCE
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.memory.storage import MemoryStorage
from chopin_core.room.batch import Submission
from chopin_core.room.events import Acknowledged, MemberView, RoomEvent
from chopin_core.room.timings import Timings
from chopin_core.running import running
from chopin_storage_pg.testing import ScratchServer

_LINE: Final = "Some *ordinary* prose with `code` and a [link](https://example.com/x), as people write it.\n"
_TEXTS: Final = {"1 KiB": 1024, "256 KiB": LARGEST_SOURCE}


@attrs.define(eq=False)
class _Typist:
    view: MemberView
    heard: asyncio.Queue[RoomEvent] = attrs.field(factory=asyncio.Queue)

    def tell(self, event: RoomEvent) -> None:
        self.heard.put_nowait(event)

    async def acknowledged(self) -> None:
        while not isinstance(await self.heard.get(), Acknowledged):
            pass


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    for name, size in _TEXTS.items():
        seconds = await _keystroke(size, effort.keystrokes)
        yield Row(name=f"keystroke through a room on memory, text of {name}", value=seconds * 1e6, unit="µs")


async def _keystroke(size: int, count: int) -> float:
    """From handing it in until its writer is told, without the wait for others to join in."""
    engine, timings = PycrdtEngine(), Timings(grouping=0.0, checkpoint=3600.0)
    typist, times = _Typist(MemberView(handle="m", client="c")), []
    async with running(MemoryStorage(), engine, owner="benchmarks", timings=timings) as chopin:
        channel = await chopin.documents.create_blank(REPOSITORY, "Long", by=ADA)
        async with chopin.rooms.hold(channel.id) as room:
            room.join(typist)
            opening = room.open(typist)
            replica = engine.load([opening.update])
            text = (_LINE * (size // len(_LINE) + 1))[: size - count]
            await room.submit(Submission(member=typist, id="text", update=replica.splice([Splice(0, 0, text)])), opening.epoch)
            await typist.acknowledged()
            for number in range(count):
                caret = len(text) // 2 + number
                update = replica.splice([Splice(caret, caret, "x")])
                started = perf_counter()
                await room.submit(Submission(member=typist, id=str(number), update=update), opening.epoch)
                await typist.acknowledged()
                times.append(perf_counter() - started)
            room.leave(typist)
    return median(times)
