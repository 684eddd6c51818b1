"""
How long an edit takes to the screens of the others, and to its writer's confirmation.

From the moment it is written to the writer's socket to the moment it was read from another person's: one sample for each edit
and each other person. Writers type at a steady rate and wait for nothing.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import quantiles
from time import perf_counter

import attrs

from benchmarks.peers.document import Word, typed, unused, words
from benchmarks.peers.system import Person, System, company
from benchmarks.peers.wire import Wire


@attrs.frozen(kw_only=True)
class Scene:
    """Who is in the document, how many of them type, and how fast each of these does."""

    people: int
    typing: int = 1
    per_second: float

    def __str__(self) -> str:
        who = "1 person" if self.people == 1 else f"{self.people} people"
        return who if self.typing == 1 else f"{who}, {self.typing} typing"


ALONE = Scene(people=1, per_second=20)
SCENES = (
    Scene(people=10, per_second=20),
    Scene(people=50, per_second=20),
    Scene(people=50, typing=10, per_second=5),
)


@attrs.frozen(kw_only=True)
class Spread:
    """Milliseconds."""

    p50: float
    p99: float


@attrs.frozen(kw_only=True)
class Latency:
    """``shown`` is None where there is nobody else."""

    shown: Spread | None
    confirmed: Spread


async def latency(system: System, document: str, scene: Scene, seconds: float) -> Latency:
    """
    Play a scene.

    Raises:
        TimeoutError: an edit did not reach somebody.
    """
    count = int(seconds * scene.per_second)
    async with company(system, document, scene.people) as people:
        writers = people[: scene.typing]
        frames = [_frames(person, number, scene, count) for number, person in enumerate(writers)]
        with undisturbed():
            sent = await _type(writers, frames, scene.per_second)
            await _all_arrived(people, writers, count)
        confirmed = [
            at - sent[word]
            for writer, person in enumerate(writers)
            for (word, _), at in zip(frames[writer], _confirmations(person, writer), strict=True)
        ]
        shown = [at - sent[word] for reader, person in enumerate(people) for word, at in arrivals(person, reader)]
        assert not any(person.wire.lost.done() for person in people), "somebody was disconnected"
    return Latency(shown=spread(shown) if shown else None, confirmed=spread(confirmed))


def spread(seconds: Sequence[float]) -> Spread:
    cuts = quantiles(seconds, n=100, method="inclusive")
    return Spread(p50=cuts[49] * 1000, p99=cuts[98] * 1000)


def arrivals(person: Person, reader: int) -> Iterator[tuple[Word, float]]:
    """The new words of others, each with the moment it came."""
    first = unused(person.document)  # Hocuspocus sends the document a second time, as an update
    for at, message in person.wire.received:
        for word in words(person.speech.brought(message)):
            if word.writer != reader and word.number >= first:
                yield word, at


@contextmanager
def undisturbed() -> Iterator[None]:
    """No pause for garbage of ours while something is measured."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _frames(person: Person, writer: int, scene: Scene, count: int) -> Sequence[tuple[Word, bytes]]:
    place = (writer + 1) / (scene.typing + 1)
    return [(word, person.frame(word, update)) for word, update in typed(person.document, writer, place, count)]


async def _type(
    writers: Sequence[Person], frames: Sequence[Sequence[tuple[Word, bytes]]], per_second: float
) -> dict[Word, float]:
    """Send everything at its time, the writers evenly apart; when each edit was sent."""
    loop = asyncio.get_running_loop()
    sent: dict[Word, float] = {}

    def send(wire: Wire, word: Word, frame: bytes) -> None:
        sent[word] = perf_counter()
        wire.write(frame)

    start, step = loop.time() + 0.1, 1 / per_second
    for writer, person in enumerate(writers):
        for number, (word, frame) in enumerate(frames[writer]):
            loop.call_at(start + step * (number + writer / len(writers)), send, person.wire, word, frame)
    await asyncio.sleep(start + step * len(frames[0]) - loop.time())
    return sent


async def _all_arrived(people: Sequence[Person], writers: Sequence[Person], count: int) -> None:
    for reader, person in enumerate(people):
        expected = count * sum(writer is not person for writer in writers)
        await person.wire.until(partial(_reached, partial(arrivals, person, reader), expected))
    for writer, person in enumerate(writers):
        await person.wire.until(partial(_reached, partial(_confirmations, person, writer), count))


def _confirmations(person: Person, writer: int) -> Iterator[float]:
    for at, message in person.wire.received:
        if person.speech.confirms(message, writer):
            yield at


def _reached(some: Callable[[], Iterable[object]], expected: int) -> bool:
    return sum(1 for _ in some()) >= expected
