"""The whole proof: honest people, an attack, and everything that must be true while it lasts and when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

import attrs

from chopin_core.room.timings import Timings
from chopin_web import heap
from chopin_web.testing.person import Person, signed_in
from chopin_web.testing.server import Server

from .aftermath import Copy, disagreements, faults, opened, reasons, resident
from .assault import Assault, Damage
from .attacker import elsewhere
from .bystanders import Bystander, Latency, bystanders, latency, typing
from .tally import Tally

T = TypeVar("T")

LETTING_GO = 10.0
"""Seconds after which nobody who has gone may still be shown in a room."""

PUT_AWAY = Timings().eviction + heap.EVERY + 5.0
"""
Seconds after which nobody's document is open, and what they took was given back. Memory is compared then: the documents have
grown, by all that was taken and by what the honest wrote, and that is theirs to do.
"""

EXPECTED_CODES = frozenset({"4003", "4429", "1009", "1002", "1007", "without a word"})
"""``without a word``: bytes that are no WebSocket any more, after which the server hangs up."""


@attrs.frozen(kw_only=True)
class Plan:
    """How much of what. ``memory`` and ``slower`` are the largest ratios to before that are let pass."""

    updates: int
    frames: int
    garbage: int
    floods: int
    seed: int
    updates_per_second: float
    frames_per_second: float
    attacked: int = 12
    quiet: int = 2
    quiet_seconds: float = 15.0
    memory: float = 1.2
    put_away: float = PUT_AWAY
    slower: float | None = None


@attrs.define(kw_only=True)
class Report:
    """What was seen. ``people`` are the bystanders' latencies before and during the attack, by where they are."""

    damage: Damage
    people: Mapping[str, tuple[Latency, Latency]]
    memory: tuple[int, int]
    reasons: Mapping[str, int]
    rooms: int
    edits: int
    violations: list[str]


async def campaign(server: Server, plan: Plan, say: Callable[[str], None]) -> Report:
    """Of a server that is not running yet; nothing of it is running afterwards."""
    async with server, signed_in(server.origin, server.token) as operator:
        attacked = tuple([await operator.create_document(f"Attacked {number}") for number in range(plan.attacked)])
        quiet = tuple([await operator.create_document(f"Quiet {number}") for number in range(plan.quiet)])
        whole = Assault(
            origin=server.origin,
            token=server.token,
            channels=attacked,
            seed=plan.seed,
            updates=plan.updates,
            updates_per_second=plan.updates_per_second,
            frames=plan.frames,
            frames_per_second=plan.frames_per_second,
            garbage=plan.garbage,
            floods=plan.floods,
        )

        say("warming up")
        await elsewhere(
            attrs.evolve(whole, seed=plan.seed + 1, updates=plan.updates // 40, frames=plan.frames // 40, garbage=1, floods=1)
        )
        say("waiting until every document is put away")
        await asyncio.sleep(plan.put_away)
        pid, before = server.pid, resident(server.pid)
        async with bystanders(server, attacked, quiet) as people:
            say(f"{len(people)} people write in peace for {plan.quiet_seconds:.0f} s")
            await _typing_while(people, "peace", asyncio.sleep(plan.quiet_seconds))
            say(f"they write on while {plan.updates} updates and {plan.frames} frames are thrown at the server")
            damage = await _typing_while(people, "attack", elsewhere(whole))
            violations = [complaint for one in people for complaint in await _settled(one)]
            texts = {one.channel: one.browser.replica.text for one in people}
            copies = {channel: await opened(operator, channel) for channel in texts}
            violations += await _left_over(operator, people, copies)
        say("waiting until every document is put away")
        await asyncio.sleep(plan.put_away)
        after = resident(pid)
        violations += disagreements(texts, copies, "before the restart")
        log = server.said()
        say("starting the server anew")
        violations += await _restarted(server, pid)
        violations += disagreements(texts, {channel: await opened(operator, channel) for channel in texts}, "after it")
    if after > plan.memory * before:
        violations.append(f"the server held {before} KiB before and {after} KiB after")
    latencies = {
        place: (latency(those, "peace"), latency(those, "attack"))
        for place, those in (
            ("in rooms of their own", [one for one in people if not one.attacked]),
            ("in attacked rooms", [one for one in people if one.attacked]),
        )
    }
    if plan.slower is not None:
        violations += [f"slower {place}" for place, (was, now) in latencies.items() if now.median > plan.slower * was.median]
    return Report(
        damage=damage,
        people=latencies,
        memory=(before, after),
        reasons=reasons(log),
        rooms=len(texts),
        edits=sum(len(one.browser.acknowledged) for one in people),
        violations=[*violations, *_of_the_offenders(damage)],
    )


async def _restarted(server: Server, pid: int) -> Sequence[str]:
    """Stop it as an operator would, and start it again; what was wrong with the one that ended."""
    wrong = [] if server.pid == pid else ["the server is another process"]
    try:
        await server.stop()
    except AssertionError as error:
        wrong.append(f"the server did not stop cleanly: {error}")
    wrong += [f"logged: {fault}" for fault in faults(server.said())]
    await server.kill()
    await server.start()
    return wrong


async def _typing_while(people: Sequence[Bystander], phase: str, work: Awaitable[T]) -> T:
    over = asyncio.Event()
    writing = asyncio.create_task(typing(people, phase, over))
    try:
        return await work
    finally:
        over.set()
        await writing


async def _settled(bystander: Bystander) -> Sequence[str]:
    """Once they have heard all that there is to hear."""
    with suppress(TimeoutError):
        async with asyncio.timeout(1.0):
            await bystander.browser.listen()
    return bystander.complaints()


async def _left_over(operator: Person, people: Sequence[Bystander], copies: Mapping[str, Copy]) -> Sequence[str]:
    """Offenders and cursors that are still shown when they should be gone."""
    loop = asyncio.get_running_loop()
    patience = loop.time() + LETTING_GO
    wrong = []
    for one in people:
        copy = copies[one.channel]
        while (there := sum(name.startswith("eve") for name in copy.members)) and loop.time() < patience:
            await asyncio.sleep(0.5)
            copy = await opened(operator, one.channel)
        if there:
            wrong.append(f"{one.channel}: {there} offenders are still shown in it")
        if copy.cursors:
            wrong.append(f"{one.channel}: cursors of nobody are still shown in it")
    return wrong


def _of_the_offenders(damage: Damage) -> Sequence[str]:
    closed = Tally()
    for tally in (damage.updates, damage.frames, damage.garbage):
        closed.add(tally)
    strange = sorted(set(closed.closed) - EXPECTED_CODES)
    return [*closed.violations, *(f"offenders were closed with {code}" for code in strange)]
