"""Forgetting operations once nobody may repeat them any more: a sweep in the background, in short steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import attrs

from chopin_core.errors import LeaseLost
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import CollaborationStore
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruning, window_field


@attrs.frozen(kw_only=True)
class Retention:
    """
    ``window`` is the idempotency window: how long an operation is recognised when it is repeated, and its events are kept.

    A sweep begins ``first`` seconds after the start and ``every`` so many seconds after the last one ended. A step takes at
    most ``step`` operations of as many channels, and leaves writers alone for ``pause`` seconds before the next.
    """

    window: timedelta = attrs.field(default=timedelta(days=30), validator=window_field)
    first: float = 300.0
    every: float = 3600.0
    step: int = 200
    pause: float = 0.1


class Sweeper:
    """
    Sweeps again and again, from its making to :meth:`close`.

    ``failed`` is told of a sweep that did not get through; the next one begins anew. After the loss of the lease there is
    none: the process has to drain, as whoever keeps the lease says.
    """

    def __init__(
        self,
        store: CollaborationStore,
        *,
        lease: Callable[[], Lease],
        retention: Retention,
        failed: Callable[[BaseException], None],
    ) -> None:
        self._store = store
        self._lease = lease
        self._retention = retention
        self._failed = failed
        self._sweeping = asyncio.get_running_loop().create_task(self._keep_sweeping())

    async def close(self) -> None:
        """Sweep no more. A step under way is broken off, and then wholly done or not at all. May be called again."""
        self._sweeping.cancel()
        await asyncio.wait([self._sweeping])

    async def _keep_sweeping(self) -> None:
        await asyncio.sleep(self._retention.first)
        while True:
            try:
                await self._sweep()
            except LeaseLost:
                return
            except Exception as error:
                self._failed(error)
            await asyncio.sleep(self._retention.every)

    async def _sweep(self) -> None:
        start: ChannelId | None = None
        while True:
            pruning = Pruning(older_than=self._retention.window, limit=self._retention.step, start=start)
            start = (await self._store.prune(pruning, lease=self._lease())).next
            if start is None:
                return
            await asyncio.sleep(self._retention.pause)
