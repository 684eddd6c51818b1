"""PostgreSQL stops at once under the server, which must end without having acknowledged anything that is not kept."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.directory import Directory

from .audit import Violation
from .local import Database
from .scene import Scene

ORDERS = {signal.SIGQUIT: "an immediate shutdown", signal.SIGKILL: "kill -9 of its first process"}


async def stop(scene: Scene, database: Database, order: signal.Signals) -> None:
    await scene.gather()
    running = postmaster.read(Directory(database.directory).cluster)
    assert running is not None
    async with scene.typing():
        await asyncio.sleep(scene.random.uniform(0.05, 0.4))
        os.kill(running.pid, order)
        status = await scene.server.ended()
    await scene.abandoned()
    await database.join()
    await scene.refuse([] if status == 1 else [Violation("status", f"the server ended with {status}")])
    await scene.audit()
    await scene.resume()


async def stops(scene: Scene, database: Database, rounds: int) -> AsyncIterator[str]:
    for number in range(1, rounds + 1):
        began = time.monotonic()
        order = list(ORDERS)[number % 2]
        await stop(scene, database, order)
        if number == rounds:
            await scene.audit(settled=True, thorough=True)
        scene.tally.rounds["immediate stop of PostgreSQL"] += 1
        yield f"stop {number}/{rounds} by {ORDERS[order]}: {time.monotonic() - began:.1f} s"
