"""
How many edits a second get through when people type as fast as they are confirmed.

Each writer keeps some edits in flight and sends the next when one is confirmed, but none faster than Chopin lets a connection
type. Counted is what reaches a person who only reads, so a system that confirms sooner than it relays gains nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from time import perf_counter
from typing import Final

from benchmarks.peers.document import typed
from benchmarks.peers.latency import arrivals, undisturbed
from benchmarks.peers.system import Person, System, company

WRITERS: Final = 20
IN_FLIGHT: Final = 8
MOST_PER_SECOND: Final = 180
"""Of one writer. Chopin takes 200 a second of a connection (protocol spec §4.2) and then asks it to wait."""

CROWD: Final = f"{WRITERS} people typing flat out, {WRITERS * MOST_PER_SECOND:,}/s at most"

_NOBODY: Final = 99
_QUIET_SECONDS: Final = 0.3


async def throughput(system: System, document: str, seconds: float) -> float:
    """Edits a second."""
    async with company(system, document, WRITERS + 1) as (reader, *writers):
        typing = [_Typing(person, number, int(seconds * MOST_PER_SECOND)) for number, person in enumerate(writers)]
        with undisturbed():
            started = perf_counter()
            for each in typing:
                each.begin()
            await asyncio.sleep(seconds)
            for each in typing:
                each.stop()
        await _quiet([reader, *writers])
        assert not any(person.wire.lost.done() for person in (reader, *writers)), "somebody was disconnected"
        return sum(at <= started + seconds for _, at in arrivals(reader, _NOBODY)) / seconds


async def _quiet(people: Sequence[Person]) -> None:
    """Wait until nothing is on its way. Somebody who left while something was would take pycrdt-websocket's server down."""
    before = -1
    while (now := sum(len(person.wire.received) for person in people)) != before:
        before = now
        await asyncio.sleep(_QUIET_SECONDS)


class _Typing:
    """Somebody who types as fast as allowed."""

    def __init__(self, person: Person, writer: int, count: int) -> None:
        place = (writer + 1) / (WRITERS + 1)
        self._frames = deque(person.frame(word, update) for word, update in typed(person.document, writer, place, count))
        self._person = person
        self._writer = writer
        self._free = 0
        self._next: asyncio.TimerHandle | None = None
        self._not_before = 0.0
        person.wire.heard = self._heard

    def begin(self) -> None:
        self._free = IN_FLIGHT
        self._send()

    def stop(self) -> None:
        self._person.wire.heard = None
        self._frames.clear()
        if self._next is not None:
            self._next.cancel()

    def _heard(self, message: bytes) -> None:
        if self._person.speech.confirms(message, self._writer):
            self._free += 1
            if self._next is None:
                self._send()

    def _send(self) -> None:
        loop = asyncio.get_running_loop()
        self._next = None
        if not self._free or not self._frames:
            return
        now = loop.time()
        if now >= self._not_before:
            self._person.wire.write(self._frames.popleft())
            self._free -= 1
            self._not_before = max(self._not_before, now - 0.05) + 1 / MOST_PER_SECOND
        if self._free:
            self._next = loop.call_at(self._not_before, self._send)
