"""A stage on which a call is interrupted again and again, each time on a fresh scene and with everything checked after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final

import attrs
import pytest

from chopin_contract_tests.writes import writes
from chopin_core.counters import StorageRevision
from chopin_core.errors import Conflict, Missing, StaleWrite
from chopin_storage_pg.storage import PgStorage

from evidence import Evidence, Model, copied_from, trace, until_pool_is_whole
from interrupting import Interrupted, Kind
from made import ADA, commit
from storage_calls import SHORT, Call, Scene
from watch import Watch
from wire import Way, Wire

NEVER: Final = 0
"""The wait at which nothing is to happen."""


@attrs.frozen(kw_only=True)
class Stage:
    call: Call
    near: PgStorage
    """Another storage of the same database, as another process would have it."""
    wire: Wire
    watch: Watch
    model: Scene
    """To be copied, as it was when ``rows`` were read."""
    rows: Model
    other: Scene
    """For those who are served in between."""
    names: Iterator[str]

    async def evidence(self) -> Evidence:
        """What the call leaves when nobody interrupts it, and what it finds."""
        scene = await self.scene()
        nothing = await trace(self.watch, scene)
        await self.call.run(self.near, scene)
        if self.call.operation:
            found = await self.near.collaboration.operation(scene.channel.id, scene.operation_id)
            stored = await self.near.collaboration.load(scene.channel.id)
            assert found and stored
            assert (found.revision, found.sequence) == (stored.channel.revision, stored.latest)
        whole = await trace(self.watch, scene)
        assert (whole != nothing) is (self.call.method in writes())
        await self.repeated(scene)
        return Evidence(call=self.call, nothing=nothing, whole=whole, twice=await trace(self.watch, scene), watch=self.watch)

    async def scene(self) -> Scene:
        if self.call.sweeps:
            await self.repeated(self.model)
        return await copied_from(self.watch, self.model, self.rows, next(self.names))

    async def repeated(self, scene: Scene) -> None:
        """The call again, whether it is answered or refused."""
        with contextlib.suppress(Conflict, Missing):
            await self.call.run(self.near, scene)

    async def interrupted(self, far: PgStorage, kind: Kind, at: int, evidence: Evidence) -> tuple[Interrupted, list[bool]]:
        """The call, made through ``far`` and interrupted at that wait; and whether each caller's was kept."""
        scenes = [await self.scene() for _ in range(self.call.callers)]
        attempt = Interrupted(kind, at, self.wire)
        callers = await attempt.ends([self.call.run(far, scene) for scene in scenes])
        self.wire.mend()
        kept = [
            await evidence.settled(attempt, caller, scene, far=far, near=self.near)
            for caller, scene in zip(callers, scenes, strict=True)
        ]
        await self.serves(far)
        return attempt, kept

    async def cut_off(self, far: PgStorage, messages: int, way: Way, evidence: Evidence) -> tuple[bool, list[bool]]:
        """The call, cut off after so many messages that way; whether it was, and whether each caller's was kept."""
        self.wire.cut_after(messages, way)
        _, kept = await self.interrupted(far, Kind.CUT, NEVER, evidence)
        return self.wire.happened.is_set(), kept

    async def serves(self, far: PgStorage) -> None:
        """The pool, and both sessions that are not the pool's, serve the next caller at once."""
        async with asyncio.timeout(5):
            await asyncio.gather(
                far.users.get(ADA.id),
                self._is_judged(far),
                far.leases.renew(self.other.own, SHORT),
                until_pool_is_whole(far),
            )

    async def _is_judged(self, far: PgStorage) -> None:
        """A commit is answered by the server; that it is refused keeps the other scene as it is."""
        with pytest.raises(StaleWrite):
            await far.collaboration.commit(commit(self.other.channel, expected=StorageRevision(9)), lease=self.other.writer)
