"""A WebSocket spoken by hand, so that every bit of it can be wrong."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import attrs

from chopin_web.testing.patience import patience
from chopin_web.testing.person import Person

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
DEFLATE = "permessage-deflate"


@attrs.frozen(kw_only=True)
class Target:
    """Where a person's socket to a document is, and the request that opens it."""

    host: str
    port: int
    request: bytes

    @property
    def request_without_end(self) -> bytes:
        return self.request.removesuffix(b"\r\n")


def target(person: Person, channel: str, extensions: str = "") -> Target:
    origin = str(person.http.base_url).rstrip("/")
    parts = urlsplit(origin)
    cookie = "; ".join(f"{name}={value}" for name, value in person.http.cookies.items())
    lines = [
        f"GET /ws?channel={channel} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        f"Origin: {origin}",
        f"Cookie: {cookie}",
        *([f"Sec-WebSocket-Extensions: {extensions}"] if extensions else []),
        "",
        "",
    ]
    assert parts.hostname is not None and parts.port is not None
    return Target(host=parts.hostname, port=parts.port, request="\r\n".join(lines).encode())


@attrs.frozen
class Line:
    """A TCP connection that nothing wraps."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> bool:
        """Send; False when the other side has gone."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError:
            return False
        return True

    async def upgraded(self, where: Target) -> bytes:
        """Ask for the upgrade and read the answer's head."""
        await self.say(where.request)
        return await self.head()

    async def head(self, within: float = 20.0) -> bytes:
        async with patience(within):
            with suppress(asyncio.IncompleteReadError, OSError):
                return await self.reader.readuntil(b"\r\n\r\n")
        return b""

    async def ended(self, within: float) -> bool:
        """Read until the other side closes the connection; False when it has not by then."""
        try:
            async with patience(within):
                with suppress(OSError):
                    while await self.reader.read(65_536):
                        pass
        except TimeoutError:
            return False
        return True


@asynccontextmanager
async def line(where: Target) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection(where.host, where.port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    final: bool = True,
    reserved: int = 0,
    masked: bool = True,
    length: bytes | None = None,
    mask: bytes = b"\x00\x00\x00\x00",
) -> bytes:
    """One frame; ``length`` is what the header claims instead of the truth: the seven bits and what follows them."""
    claimed = _length(len(payload)) if length is None else length
    head = bytes([opcode | reserved << 4 | final << 7, claimed[0] | masked << 7]) + claimed[1:]
    return head + (mask if masked else b"") + payload


def _length(octets: int) -> bytes:
    if octets < 126:
        return bytes([octets])
    return b"\x7e" + octets.to_bytes(2, "big") if octets < 65_536 else b"\x7f" + octets.to_bytes(8, "big")
