"""What an open document costs a server: the growth of its resident memory over many rooms, each with one person in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.peers.system import System, joined

_SETTLE_SECONDS: Final = 1.0


async def memory_per_room(system: System, first: str, documents: Sequence[str]) -> float:
    """KiB. The first document was opened before the count begins, so what comes with the first room is not counted."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(joined(system, first))
        before = await _resident(system)
        for document in documents:
            await stack.enter_async_context(joined(system, document))
        return (await _resident(system) - before) / len(documents) / 1024


async def _resident(system: System) -> int:
    await asyncio.sleep(_SETTLE_SECONDS)  # a runtime gives memory back when it likes; nothing tells us
    return _resident_of(system.pid)


def _resident_of(pid: int) -> int:
    """Bytes, as Linux counts them."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024
