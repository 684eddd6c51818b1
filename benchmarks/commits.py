"""Durable commits per second: on one channel after each other, and on several at once, held against bare psycopg."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks import bare
from benchmarks.effort import Effort
from benchmarks.keystrokes import keystroke, new_channel, writing
from benchmarks.row import Row, at_least, paired
from chopin_core.ids import ChannelId
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchServer

_BARRED: Final = (1, 8)
_WIDTHS: Final = (*_BARRED, 32)
_LOOPS: Final = {"threads": "without asyncio", "tasks": "with asyncio"}


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    async with server.copied() as database, writing(database) as (storage, lease):
        for width in _WIDTHS:
            async for row in _at_once(database.url, storage, lease, width, effort):
                yield row


async def _at_once(url: str, storage: PgStorage, lease: Lease, width: int, effort: Effort) -> AsyncIterator[Row]:
    async def channels(side: str) -> list[ChannelId]:
        return [(await new_channel(storage, f"{side} {number} of {width}")).id for number in range(width)]

    each = max(effort.commits // width, 3)
    ours, mine = await channels("ours"), [0] * width
    rates: dict[str, list[float]] = {"ours": [], "tasks": [], "threads": []}

    def note(side: str, started: float) -> None:
        rates[side].append(each * width / (perf_counter() - started))

    async with (
        bare.tasks(url, await channels("tasks")) as tasks,
        bare.threads(url, await channels("threads")) as threads,
    ):
        for _ in range(effort.runs + 1):
            started = perf_counter()
            await _write(storage, lease, ours, mine, each)
            note("ours", started)
            started = perf_counter()
            threads.write(each)
            note("threads", started)
            started = perf_counter()
            await tasks.write(each)
            note("tasks", started)
    for side in rates:
        del rates[side][0]  # statements are prepared and plans are made there
    what = "one channel" if width == 1 else f"{width} channels at once"
    name = f"durable commits, {what}"
    if width in _BARRED:
        for side, loop in _LOOPS.items():
            yield Row(
                name=f"{name}, against bare psycopg {loop}",
                value=median(rates["ours"]),
                unit="commits/s",
                ratio=paired(rates["ours"], rates[side]),
                bar=at_least(0.80),
            )
    else:
        yield Row(name=name, value=median(rates["ours"]), unit="commits/s")
    for side, loop in _LOOPS.items():
        yield Row(name=f"bare psycopg {loop}, {what}", value=median(rates[side]), unit="commits/s")


async def _write(storage: PgStorage, lease: Lease, channels: Sequence[ChannelId], done: list[int], commits: int) -> None:
    async def one(place: int) -> None:
        for _ in range(commits):
            done[place] += 1
            await storage.collaboration.commit(keystroke(channels[place], done[place]).commit(), lease=lease)

    await asyncio.gather(*map(one, range(len(channels))))
