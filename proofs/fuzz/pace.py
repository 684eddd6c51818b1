"""How fast hostile bytes are sent, and how many in all."""

from __future__ import annotations

import asyncio


class Pace:
    """Shared by all who send: so many turns in all, and at most so many a second."""

    def __init__(self, turns: int, per_second: float) -> None:
        self._left = turns
        self._every = 1 / per_second
        self._next = 0.0

    @property
    def over(self) -> bool:
        return self._left <= 0

    async def turn(self) -> bool:
        """Wait for one; False when there are none left."""
        if self.over:
            return False
        self._left -= 1
        now = asyncio.get_running_loop().time()
        self._next = max(now, self._next + self._every)
        await asyncio.sleep(self._next - now)
        return True
