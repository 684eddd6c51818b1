"""
A WebSocket client that does next to nothing, so that fifty of them in one process are not what is measured.

It cuts the stream into frames and notes when each arrived; what a frame says is found out afterwards. No compression, no
fragments: it offers neither and refuses both.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final, TypeVar

import attrs

T = TypeVar("T")

TEXT: Final = 1
BINARY: Final = 2
_CLOSE: Final = 8
_PING: Final = 9
_PONG: Final = 10
_FINAL: Final = 0x80
ANSWER_SECONDS: Final = 30.0
_GOODBYE_SECONDS: Final = 1.0


@attrs.frozen(kw_only=True)
class Address:
    """Where a document's socket is."""

    port: int
    path: str
    headers: Mapping[str, str] = attrs.field(factory=dict)


class Wire(asyncio.Protocol):
    """One connection. ``received`` holds every message with the time it arrived at; ``heard`` is told of each as well."""

    def __init__(self) -> None:
        self.received: list[tuple[float, bytes]] = []
        self.heard: Callable[[bytes], None] | None = None
        loop = asyncio.get_running_loop()
        self.upgraded: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[None] = loop.create_future()
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.upgraded.done():
            self.upgraded.set_exception(ConnectionError("closed before the upgrade"))
        if not self.lost.done():
            self.lost.set_result(None)
        self._arrived.set()

    def data_received(self, data: bytes) -> None:
        at = perf_counter()
        self._buffer += data
        if not self.upgraded.done() and not self._answered():
            return
        while (frame := self._cut()) is not None:
            kind, payload = frame
            if kind in (TEXT, BINARY):
                self.received.append((at, payload))
                if self.heard is not None:
                    self.heard(payload)
            elif kind == _PING:
                self.write(framed(payload, _PONG))
            elif kind == _CLOSE:
                self.close()
        self._arrived.set()

    def write(self, frame: bytes) -> None:
        """Send what :func:`framed` made."""
        assert self._transport is not None
        self._transport.write(frame)

    async def leave(self) -> None:
        """Say goodbye, and wait for the answer for a while."""
        if not self.lost.done():
            self.write(framed((1000).to_bytes(2, "big"), _CLOSE))
            await asyncio.wait([self.lost], timeout=_GOODBYE_SECONDS)
        self.close()
        await self.lost

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    async def first(self, wanted: Callable[[bytes], T | None]) -> T:
        """What ``wanted`` makes of the first message that it does not answer with None."""
        found: list[T] = []
        looked = 0

        def there() -> bool:
            nonlocal looked
            while looked < len(self.received) and not found:
                answer = wanted(self.received[looked][1])
                looked += 1
                if answer is not None:
                    found.append(answer)
            return bool(found)

        await self.until(there)
        return found[0]

    async def until(self, true: Callable[[], bool]) -> None:
        """
        Wait until something is true that only a message can make true.

        Raises:
            ConnectionError: it is closed, and still it is not.
            TimeoutError: nor is it after a time in which any server should have answered.
        """
        async with asyncio.timeout(ANSWER_SECONDS):
            while not true():
                if self.lost.done():
                    raise ConnectionError("closed while a message was waited for")
                self._arrived.clear()
                await self._arrived.wait()

    def _answered(self) -> bool:
        head, end, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not end:
            return False
        status = head.partition(b"\r\n")[0]
        if b" 101" not in status:
            self.upgraded.set_exception(ConnectionError(status.decode()))
            self.close()
            return False
        self._buffer = bytearray(rest)
        self.upgraded.set_result(None)
        return True

    def _cut(self) -> tuple[int, bytes] | None:
        """The next whole frame in the buffer. Servers do not mask."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        if not buffer[0] & _FINAL or buffer[0] & 0x70:
            raise ConnectionError("a fragment or an extension that was not offered")
        start, length = 2, buffer[1]
        if length == 126:
            start, length = 4, int.from_bytes(buffer[2:4], "big")
        elif length == 127:
            start, length = 10, int.from_bytes(buffer[2:10], "big")
        if len(buffer) < start or len(buffer) < start + length:
            return None
        kind, payload = buffer[0] & 0x0F, bytes(buffer[start : start + length])
        del buffer[: start + length]
        return kind, payload


def framed(payload: bytes, kind: int) -> bytes:
    """A message as a client sends it: whole, and masked."""
    length = len(payload)
    if length < 126:
        head = bytes((_FINAL | kind, _FINAL | length))
    elif length < 1 << 16:
        head = bytes((_FINAL | kind, _FINAL | 126)) + length.to_bytes(2, "big")
    else:
        head = bytes((_FINAL | kind, _FINAL | 127)) + length.to_bytes(8, "big")
    key = os.urandom(4)
    mask = (key * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(mask, "big")
    return head + key + masked.to_bytes(length, "big")


@asynccontextmanager
async def dialled(address: Address) -> AsyncIterator[Wire]:
    """
    A connection that was upgraded.

    Raises:
        ConnectionError: the server does not want it.
    """
    loop = asyncio.get_running_loop()
    _, wire = await loop.create_connection(Wire, "127.0.0.1", address.port)
    headers = {
        "Host": f"127.0.0.1:{address.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **address.headers,
    }
    lines = [f"GET {address.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    try:
        wire.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(ANSWER_SECONDS):
            await wire.upgraded
        yield wire
    finally:
        await wire.leave()
