"""Thousands of lives of rooms in one process, and what is left of them."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import FunctionType

import attrs
from pycrdt import Doc

from chopin_core.engines.pycrdt import PycrdtText
from chopin_core.room.room import Room

from .site import CHANNELS, Site, Visitor, opened

WARM_UP = 600
"""Lives before the first look: pools, caches and the allocator have their size by then."""
MOST_GROWTH = 0.20

_OBSERVERS = f"{PycrdtText._observed.__qualname__}."
"""Of what a document calls when it changes; the library keeps one that is not taken away, and the document with it."""

Step = Callable[[int], Awaitable[None]]


@attrs.frozen(kw_only=True)
class Growth:
    """
    Resident memory in bytes before and after, as a fraction of the former, and the things that live on although every room
    is put away: name and count, empty when nothing leaks.
    """

    rss_before: int
    rss_after: int
    growth: float
    left: Mapping[str, int]

    @property
    def ok(self) -> bool:
        return self.growth <= MOST_GROWTH and not self.left


async def measure(cycles: int, refused: int, failed: int) -> Growth:
    """So many open/edit/close cycles, refused opens and failed loads, after a warm-up of each."""
    site = await opened()
    work: list[tuple[Step, int]] = [(site.cycle, cycles), (site.refuse, refused), (site.fail, failed)]
    for _ in range(2):  # the allocator settles only after the first collection
        for step, number in work:
            await _repeated(site, step, min(number, WARM_UP))
        gc.collect()
    alive, rss_before = _alive(site), _resident()
    for step, number in work:
        await _repeated(site, step, number)
    left = _alive(site) - alive
    rss_after = _resident()
    if site.faults:
        raise site.faults[0]
    return Growth(rss_before=rss_before, rss_after=rss_after, growth=rss_after / rss_before - 1, left=dict(left))


async def _repeated(site: Site, step: Step, times: int) -> None:
    """In rounds in which every channel is used at the same time."""
    for start in range(0, times, CHANNELS):
        await asyncio.gather(*(step(number) for number in range(start, min(start + CHANNELS, times))))
        await site.quiet()
        site.put_back()


def _alive(site: Site) -> Counter[str]:
    """How many things of the rooms are alive."""
    gc.collect()
    found: Counter[str] = Counter()
    for thing in gc.get_objects():
        kind = type(thing)
        if kind in (Room, PycrdtText, Doc, Visitor):
            found[kind.__name__] += 1
        elif kind is asyncio.TimerHandle and not thing.cancelled():
            found["timer"] += 1
        elif kind is FunctionType and thing.__qualname__.startswith(_OBSERVERS):
            found["observer"] += 1
    found["task"] = len(asyncio.all_tasks()) - 1
    found["room open"] = len(site.rooms) + len(site.severed)
    return found


def _resident() -> int:
    """Bytes of memory that are really in use by this process (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
