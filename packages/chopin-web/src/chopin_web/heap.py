"""Giving memory back to the system that nobody uses any more."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

EVERY = 20.0
"""Seconds between two times that memory is given back."""


@asynccontextmanager
async def heap_trimmed() -> AsyncIterator[None]:
    """
    Give unused memory back now and then while the context is open.

    The C library keeps what it was given for the documents of a busy hour: it gives back what lies at the end of its heap, and
    one small piece in use there keeps all before it. After an attack that doubled the heap (``make fuzz``) nothing of it was in
    use and all of it was kept. Giving 30 MB back takes about 2 ms, and next to nothing when there is nothing to give.
    """
    giving = asyncio.get_running_loop().create_task(_give_back())
    try:
        yield
    finally:
        giving.cancel()
        await asyncio.wait([giving])


async def _give_back() -> None:
    trim = trimming()
    while trim is not None:
        await asyncio.sleep(EVERY)
        await asyncio.to_thread(trim, 0)


def trimming() -> Callable[[int], Any] | None:
    """What has the C library give back; None where it has no such function, as musl and macOS, which keep less."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
