"""Bytes that no client library sends, and what they cost: a connection of their sender's, and nothing else."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import attrs
import pytest
import websockets

from chopin_web.close_codes import CloseCode
from chopin_web.frames.envelope import LARGEST_FRAME

from shell_site import COOKIE, Site

TEXT, CONTINUED, CLOSE = 1, 0, 8


@attrs.frozen
class Line:
    """A connection that nothing wraps."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> bytes:
        async with asyncio.timeout(5):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def ended(self) -> bytes:
        """What was still said before the server closed the connection."""
        said = b""
        async with asyncio.timeout(10):
            with suppress(ConnectionError):
                while more := await self.reader.read(65_536):
                    said += more
        return said


@asynccontextmanager
async def line(site: Site) -> AsyncIterator[Line]:
    parts = urlsplit(site.origin)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def upgrade(site: Site, channel: str, *more: str) -> bytes:
    lines = [
        f"GET /ws?channel={channel} HTTP/1.1",
        f"Host: {urlsplit(site.origin).netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Origin: {site.origin}",
        f"Cookie: {COOKIE}=ben",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def frame(opcode: int, payload: bytes, *, final: bool = True, compressed: bool = False) -> bytes:
    length = struct.pack("!BQ", 127 | 128, len(payload)) if len(payload) > 125 else bytes([len(payload) | 128])
    return bytes([opcode | final << 7 | compressed << 6]) + length + bytes(4) + payload


async def alone(site: Site, channel: str) -> None:
    """Wait until nobody but somebody who has just come is shown in the document."""
    async with asyncio.timeout(5):
        while True:
            async with site.browser("ada", channel) as ada:
                if [member["handle"] for member in ada.frames[0]["members"]] == ["ada"]:
                    return
            await asyncio.sleep(0.05)


async def test_bytes_before_the_upgrade_is_answered_end_the_connection_and_leave_nobody_behind(site: Site) -> None:
    channel = await site.document()
    async with line(site) as wire:
        wire.writer.write(upgrade(site, channel) + frame(TEXT, b'{"kind":"session:ping"}'))
        assert (await wire.head()).startswith(b"HTTP/1.1 400")
        assert await wire.ended() == b""
        await alone(site, channel)


async def test_nothing_is_inflated(site: Site) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = (packer.compress(bytes(50_000_000)) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]
    channel = await site.document()
    async with line(site) as wire:
        wire.writer.write(upgrade(site, channel, "Sec-WebSocket-Extensions: permessage-deflate"))
        head = await wire.head()
        assert head.startswith(b"HTTP/1.1 101")
        assert b"extensions" not in head.lower()
        wire.writer.write(frame(TEXT, bomb, compressed=True))
        await wire.ended()
        await alone(site, channel)


async def test_who_goes_on_after_a_message_that_is_too_large_is_not_listened_to(site: Site) -> None:
    channel = await site.document()
    piece = b"x" * 500_000
    async with line(site) as wire:
        wire.writer.write(upgrade(site, channel))
        assert (await wire.head()).startswith(b"HTTP/1.1 101")
        wire.writer.write(frame(TEXT, piece, final=False))
        with suppress(ConnectionError):
            for _ in range(20):
                wire.writer.write(frame(CONTINUED, piece, final=False))
                await wire.writer.drain()
        assert b"\x88\x02" + struct.pack("!H", 1009) in await wire.ended()
        await alone(site, channel)


async def test_who_goes_on_without_a_pause_after_being_shut_out_leaves_no_task_behind(site: Site) -> None:
    channel = await site.document()
    before = asyncio.all_tasks()
    chunk = frame(TEXT, b'{"kind":"plan:update","update":"?","epoch":"e","id":"u"}') * 1_000

    async def flood() -> None:
        async with line(site) as wire:
            wire.writer.write(upgrade(site, channel))
            assert (await wire.head()).startswith(b"HTTP/1.1 101")
            reading = asyncio.create_task(wire.ended())
            with suppress(ConnectionError):
                while not reading.done():
                    wire.writer.write(chunk)
                    await wire.writer.drain()
            assert b"\x88\x02" + struct.pack("!H", CloseCode.REJECTED_TOO_OFTEN) in await reading

    async with asyncio.TaskGroup() as eight:
        for _ in range(8):
            eight.create_task(flood())
    async with asyncio.timeout(5):
        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left, timeout=0.1)


@pytest.mark.parametrize("characters", [LARGEST_FRAME + 1, LARGEST_FRAME * 32])
async def test_a_message_that_is_too_large_is_answered_with_its_code(any_site: Site, characters: int) -> None:
    channel = await any_site.document()
    async with any_site.dial("ada", channel) as wire:
        with suppress(websockets.ConnectionClosed):
            await wire.send("x" * characters)
        await wire.wait_closed()
        assert wire.close_code == 1009


@pytest.mark.parametrize(
    "opening",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\xff\xff\x00" * 20,
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    ],
    ids=["at once", "by an upgrade"],
)
async def test_nobody_changes_over_to_http_2(site: Site, opening: bytes) -> None:
    async with line(site) as wire:
        wire.writer.write(opening)
        assert (await wire.head()).startswith(b"HTTP/1.1 4")
        await wire.ended()
