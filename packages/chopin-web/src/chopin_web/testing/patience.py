"""Waiting for a server's answer without taking one's own slowness for the server's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

BEAT = 0.25


@asynccontextmanager
async def patience(seconds: float) -> AsyncIterator[None]:
    """
    As ``asyncio.timeout``, but time in which this event loop did not get round to anything does not count.

    Whoever plays forty clients in one process on a busy machine is held up for seconds at a time. An answer that has arrived
    meanwhile lies in the socket, unread, when the clock on the wall says that it is too late.

    Raises:
        TimeoutError: the loop was at work for so long, and what is waited for did not come.
    """
    async with asyncio.timeout(None) as deadline:
        beating = asyncio.get_running_loop().create_task(_beat(deadline, seconds))
        try:
            yield
        finally:
            beating.cancel()


async def _beat(deadline: asyncio.Timeout, seconds: float) -> None:
    for _ in range(round(seconds / BEAT)):
        await asyncio.sleep(BEAT)
    deadline.reschedule(asyncio.get_running_loop().time())
