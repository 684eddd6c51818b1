"""What waits to be written to one socket: in order, bounded, and ended by a close."""

from __future__ import annotations

import asyncio
from collections import deque

from chopin_web.close_codes import CloseCode

WAITING_FRAMES = 2_000
WAITING_CHARACTERS = 8 * 1024 * 1024


class Outbox:
    """
    Frames for a reader who may be slow.

    ``put`` never waits. When too much is waiting the queue is dropped and the socket is to be closed as too slow: the reader
    catches up from the durable document when it returns. After a close nothing more is taken.
    """

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._characters = 0
        self._close: CloseCode | None = None
        self._filled = asyncio.Event()
        self.overflowed = asyncio.Event()

    def put(self, frame: str) -> None:
        if self._close is not None:
            return
        self._waiting.append(frame)
        self._characters += len(frame)
        if len(self._waiting) > WAITING_FRAMES or self._characters > WAITING_CHARACTERS:
            self._waiting.clear()
            self.close(CloseCode.TOO_SLOW)
            self.overflowed.set()
        self._filled.set()

    def close(self, code: CloseCode) -> None:
        """End after what is waiting; the first code counts."""
        if self._close is None:
            self._close = code
        self._filled.set()

    @property
    def closing(self) -> CloseCode | None:
        """The code that the socket is to be closed with, once that is decided."""
        return self._close

    async def next(self) -> str | CloseCode:
        """The next frame, or the code to close with once there is none left."""
        while True:
            if self._waiting:
                frame = self._waiting.popleft()
                self._characters -= len(frame)
                return frame
            if self._close is not None:
                return self._close
            self._filled.clear()
            await self._filled.wait()
