"""Whether a keystroke costs more when the record beside the document is large."""

from __future__ import annotations

from collections.abc import AsyncIterator
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.effort import Effort
from benchmarks.keystrokes import keystroke, new_channel, writing
from benchmarks.row import Row, at_most
from chopin_core.jsonvalue import Json
from chopin_core.sidecar import SidecarRecord
from chopin_storage_pg.testing import ScratchServer

_KIB: Final = 1024
_SIZES: Final = {"1 KiB": _KIB, "1 MiB": _KIB * _KIB}


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    async with server.copied() as database, writing(database) as (storage, lease):
        channels = {name: (await new_channel(storage, name, _sidecar(size))).id for name, size in _SIZES.items()}
        times: dict[str, list[float]] = {name: [] for name in channels}
        for number in range(1, effort.runs * effort.commits + 1):
            for name, channel in channels.items():
                commit = keystroke(channel, number).commit()
                started = perf_counter()
                await storage.collaboration.commit(commit, lease=lease)
                times[name].append(perf_counter() - started)
    small, large = (median(times[name]) * 1e3 for name in _SIZES)
    yield Row(
        name="commit of a keystroke beside a sidecar of 1 MiB, against 1 KiB",
        value=large,
        unit="ms",
        ratio=large / small,
        bar=at_most(1.3),
    )


def _sidecar(size: int) -> SidecarRecord:
    """One whose text has about this size, of sections as agents' requests leave them."""
    entry: Json = {"request": "0123456789abcdef" * 56, "answer": {"revision": 1}}
    count = max(size // _KIB, 1)
    head = {"version": 1, "documentSeq": 0, "revision": 0}
    return SidecarRecord(head=head, sections={f"mcpUpdates.{number:032x}": entry for number in range(count)})
