"""Choosing what the corpus holds; the same code and the same seed choose the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from random import Random

import websockets

from chopin_web.testing.person import Person, signed_in
from chopin_web.testing.server import Server

from . import corpus
from .corpus import Kept
from .frames import HostileFrame, Talk, hostile_frames
from .offenders import answer_to
from .search import SCENES, most_diverse, searched

SEED = 1
TRIES = 12_000
UPDATES, FRAMES = 1_700, 300
FRAME_TRIES = 1_500
LARGEST_KEPT = 1_000

EPOCH = "{epoch}"
"""Stands in a kept frame for the epoch of whatever document it is sent to."""


def keep_updates() -> int:
    chosen = most_diverse(searched(TRIES, SEED), UPDATES, {name: make() for name, make in SCENES.items()})
    return corpus.write(
        corpus.UPDATES,
        (Kept(kind=tried.kind, verdict=judged.verdict, data=tried.data, scene=name) for name, tried, judged in chosen),
    )


async def keep_frames(server: Server) -> int:
    """Text frames alone, spread evenly over how they were made and what was answered."""
    talk = Talk(epoch=EPOCH, update=b"\x01\x01\xe9\x07\x00\x04\x01\x06source\x01x\x00")
    tries = [
        frame
        for frame in islice(hostile_frames(lambda: talk, Random(SEED)), FRAME_TRIES)
        if isinstance(frame.message, str) and len(frame.message) <= LARGEST_KEPT
    ]
    groups: dict[tuple[str, str], list[Kept]] = {}
    async with talking(server) as talker:
        for frame in tries:
            verdict = await talker.verdict(frame.kind, str(frame.message))
            kept = Kept(kind=frame.kind, verdict=verdict, data=str(frame.message).encode())
            group = groups.setdefault((frame.kind, verdict), [])
            if kept not in group:
                group.append(kept)
    rounds = (group[number] for number in range(FRAME_TRIES) for group in groups.values() if number < len(group))
    return corpus.write(corpus.FRAMES, islice(rounds, FRAMES))


class Talker:
    """Somebody whose frames are answered one at a time, each on a connection that has no strikes yet."""

    def __init__(self, person: Person, channel: str) -> None:
        self._person = person
        self._channel = channel

    async def verdict(self, kind: str, message: str) -> str:
        """What the frame brings about at once."""
        async with self._person.browser(self._channel, max_queue=None) as browser:
            try:
                return await answer_to(browser, HostileFrame(kind=kind, message=message.replace(EPOCH, browser.epoch)))
            except websockets.ConnectionClosed as closed:
                return f"closed {closed.rcvd.code if closed.rcvd else ''}"


@asynccontextmanager
async def talking(server: Server) -> AsyncIterator[Talker]:
    async with signed_in(server.origin, server.token, "eve") as eve:
        yield Talker(eve, await eve.create_document("Talk"))
