"""``kill -9`` on the server, at every kind of moment."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator
from enum import Enum

from .scene import Scene
from .writer import BROKEN


class Moment(Enum):
    """When the server dies."""

    TYPING = "everybody is writing"
    FOLDING = "the journal is being folded, half a second after the last commit"
    DRAINING = "it was asked to stop and is writing its rooms out"
    RETURNING = "everybody is coming back and sends again what was not acknowledged"
    STARTING = "it is starting after a kill"


START = 1.5
"""Seconds that a start takes, about."""


async def kill(scene: Scene, moment: Moment) -> None:
    await scene.gather()
    random, server = scene.random, scene.server
    match moment:
        case Moment.TYPING | Moment.STARTING | Moment.RETURNING:
            async with scene.typing():
                await asyncio.sleep(random.uniform(0.0, 0.4))
                await server.kill()
        case Moment.FOLDING:
            async with scene.typing():
                await asyncio.sleep(random.uniform(0.05, 0.2))
            await scene.settled()
            await asyncio.sleep(random.uniform(0.44, 0.56))
            await server.kill()
        case Moment.DRAINING:
            async with scene.typing():
                await asyncio.sleep(random.uniform(0.1, 0.3))
                assert server.process is not None
                server.process.send_signal(signal.SIGTERM)
                await asyncio.sleep(random.uniform(0.0, 0.05))
                await server.kill()
    await scene.abandoned()
    await scene.audit()
    if moment is Moment.STARTING:
        await server.launch()
        await asyncio.sleep(random.uniform(0.0, START))
        await server.kill()
        await scene.audit()
    if moment is Moment.RETURNING:
        await server.start()
        returning = asyncio.gather(*map(scene.attached, scene.writers), return_exceptions=True)
        await asyncio.sleep(random.uniform(0.0, 0.15))
        await server.kill()
        for outcome in await returning:
            with contextlib.suppress(*BROKEN):
                if outcome is not None:
                    raise outcome
        await scene.abandoned()
        await scene.audit()
    await scene.resume()


async def kills(scene: Scene, rounds: int, every: int = 10) -> AsyncIterator[str]:
    """So many rounds, each moment as often as the others but in no order; what was done, as it is done."""
    await scene.gather()
    moments = [list(Moment)[number % len(Moment)] for number in range(rounds)]
    scene.random.shuffle(moments)
    for number, moment in enumerate(moments, 1):
        began = time.monotonic()
        await kill(scene, moment)
        if number % every == 0 or number == rounds:
            await scene.audit(settled=True, thorough=True)
        scene.tally.rounds["kill -9 of the server"] += 1
        yield f"kill {number}/{rounds} while {moment.value}: {time.monotonic() - began:.1f} s"
