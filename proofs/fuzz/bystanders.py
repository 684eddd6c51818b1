"""Honest people who type at a steady pace all the while, in rooms of their own and in the rooms that are attacked."""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import attrs

from chopin_web.testing.browser import Browser
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import Server

PAUSE = 0.2
"""Seconds between two edits of one person."""


@attrs.define(kw_only=True)
class Bystander:
    """One of them. ``seconds`` are the times from an edit to its acknowledgement, by phase of the proof."""

    name: str
    channel: str
    attacked: bool
    browser: Browser
    seconds: dict[str, list[float]] = attrs.field(factory=dict)
    violations: list[str] = attrs.field(factory=list)

    async def type_for(self, phase: str, over: asyncio.Event) -> None:
        """Type until it is over, then wait for what is under way."""
        loop = asyncio.get_running_loop()
        times = self.seconds.setdefault(phase, [])
        number = 0
        while not over.is_set():
            number += 1
            began = loop.time()
            try:
                rid = await self.browser.type_in(f"{self.name} {number}\n", at=len(self.browser.replica.text))
                await self.browser.next("plan:ack", rid=rid)
            except TimeoutError:
                self.violations.append(f"{self.name}: an edit was not acknowledged in time, in {phase}")
                return
            times.append(loop.time() - began)
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    code = await self.browser.listen()
                    self.violations.append(f"{self.name}: closed with {code} in {phase}")
                    return

    def complaints(self) -> Sequence[str]:
        """What should not have happened to somebody honest."""
        told = Counter(frame["kind"] for frame in self.browser.frames)
        wrong = [f"{self.name}: was told {kind}" for kind in ("plan:reset", "session:error") if told[kind]]
        acknowledged = Counter(frame["id"] for frame in self.browser.frames if frame["kind"] == "plan:ack")
        twice = sum(count > 1 for count in acknowledged.values())
        if twice:
            wrong.append(f"{self.name}: {twice} edits were acknowledged more than once")
        if self.browser.unacknowledged:
            wrong.append(f"{self.name}: {len(self.browser.unacknowledged)} edits were never acknowledged")
        return [*self.violations, *wrong]


@asynccontextmanager
async def bystanders(server: Server, attacked: Sequence[str], quiet: Sequence[str]) -> AsyncIterator[Sequence[Bystander]]:
    """One in each room, with the document open."""
    async with AsyncExitStack() as people:
        made = []
        for number, channel in enumerate((*attacked, *quiet)):
            name = f"ada{number}"
            person = await people.enter_async_context(signed_in(server.origin, server.token, name))
            browser = await people.enter_async_context(person.browser(channel, max_queue=None))
            made.append(Bystander(name=name, channel=channel, attacked=channel in attacked, browser=browser))
        yield made


async def typing(everybody: Sequence[Bystander], phase: str, over: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as tasks:
        for bystander in everybody:
            tasks.create_task(bystander.type_for(phase, over))


@attrs.frozen(kw_only=True)
class Latency:
    """In milliseconds."""

    median: float
    p99: float
    count: int

    def __str__(self) -> str:
        return f"median {self.median:6.1f} ms, p99 {self.p99:7.1f} ms ({self.count} edits)"


def latency(people: Sequence[Bystander], phase: str) -> Latency:
    times = sorted(1_000 * seconds for one in people for seconds in one.seconds.get(phase, ()))
    return Latency(median=statistics.median(times), p99=times[min(len(times) - 1, int(len(times) * 0.99))], count=len(times))
