"""The writer stands still past its lease, another process takes over, and the first one wakes up in the middle of its work."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from enum import Enum
from pathlib import Path
from random import Random

from chopin_storage_pg.testing import ScratchServer
from chopin_web.testing.server import Server

from .audit import Violation
from .report import Tally
from .rows import Session, everything, reading
from .scene import Scene

LEASE_WAIT = 60.0
"""A lease lasts 30 s after its last renewal; more than that would be a holder that cannot be replaced."""
LOSS = ("the writer lease is lost", "LeaseLost")
"""What the one who woke up must have noticed: by itself, or because storage refused it a write."""


class Moment(Enum):
    """When the writer stands still."""

    TYPING = "everybody is writing"
    FOLDING = "the journal is being folded, half a second after the last commit"


async def pause(postgres: ScratchServer, directory: Path, random: Random, tally: Tally, moment: Moment) -> float:
    """One round, on a database of its own; the seconds from standing still to the take-over."""
    async with AsyncExitStack() as stack:
        url = (await stack.enter_async_context(postgres.blank())).url
        first = await stack.enter_async_context(Server(directory / "first", database_url=url))
        second = Server(directory / "second", database_url=url)
        stack.push_async_callback(second.kill)
        scene = Scene(server=first, random=random, tally=tally, url=lambda: url)
        await scene.enter()
        stack.push_async_callback(scene.leave)
        await scene.gather()

        frozen = await _frozen(scene, moment)
        left = {writer: await writer.left_behind() for writer in scene.writers}
        await scene.audit()
        await _take_over(scene, second, first.pid)
        taken_over_after = time.monotonic() - frozen
        async with reading(url) as session:
            told_at_most = await _document_sequences(session)

        scene.server = second
        await scene.enter()
        await scene.connect()
        async with scene.typing():
            await asyncio.sleep(0.3)
        await scene.settled()
        await _folded(url)
        async with reading(url) as session:
            before = await everything(session)

        first.thaw()
        status = await first.ended()
        overheard = await asyncio.gather(*(writer.overhear(wire) for writer, wire in left.items()))
        async with reading(url) as session:
            after = await everything(session)
        violations = []
        if after != before:
            changed = [table for table in after if after[table] != before.get(table)]
            violations.append(Violation("written after take-over", f"rows of {changed}"))
        if status == 0 or not any(loss in first.said() for loss in LOSS):
            violations.append(Violation("status", f"it ended with {status} and said nothing of its lease"))
        for writer, acknowledged in zip(left, overheard, strict=True):
            late = {id: told for id, told in acknowledged.items() if told > told_at_most[writer.document]}
            if late:
                violations.append(Violation("acknowledged after take-over", f"{late} to {writer.name}"))
        await scene.refuse(violations)

        async with scene.typing():
            await asyncio.sleep(0.2)
        await scene.settled()
        await scene.agree()
        await scene.audit(settled=True, thorough=True)
        tally.rounds["SIGSTOP of the writer past its lease"] += 1
        return taken_over_after


async def _frozen(scene: Scene, moment: Moment) -> float:
    """Let the writer stand still while everybody writes on, not knowing that nobody hears them; when that was."""
    random = scene.random
    if moment is Moment.FOLDING:
        async with scene.typing():
            await asyncio.sleep(0.1)
        await scene.settled()
        await asyncio.sleep(random.uniform(0.44, 0.56))
        scene.server.freeze()
        frozen = time.monotonic()
        async with scene.typing():
            await asyncio.sleep(0.1)
        return frozen
    async with scene.typing():
        await asyncio.sleep(random.uniform(0.1, 0.6))
        scene.server.freeze()
        frozen = time.monotonic()
        await asyncio.sleep(0.1)
    return frozen


async def _take_over(scene: Scene, second: Server, holder: int) -> None:
    """Start the second process as a supervisor would, again and again, until it is the writer."""
    refusals = 0
    async with asyncio.timeout(LEASE_WAIT):
        while not second.running:
            try:
                await second.start()
            except AssertionError as refused:
                # Tried at once, and then when it may succeed: a start costs too much to be tried all the time.
                if f":{holder}:" not in str(refused):
                    raise
                refusals += 1
                await _lease_nearly_over(scene.url())
    await scene.refuse([] if refusals else [Violation("lease", "it was taken from a holder that had just renewed it")])


async def _lease_nearly_over(url: str) -> None:
    async with reading(url) as session:
        cursor = await session.execute("SELECT extract(epoch FROM max(expires_at) - clock_timestamp()) FROM storage_leases")
        row = await cursor.fetchone()
    await asyncio.sleep(max(0.2, float(row[0]) - 1.0 if row else 0.2))


async def _folded(url: str) -> None:
    """Wait until the new writer has nothing left to do, so that every later change would be the old one's."""
    async with asyncio.timeout(20):
        while True:
            async with reading(url) as session:
                cursor = await session.execute("SELECT count(*) FROM channel_updates")
                if await cursor.fetchone() == (0,):
                    return
            await asyncio.sleep(0.1)


async def _document_sequences(session: Session) -> dict[str, int]:
    cursor = await session.execute("SELECT channel_id, (head ->> 'documentSeq')::bigint FROM channel_state")
    return dict(await cursor.fetchall())
