"""How long the core takes to import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.effort import Effort
from benchmarks.row import Row
from chopin_storage_pg.testing import ScratchServer

_IMPORTS: Final = {
    "the core, to embed it": "import chopin_core.running",
    "the core with its engine": "import chopin_core.running, chopin_core.engines.pycrdt",
    "the whole server": "import chopin_web.main",
}


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    nothing: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(min(effort.runs, 7) + 1):
        nothing.append(_seconds("pass"))
        for name, statement in _IMPORTS.items():
            taken[name].append(_seconds(statement))
    for name, times in taken.items():
        yield Row(name=f"import of {name}", value=(median(times[1:]) - median(nothing[1:])) * 1e3, unit="ms")


def _seconds(statement: str) -> float:
    """Of an interpreter that does just that."""
    started = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return perf_counter() - started
