"""The comparison as rows: three systems on one machine, one PostgreSQL and one document, taking turns."""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Final

import attrs

from benchmarks.effort import FULL, Effort
from benchmarks.peers import figures
from benchmarks.peers.chopin import chopin
from benchmarks.peers.commit import committing
from benchmarks.peers.document import Word, seed
from benchmarks.peers.durability import Losses, Seen, stored, total, typed_until_killed
from benchmarks.peers.hocuspocus.system import hocuspocus
from benchmarks.peers.latency import ALONE, SCENES, Latency, Scene, latency
from benchmarks.peers.memory import memory_per_room
from benchmarks.peers.pycrdt_websocket.system import pycrdt_websocket
from benchmarks.peers.system import System
from benchmarks.peers.throughput import CROWD, throughput
from benchmarks.row import Row
from chopin_storage_pg.testing import ScratchServer

SEED: Final = 20_261_130
"""Of the moments of the kills."""

DOCUMENT: Final = "the-document"


@attrs.frozen(kw_only=True)
class Extent:
    """``seconds`` is how long a scene lasts, ``latest_kill`` how long somebody types at most before the server is killed."""

    runs: int
    seconds: float
    rooms: int
    rounds: int
    latest_kill: float


WHOLE: Final = Extent(runs=3, seconds=2.5, rooms=100, rounds=5, latest_kill=12.0)
SMOKE: Final = Extent(runs=1, seconds=1.0, rooms=20, rounds=1, latest_kill=3.0)
EARLIEST_KILL: Final = 1.0


async def rows(postgres: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    """The rows of this comparison; the settings of the systems are printed before them."""
    extent = WHOLE if effort.runs >= FULL.runs else SMOKE
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chopin-peers-")))
        _say(f"  killing each of three systems {extent.rounds} times …")
        # Looked at in the end: until then the leases of the killed have run out.
        rounds = [
            await _killed(await stack.enter_async_context(_systems(postgres, folder / f"round-{number}")), moment)
            for number, moment in enumerate(_moments(extent))
        ]
        async with _systems(postgres, folder / "measured") as systems:
            for system in systems:
                _say(f"  {system.name}: {system.about}; confirms by {system.confirmation}")
            _say("  letting people type …")
            async for row in _measured(postgres, systems, extent):
                yield row
        _say("  looking at what the killed have stored …")
        for row in figures.durability(await _losses(rounds), rounds=extent.rounds):
            yield row


@asynccontextmanager
async def _systems(postgres: ScratchServer, folder: Path) -> AsyncIterator[Sequence[System]]:
    """All three, each on an empty persistence; none has been started."""
    async with (
        chopin(postgres, folder / "chopin") as ours,
        pycrdt_websocket(folder / "pycrdt-websocket") as python,
        hocuspocus(postgres, folder / "hocuspocus") as node,
    ):
        yield ours, python, node


async def _begun(system: System, documents: Sequence[str]) -> None:
    await system.start()
    await system.keep(documents, seed())


# Speed and memory


async def _measured(postgres: ScratchServer, systems: Sequence[System], extent: Extent) -> AsyncIterator[Row]:
    documents = [f"room-{number}" for number in range(extent.rooms)]
    crowded = [f"crowd-{number}" for number in range(extent.runs)]
    await asyncio.gather(*(_begun(system, [DOCUMENT, *crowded, *documents]) for system in systems))
    for system in systems:  # what was written to begin with must not count as memory
        await system.stop()
        await system.start()
    memory = {system.name: await memory_per_room(system, DOCUMENT, documents) for system in systems}

    commits: dict[Scene, list[float]] = defaultdict(list)
    latencies: dict[Scene, dict[str, list[Latency]]] = defaultdict(lambda: defaultdict(list))
    rates: dict[str, list[float]] = defaultdict(list)
    async with committing(postgres) as commit_p50:
        for crowd in crowded:
            for scene in (ALONE, *SCENES):
                for system in systems:
                    latencies[scene][system.name].append(await latency(system, DOCUMENT, scene, extent.seconds))
                commits[scene].append(await commit_p50(extent.seconds / 2))
            for system in systems:
                rates[system.name].append(await throughput(system, crowd, extent.seconds))

    for row in figures.latencies(latencies, commits):
        yield row
    for name, some in rates.items():
        yield Row(name=f"edits through, {CROWD}: {name}", value=median(some), unit="edits/s")
    for name, kibibytes in memory.items():
        yield Row(name=f"memory of a room, 32 KiB of text and one person in it: {name}", value=kibibytes, unit="KiB")


# Durability


def _moments(extent: Extent) -> Sequence[float]:
    draw = random.Random(SEED)
    return [draw.uniform(EARLIEST_KILL, extent.latest_kill) for _ in range(extent.rounds)]


async def _killed(systems: Sequence[System], moment: float) -> Sequence[tuple[System, Seen]]:
    """All three are typed into at once and killed after the same time."""
    await asyncio.gather(*(_begun(system, [DOCUMENT]) for system in systems))
    seen = await asyncio.gather(*(typed_until_killed(system, DOCUMENT, moment) for system in systems))
    return list(zip(systems, seen, strict=True))


async def _losses(rounds: Sequence[Sequence[tuple[System, Seen]]]) -> dict[str, Losses]:
    outcomes: dict[str, list[tuple[Seen, Counter[Word]]]] = defaultdict(list)
    for one in rounds:
        found = await asyncio.gather(*(stored(system, DOCUMENT) for system, _ in one))
        for (system, seen), kept in zip(one, found, strict=True):
            outcomes[system.name].append((seen, kept))
    return {name: total(some) for name, some in outcomes.items()}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
