"""
Commits that wait while another is being kept are kept together, in one transaction.

Writes under one lease run one at a time (see ``fences.py``), so commits of many channels would each wait for their own
turn at the disk. Whoever's turn it is takes along all that wait for theirs; a single commit never waits for company. There
is no task in the background: the turn belongs to one of the callers, and passes to the next when that caller is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import attrs

from chopin_core.errors import ChopinError, StorageUnavailable
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_storage_pg.commits import Row, answer, arguments, call, lease_arguments
from chopin_storage_pg.engine import DriverConnection
from chopin_storage_pg.faults import ConnectionLost, translated
from chopin_storage_pg.outcomes import Outcomes
from chopin_storage_pg.sessions import OwnSession

LARGEST_GROUP: Final = 64
LARGEST_BYTES: Final = 4 * 2**20
"""Of updates, so that one person's pasted novel does not delay sixty others' keystrokes by much."""


@attrs.define(eq=False, kw_only=True)
class _Waiting:
    """One caller's commit, until it is settled: by an answer or by a fault."""

    commit: Commit
    lease: Lease
    arguments: tuple[Any, ...]
    result: CommitResult | None = None
    fault: ChopinError | None = None
    flight: asyncio.Event | None = None
    """Set when the transaction it is part of has ended, one way or another."""

    @property
    def settled(self) -> bool:
        return self.result is not None or self.fault is not None

    @property
    def size(self) -> int:
        return len(self.commit.update or b"")


class GroupedCommits:
    """The commits of one storage: one group at a time, each group one transaction on a session of its own."""

    def __init__(self, session: OwnSession, outcomes: Outcomes) -> None:
        self._session = session
        self._outcomes = outcomes
        self._turn = asyncio.Lock()
        self._waiting: list[_Waiting] = []

    async def keep(self, commit: Commit, lease: Lease) -> CommitResult:
        mine = _Waiting(commit=commit, lease=lease, arguments=arguments(commit))
        self._waiting.append(mine)
        try:
            async with self._turn:
                if not mine.settled:
                    await self._keep_group(self._group_of(mine))
        except asyncio.CancelledError:
            # Somebody else's turn may be keeping it just now. The caller is told once it is known to be in or out.
            if mine.flight is not None:
                await mine.flight.wait()
            raise
        finally:
            self._waiting.remove(mine)
        if mine.result is None:
            assert mine.fault is not None, "a commit whose turn is over is settled"
            raise mine.fault
        return mine.result

    async def at_rest(self) -> None:
        """Wait until what is being kept now has ended."""
        async with self._turn:
            pass

    def _group_of(self, mine: _Waiting) -> list[_Waiting]:
        """
        The commit and those that can go with it: under the same lease, of other channels, of bearable size.

        By channel id, the order in which everybody locks channels.
        """
        group, size = {mine.commit.channel_id: mine}, mine.size
        for other in self._waiting:
            if len(group) == LARGEST_GROUP:
                break
            fits = lease_arguments(other.lease) == lease_arguments(mine.lease) and size + other.size <= LARGEST_BYTES
            if fits and not other.settled and other.commit.channel_id not in group:
                group[other.commit.channel_id] = other
                size += other.size
        return [group[channel] for channel in sorted(group)]

    async def _keep_group(self, group: Sequence[_Waiting]) -> None:
        flight = asyncio.Event()
        for waiting in group:
            waiting.flight = flight
        try:
            await self._keep(group)
        finally:
            for waiting in group:
                waiting.flight = None
            flight.set()

    async def _keep(self, group: Sequence[_Waiting]) -> None:
        try:
            with translated():
                connection = await self._session.connection()
        except StorageUnavailable as fault:  # nothing was sent
            for waiting in group:
                waiting.fault = fault
            return
        try:
            rows = await self._call(connection, group)
        except ConnectionLost:
            await self._look_up(group)
        except ChopinError as fault:
            if len(group) == 1:
                group[0].fault = fault
                return
            for waiting in group:  # all were rolled back for the fault of one; it alone is to hear of it
                await self._keep([waiting])
        else:
            for waiting, row in zip(group, rows, strict=True):
                try:
                    waiting.result = answer(row, waiting.commit, waiting.lease)
                except ChopinError as refusal:
                    waiting.fault = refusal

    async def _call(self, connection: DriverConnection, group: Sequence[_Waiting]) -> Sequence[Row]:
        try:
            with translated(committing=True):
                return await call(connection, group[0].lease, [waiting.arguments for waiting in group])
        except BaseException:
            await self._session.settle(connection)
            raise

    async def _look_up(self, group: Sequence[_Waiting]) -> None:
        asked = [(waiting.commit.channel_id, waiting.commit.operation_id) for waiting in group]
        for waiting, found in zip(group, await self._outcomes.after_loss(asked), strict=True):
            if isinstance(found, CommitResult):
                waiting.result = found
            else:
                waiting.fault = found
