"""
What is stored when a server is killed at a random moment while somebody types.

A writer types at a steady rate and another person reads; then the process gets SIGKILL, its database goes on. Counted is what
the reader had on the screen and what the writer had confirmed, and how much of either is missing when the server is started
again on its persistence and somebody new opens the document. The two who were there do not come back: a browser that is still
open would send its copy again and hide a loss, and one that was closed could not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final, Self

import attrs

from benchmarks.peers.document import Word, typed, written
from benchmarks.peers.latency import arrivals
from benchmarks.peers.system import System, joined

PER_SECOND: Final = 50
_WRITER: Final = 0
_READER: Final = 1


@attrs.frozen(kw_only=True)
class Seen:
    """What two people knew when the server died."""

    shown: frozenset[Word]
    confirmed: frozenset[Word]


@attrs.frozen(kw_only=True)
class Losses:
    """Edits, over some rounds."""

    shown: int = 0
    shown_lost: int = 0
    confirmed: int = 0
    confirmed_lost: int = 0
    doubled: int = 0

    def with_round(self, seen: Seen, stored: Counter[Word]) -> Self:
        return attrs.evolve(
            self,
            shown=self.shown + len(seen.shown),
            shown_lost=self.shown_lost + len(seen.shown - stored.keys()),
            confirmed=self.confirmed + len(seen.confirmed),
            confirmed_lost=self.confirmed_lost + len(seen.confirmed - stored.keys()),
            doubled=self.doubled + sum(count > 1 for count in stored.values()),
        )


async def typed_until_killed(system: System, document: str, seconds: float) -> Seen:
    """Let a writer type for so long, then kill the server."""
    async with joined(system, document) as writer, joined(system, document) as reader:
        edits = typed(writer.document, _WRITER, 0.5, int((seconds + 1) * PER_SECOND))
        frames = [writer.frame(word, update) for word, update in edits]
        loop = asyncio.get_running_loop()
        start = loop.time()
        sending = [loop.call_at(start + number / PER_SECOND, writer.wire.write, frame) for number, frame in enumerate(frames)]
        try:
            await asyncio.sleep(seconds)
            await system.kill()
        finally:
            for timer in sending:
                timer.cancel()
        await asyncio.wait([writer.wire.lost, reader.wire.lost])
        assert any(arrivals(reader, _READER)), f"nothing was typed into {system.name}, so nothing is proved"
        confirmations = sum(writer.speech.confirms(message, _WRITER) for _, message in writer.wire.received)
        return Seen(
            shown=frozenset(word for word, _ in arrivals(reader, _READER)),
            confirmed=frozenset(word for word, _ in edits[:confirmations]),
        )


async def stored(system: System, document: str) -> Counter[Word]:
    """What somebody new finds in the document."""
    await system.start()
    async with joined(system, document) as somebody:
        found = written(somebody.document)
    await system.kill()
    return found


def total(rounds: Sequence[tuple[Seen, Counter[Word]]]) -> Losses:
    losses = Losses()
    for seen, found in rounds:
        losses = losses.with_round(seen, found)
    return losses
