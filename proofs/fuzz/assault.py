"""One attack: many offenders, garbage and floods at once, on some documents of one server."""

from __future__ import annotations

import asyncio
import base64
from contextlib import AsyncExitStack
from random import Random

import attrs

from chopin_web.testing.browser import Browser
from chopin_web.testing.person import Person, signed_in

from .garbage import ATTACKS, HELD, once
from .offenders import Offender
from .pace import Pace
from .raw import target
from .scene import Scene
from .tally import Tally

BOMB = b"\xff\xff\xff\xff\x0f" * 2
"""Ten bytes that announce four billion clients."""


@attrs.frozen(kw_only=True)
class Assault:
    """Who is attacked, with how much of what, and how fast. ``garbage`` is how often each kind of it."""

    origin: str
    token: str
    channels: tuple[str, ...]
    seed: int
    updates: int = 0
    updates_per_second: float = 60.0
    frames: int = 0
    frames_per_second: float = 60.0
    garbage: int = 0
    floods: int = 0
    offenders: int = 16


@attrs.frozen(kw_only=True)
class Damage:
    """What the attackers saw."""

    updates: Tally
    frames: Tally
    garbage: Tally


async def attack(assault: Assault) -> Damage:
    """All of it; what came of it."""
    damage = Damage(updates=Tally(), frames=Tally(), garbage=Tally())
    updates = Pace(assault.updates, assault.updates_per_second)
    frames = Pace(assault.frames, assault.frames_per_second)
    async with AsyncExitStack() as people, asyncio.TaskGroup() as tasks:
        for number in range(assault.offenders):
            person = await people.enter_async_context(signed_in(assault.origin, assault.token, f"eve{number}"))
            channel = assault.channels[number % len(assault.channels)]
            # Two of a seed each, so that one does not change what the other draws.
            one, two = Random(f"{assault.seed} updates {number}"), Random(f"{assault.seed} frames {number}")
            sender = Offender(person=person, channel=channel, random=one, pace=updates, tally=damage.updates)
            talker = Offender(person=person, channel=channel, random=two, pace=frames, tally=damage.frames)
            tasks.create_task(sender.send_updates())
            tasks.create_task(talker.send_frames())
        tasks.create_task(_garbage(assault, person, damage.garbage))
        tasks.create_task(_floods(assault, person, damage.updates))
    return damage


async def _garbage(assault: Assault, person: Person, tally: Tally) -> None:
    random = Random(f"{assault.seed} garbage")
    at_once = asyncio.Semaphore(4)

    async def one(name: str, channel: str) -> None:
        async with at_once:
            try:
                outcome = await once(name, target(person, channel), random)
            except TimeoutError:
                outcome = "no answer, still open"
        tally.count(name, outcome)
        if outcome.endswith("still open") and name not in HELD:
            tally.violations.append(f"{name}: the server did not let go of the connection")

    async with asyncio.TaskGroup() as tasks:
        for number in range(assault.garbage):
            for name in ATTACKS:
                tasks.create_task(one(name, assault.channels[number % len(assault.channels)]))


async def _floods(assault: Assault, person: Person, tally: Tally) -> None:
    """As fast as it goes, waiting for nothing: first header bombs, which are refused, then the same edit over and over."""
    random = Random(f"{assault.seed} floods")
    for _ in range(assault.floods):
        for name, expected in (("flood of header bombs", "4003"), ("flood of one edit", "4429")):
            async with person.browser(assault.channels[0]) as browser:
                whole = browser.replica.update()
                scene = Scene(whole=whole, updates=[whole], text=browser.replica.text)
                data = BOMB if expected == "4003" else scene.typed(random)
                if data is not BOMB:
                    browser.replica.apply(data)  # others build on it
                code = await _flooded(browser, data, tally, name)
            tally.closed[code] += 1
            if code != expected:
                tally.violations.append(f"{name}: closed with {code}, not {expected}")


async def _flooded(browser: Browser, data: bytes, tally: Tally, name: str) -> str:
    async def send() -> None:
        for _ in range(40):
            for _ in range(50):
                await browser.submit(base64.b64encode(data).decode())
                tally.count(name, "sent")
            await asyncio.sleep(0.1)

    sending = asyncio.create_task(send())
    try:
        code = await browser.closed()
    finally:
        sending.cancel()
        await asyncio.wait([sending])
    return str(code)
