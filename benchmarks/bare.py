"""
The least that could do the durable work of a keystroke: bare psycopg, one prepared statement, one round trip.

The same rows with the same sizes go to the same tables in one transaction on the same server: the operation, the journal
row, the sidecar's head, the channel's counters and its time of activity. Nothing is asked and nothing is guarded: no lease, no
lock, no look at the revision or at an earlier operation of this id; the caller counts and is believed. So the difference
between this and a commit is the price of everything that Chopin promises beyond "it was written".

There are two loops, without asyncio and with it: several connections at once are threads there and tasks here. A commit is
held against both. For one channel the loop without asyncio is the harder bar, since nothing else can go on in its process while
it waits; for several the one with asyncio is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any, Final

import attrs
import psycopg

from benchmarks.keystrokes import EPOCH, keystroke
from chopin_core.ids import ChannelId

KEYSTROKE: Final = b"""
WITH
    operation AS (
        INSERT INTO channel_operations (channel_id, operation_id, sequence, revision) VALUES (%s, %s, %s, %s)
    ),
    journal AS (
        INSERT INTO channel_updates (channel_id, sequence, revision, epoch, update) VALUES (%s, %s, %s, %s, %s)
    ),
    state AS (
        UPDATE channel_state SET head = %s::json WHERE channel_id = %s
    )
UPDATE channels SET revision = %s, next_sequence = %s, updated_at = %s WHERE id = %s
"""


def parameters(channel: ChannelId, number: int) -> tuple[Any, ...]:
    key = keystroke(channel, number)
    head = json.dumps(key.head, separators=(",", ":"))
    operation = (channel, key.operation_id, number, number)
    journal = (channel, number, number, EPOCH, key.update)
    return (*operation, *journal, head, channel, number, number + 1, key.now, channel)


@attrs.define
class _Counted:
    channel: ChannelId
    number: int = 0

    def next(self) -> tuple[Any, ...]:
        self.number += 1
        return parameters(self.channel, self.number)


class Tasks:
    """A psycopg connection for each channel, each with a task of its own."""

    def __init__(self, connections: Sequence[psycopg.AsyncConnection[Any]], channels: Sequence[ChannelId]) -> None:
        self._connections = connections
        self._channels = [_Counted(channel) for channel in channels]

    async def write(self, commits: int) -> None:
        await asyncio.gather(*map(self._write, self._connections, self._channels, [commits] * len(self._channels)))

    async def _write(self, connection: psycopg.AsyncConnection[Any], channel: _Counted, commits: int) -> None:
        for _ in range(commits):
            await connection.execute(KEYSTROKE, channel.next(), prepare=True)


class Threads:
    """The same without asyncio: a thread for each channel."""

    def __init__(self, connections: Sequence[psycopg.Connection[Any]], channels: Sequence[ChannelId]) -> None:
        self._connections = connections
        self._channels = [_Counted(channel) for channel in channels]

    def write(self, commits: int) -> None:
        if len(self._channels) == 1:
            return self._write(self._connections[0], self._channels[0], commits)
        with ThreadPoolExecutor(len(self._channels)) as threads:
            list(threads.map(self._write, self._connections, self._channels, [commits] * len(self._channels)))

    def _write(self, connection: psycopg.Connection[Any], channel: _Counted, commits: int) -> None:
        for _ in range(commits):
            connection.execute(KEYSTROKE, channel.next(), prepare=True)


@asynccontextmanager
async def tasks(url: str, channels: Sequence[ChannelId]) -> AsyncIterator[Tasks]:
    async with AsyncExitStack() as stack:
        connect = psycopg.AsyncConnection.connect
        yield Tasks(
            [await stack.enter_async_context(await connect(url, autocommit=True)) for _ in channels],
            channels,
        )


@asynccontextmanager
async def threads(url: str, channels: Sequence[ChannelId]) -> AsyncIterator[Threads]:
    with ExitStack() as stack:
        yield Threads([stack.enter_context(psycopg.connect(url, autocommit=True)) for _ in channels], channels)
