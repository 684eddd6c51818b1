"""What the test clients count as waiting."""

from __future__ import annotations

import asyncio
import time

import pytest

from chopin_web.testing.patience import BEAT, patience


async def test_time_in_which_the_loop_stood_still_does_not_count() -> None:
    answered = asyncio.Event()

    async def wait() -> None:
        async with patience(4 * BEAT):
            await answered.wait()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    time.sleep(5 * BEAT)  # noqa: ASYNC251  # because this is what a busy machine does to a loop
    answered.set()
    await waiting


async def test_an_answer_that_does_not_come_ends_the_waiting() -> None:
    with pytest.raises(TimeoutError):
        async with patience(2 * BEAT):
            await asyncio.Event().wait()
