"""Being the one process that writes: taking the writer lease, keeping it, and knowing at once when it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import attrs

from chopin_core.errors import LeaseHeld, LeaseLost, Unavailable
from chopin_core.ports.leases import WRITER, Lease, LeaseStore


@attrs.frozen(kw_only=True)
class LeaseTimings:
    """In seconds (seeds/storage.md, "Writer lease"). ``deadline`` counts from when the last good renewal was *sent*."""

    ttl: float = 30.0
    renewal: float = 10.0
    attempt: float = 5.0
    deadline: float = 25.0


@attrs.frozen(kw_only=True)
class Loss:
    """Why the lease is gone: when it was last renewed, and what the last attempt since then said."""

    renewed_at: datetime
    last_error: str | None


class Writer:
    """
    Holds ``chopin:writer`` from :meth:`take` to :meth:`release`.

    ``lost`` is called once when the lease was refused or could not be renewed in time: the process must drain. Storage
    refuses its writes by then whatever it does, since the fencing token no longer fits.
    """

    def __init__(
        self,
        leases: LeaseStore,
        lease: Lease,
        *,
        sent: float,
        now: Callable[[], datetime],
        lost: Callable[[Loss], None],
        timings: LeaseTimings,
    ) -> None:
        self._leases = leases
        self._lease = lease
        self._now = now
        self._lost = lost
        self._timings = timings
        self._loop = asyncio.get_running_loop()
        self._sent = sent
        self._renewed_at = now()
        self._last_error: str | None = None
        self._renewing = self._loop.create_task(self._keep_renewing())

    @classmethod
    async def take(
        cls,
        leases: LeaseStore,
        owner: str,
        *,
        now: Callable[[], datetime],
        lost: Callable[[Loss], None],
        timings: LeaseTimings | None = None,
    ) -> Writer:
        """
        Become the writer.

        Raises:
            LeaseHeld: another process is; it names the holder.
        """
        timings = timings or LeaseTimings()
        sent = asyncio.get_running_loop().time()
        lease = await leases.acquire(WRITER, owner, timedelta(seconds=timings.ttl))
        if lease is None:
            holder = await leases.holder(WRITER)
            raise LeaseHeld(WRITER, holder.owner if holder else "a process that has just left")
        return cls(leases, lease, sent=sent, now=now, lost=lost, timings=timings)

    @property
    def lease(self) -> Lease:
        """The lease to write under. It stays the same token for as long as this process is the writer."""
        return self._lease

    async def release(self) -> None:
        """Stop renewing and let the next process in at once. A renewal in flight neither re-arms nor reports anything."""
        self._renewing.cancel()
        await asyncio.wait([self._renewing])
        await self._leases.release(self._lease)

    async def _keep_renewing(self) -> None:
        due = self._sent + self._timings.renewal
        while True:
            await asyncio.sleep(due - self._loop.time())
            if await self._renew():
                due = self._sent + self._timings.renewal
            elif self._loop.time() >= self._sent + self._timings.deadline:
                break
            else:
                due = min(self._loop.time() + 1.0, self._sent + self._timings.deadline)
        self._lost(Loss(renewed_at=self._renewed_at, last_error=self._last_error))

    async def _renew(self) -> bool:
        """One attempt; a refusal is final, so it uses the deadline up."""
        sent = self._loop.time()
        left = self._sent + self._timings.deadline - sent
        try:
            async with asyncio.timeout(max(0.0, min(self._timings.attempt, left))):
                lease = await self._leases.renew(self._lease, timedelta(seconds=self._timings.ttl))
        except (Unavailable, LeaseLost, TimeoutError) as error:
            self._last_error = str(error) or type(error).__name__
            return False
        if lease is None:
            self._last_error = "another process may hold it"
            self._sent -= self._timings.deadline
            return False
        self._lease, self._sent, self._renewed_at, self._last_error = lease, sent, self._now(), None
        return True
