"""Those who send hostile bytes through real sockets: they come back when shut out, until they have sent what they came for."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import attrs
import websockets

from chopin_core.errors import UpdateMalformed
from chopin_web.testing.browser import Browser
from chopin_web.testing.patience import patience
from chopin_web.testing.person import Person

from .frames import HostileFrame, Talk, hostile_frames
from .pace import Pace
from .scene import Scene
from .tally import Tally
from .updates import Input, inputs

ANSWER_SECONDS = 20.0
REMEMBERED = 12
"""Of the updates that went by, how many are there to be spoiled."""

LOOKED_AT = 25
"""So many inputs are made from one look at the document: it grows, and taking it apart anew each time takes all of the time."""


@attrs.define(kw_only=True)
class Offender:
    """Somebody in one room. ``tally`` is shared by all of them."""

    person: Person
    channel: str
    random: Random
    pace: Pace
    tally: Tally
    _browser: Browser = attrs.field(factory=Browser, init=False)
    _passed: list[bytes] = attrs.field(factory=list, init=False)
    _seen: Scene = attrs.field(init=False)
    _uses: int = attrs.field(default=0, init=False)
    _tried: Input | HostileFrame | None = attrs.field(default=None, init=False)

    # Updates

    async def send_updates(self) -> None:
        """Hostile updates to the document as it was a moment ago, until the pace says that it is enough."""
        source = inputs(self._scene, self.random)
        while not self.pace.over:
            await self._session(self._updates_until_closed(source))

    async def _updates_until_closed(self, source: Iterator[Input]) -> None:
        while await self.pace.turn():
            tried = self._tried = next(source)
            try:
                outcome = await self._put(tried.data)
            except websockets.ConnectionClosed as closed:
                self.tally.count(tried.kind, "refused and closed")
                raise closed
            self.tally.count(tried.kind, outcome)
            if outcome == "acknowledged":
                self._take_in(tried)
            else:
                await self._browser.open()

    async def _put(self, data: bytes) -> str:
        """What became of an update."""
        browser = self._browser
        rid = await browser.submit(base64.b64encode(data).decode())
        async with patience(ANSWER_SECONDS):
            while True:
                match frame := await heard(browser):
                    case {"kind": "plan:ack", "rid": answered} if answered == rid:
                        return "acknowledged"
                    case {"kind": "session:error", "rid": answered} if answered == rid:
                        return "error"
                    case {"kind": "plan:reset"}:
                        return "refused"
                    case {"kind": "plan:update"}:
                        passed = base64.b64decode(frame["update"])
                        browser.replica.apply(passed)
                        self._passed = [*self._passed[1 - REMEMBERED :], passed]

    def _take_in(self, tried: Input) -> None:
        try:
            self._browser.replica.apply(tried.data)
        except UpdateMalformed as error:
            self.tally.violations.append(
                f"{tried.kind}: acknowledged, but a replica refuses it ({error}): {tried.data.hex()[:400]}"
            )

    def _scene(self) -> Scene:
        if not self._uses:
            whole = self._browser.replica.update()
            self._seen = Scene(whole=whole, updates=self._passed or [whole], text=self._browser.replica.text)
        self._uses = (self._uses + 1) % LOOKED_AT
        return self._seen

    # Frames

    async def send_frames(self) -> None:
        """Hostile frames, each followed by a ping, so that what is answered is known."""
        source = hostile_frames(self._talk, self.random)
        while not self.pace.over:
            await self._session(self._frames_until_closed(source))

    async def _frames_until_closed(self, source: Iterator[HostileFrame]) -> None:
        while await self.pace.turn():
            tried = self._tried = next(source)
            try:
                self.tally.count(tried.kind, await answer_to(self._browser, tried))
            except websockets.ConnectionClosed as closed:
                self.tally.count(tried.kind, "closed")
                raise closed

    def _talk(self) -> Talk:
        scene = self._scene()
        return Talk(epoch=self._browser.epoch, update=scene.typed(self.random))

    # Both

    async def _session(self, work: Any) -> None:
        """One socket's life: the document is opened on it, and the work goes on until somebody closes."""
        try:
            async with AsyncExitStack() as connected:
                async with patience(ANSWER_SECONDS):
                    wire = await connected.enter_async_context(
                        self.person.dial(self.channel, max_queue=None, open_timeout=None)
                    )
                # A copy that took hostile bytes in may refuse what leads on from them; whoever is shut out begins anew.
                self._browser = Browser()
                self._uses = 0
                await self._browser.attach(wire)
                await work
        except websockets.ConnectionClosed as closed:
            self.tally.closed[str(closed.rcvd.code if closed.rcvd else "without a word")] += 1
        except (websockets.InvalidStatus, websockets.InvalidMessage) as refused:
            self.tally.violations.append(f"an offender was not let in again: {refused}")
        except TimeoutError:
            self.tally.violations.append(f"an offender was not answered; last it sent {str(self._tried)[:400]}")
        finally:
            work.close()


async def heard(browser: Browser) -> dict[str, Any]:
    """The next frame, whatever it is, with nothing done about it."""
    assert browser.wire is not None
    frame: dict[str, Any] = json.loads(await browser.wire.recv())
    return frame


async def answer_to(browser: Browser, tried: HostileFrame) -> str:
    """What a frame brings about at once: an error, an answer, or nothing."""
    assert browser.wire is not None
    await browser.wire.send(tried.message)
    rid = await browser.send("session:ping")
    told: Counter[str] = Counter()
    async with patience(ANSWER_SECONDS):
        while True:
            frame = await heard(browser)
            if frame["kind"] == "session:ping" and frame.get("rid") == rid:
                break
            told[frame["kind"]] += 1
    if told["session:error"]:
        return "error"
    return "answered" if told["plan:open"] or told["session:ping"] else "dropped"
