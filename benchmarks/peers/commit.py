"""The part of an edit's way that only Chopin goes: the durable commit of a keystroke, by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.keystrokes import keystroke, new_channel, writing
from chopin_storage_pg.testing import ScratchServer

PER_SECOND: Final = 20
"""As fast as a writer in the scenes types. One commit right after another takes less, as everything stays awake."""


@asynccontextmanager
async def committing(postgres: ScratchServer) -> AsyncIterator[Callable[[float], Awaitable[float]]]:
    """
    A measurement to be taken again and again: the p50 in milliseconds of the commits of so many seconds, with nothing else
    going on, on the server that Chopin uses too.
    """
    async with postgres.copied() as database, writing(database) as (storage, lease):
        channel = await new_channel(storage, "alone")
        numbers = count(1)

        async def commits(seconds: float) -> float:
            took = []
            for _ in range(int(seconds * PER_SECOND)):
                await asyncio.sleep(1 / PER_SECOND)
                commit = keystroke(channel.id, next(numbers)).commit()
                started = perf_counter()
                await storage.collaboration.commit(commit, lease=lease)
                took.append(perf_counter() - started)
            return median(took) * 1000

        yield commits
