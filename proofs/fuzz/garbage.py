"""Bytes around and inside a WebSocket that no client library would send, each on a connection of its own."""

from __future__ import annotations

import asyncio
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Final

import attrs

from chopin_web.testing.patience import patience

from .raw import BINARY, CLOSE, DEFLATE, PING, PONG, TEXT, Line, Target, frame, line

CONTINUED: Final = 0

PATIENCE = 20.0
"""Seconds within which the server must let go of a connection; one that never asked for anything has five."""

Attack = Callable[[Line, Target, Random], Awaitable[bytes | None]]
"""Answers what the server said to the request, when the attack had to wait for that."""


async def once(name: str, where: Target, random: Random) -> str:
    """What the server said first, and whether it ended the connection."""
    async with line(where) as wire:
        said = await ATTACKS[name](wire, where, random)
        async with patience(PATIENCE + 10):
            if said is None:
                said = await wire.head(PATIENCE)
            end = "let be" if name in HELD else "ended" if await wire.ended(PATIENCE) else "still open"
    status = said.split(b" ")[1].decode() if said.startswith(b"HTTP/1.1 ") else "nothing"
    return f"{status}, {end}"


def after_the_upgrade(make: Callable[[Random], bytes]) -> Attack:
    async def attack(wire: Line, where: Target, random: Random) -> bytes:
        said = await wire.upgraded(where)
        await wire.say(make(random))
        return said

    return attack


def instead_of_a_request(make: Callable[[Random], bytes]) -> Attack:
    async def attack(wire: Line, where: Target, random: Random) -> None:
        await wire.say(make(random))

    return attack


async def trailing_bytes(wire: Line, where: Target, random: Random) -> None:
    await wire.say(
        where.request + random.choice((frame(TEXT, b'{"kind":"session:ping"}'), b"garbage", random.randbytes(5_000)))
    )


async def split_request(wire: Line, where: Target, random: Random) -> bytes:
    """Legal, so the socket opens; then it is closed as it should be."""
    start = 0
    while start < len(where.request):
        stop = start + random.randrange(20, 200)
        await wire.say(where.request[start:stop])
        await asyncio.sleep(0)
        start = stop
    said = await wire.head()
    await wire.say(frame(CLOSE, struct.pack("!H", 1000)))
    return said


async def slow_request(wire: Line, where: Target, random: Random) -> None:
    """A byte a second and never the end."""
    for byte in where.request_without_end[:12]:
        if not await wire.say(bytes([byte])) or wire.reader.at_eof():
            return
        await asyncio.sleep(1.0)


async def long_request(wire: Line, where: Target, random: Random) -> None:
    for _ in range(40):
        if not await wire.say(b"GET /" + b"a" * 8_000):
            return


async def refused_and_goes_on(wire: Line, where: Target, random: Random) -> None:
    """An upgrade that is refused in plain HTTP, and frames all the same."""
    await wire.say(where.request.replace(b"Origin: http", b"Origin: evil"))
    await asyncio.sleep(0.05)
    for _ in range(20):
        if not await wire.say(frame(TEXT, b"x" * 1_000)):
            return


async def torn_off(wire: Line, where: Target, random: Random) -> bytes:
    """The connection is reset in the middle of a frame."""
    said = await wire.upgraded(where)
    await wire.say(frame(TEXT, b"x" * 1_000)[:500])
    wire.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.writer.transport.abort()
    return said


def _endless(random: Random) -> bytes:
    """One message that claims to have no end, and three megabytes of it."""
    return frame(TEXT, b"x" * 1_000_000, final=False) + frame(CONTINUED, b"x" * 1_000_000, final=False) * 2


def _inflating(random: Random) -> bytes:
    """A frame that would be 60 MB if somebody inflated it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return frame(TEXT, (packer.compress(bytes(60_000_000)) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4], reserved=4)


async def inflating(wire: Line, where: Target, random: Random) -> bytes:
    asking = where.request_without_end + f"Sec-WebSocket-Extensions: {DEFLATE}\r\n\r\n".encode()
    said = await wire.upgraded(attrs.evolve(where, request=asking))
    await wire.say(_inflating(random))
    return said


ATTACKS: Final[Mapping[str, Attack]] = {
    "bytes behind the request": trailing_bytes,
    "request in pieces": split_request,
    "request a byte a second": slow_request,
    "request without an end": long_request,
    "refused and goes on": refused_and_goes_on,
    "reset inside a frame": torn_off,
    "compressed bomb": inflating,
    "no HTTP": instead_of_a_request(lambda random: random.randbytes(200) + b"\r\n\r\n"),
    "HTTP/2 preface and noise": instead_of_a_request(
        lambda random: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + random.randbytes(100)
    ),
    "upgrade to HTTP/2": instead_of_a_request(
        lambda random: (
            b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            b"HTTP2-Settings: !!!\r\n\r\n" + random.randbytes(60)
        )
    ),
    "TLS hello": instead_of_a_request(lambda random: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(300)),
    "frames without an upgrade": instead_of_a_request(lambda random: frame(TEXT, b"x") * 10),
    "reserved opcode": after_the_upgrade(lambda random: frame(random.choice((3, 4, 5, 6, 7, 11, 15)), b"x")),
    "reserved bits": after_the_upgrade(lambda random: frame(TEXT, b"{}", reserved=random.randrange(1, 8))),
    "unmasked": after_the_upgrade(lambda random: frame(TEXT, b"{}", masked=False)),
    "length of 2^63": after_the_upgrade(lambda random: frame(TEXT, length=b"\x7f" + b"\x80" + bytes(7))),
    "length of 2^63-1": after_the_upgrade(lambda random: frame(TEXT, b"x" * 3_000_000, length=b"\x7f\x7f" + b"\xff" * 7)),
    "length in too many bytes": after_the_upgrade(lambda random: frame(TEXT, b"x", length=b"\x7e\x00\x01")),
    "long control frame": after_the_upgrade(lambda random: frame(random.choice((PING, PONG, CLOSE)), b"x" * 126)),
    "control frame in pieces": after_the_upgrade(lambda random: frame(PING, b"x", final=False)),
    "close with a strange code": after_the_upgrade(
        lambda random: frame(CLOSE, struct.pack("!H", random.choice((0, 1, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535))))
    ),
    "close with one byte": after_the_upgrade(lambda random: frame(CLOSE, b"x")),
    "close with no UTF-8": after_the_upgrade(lambda random: frame(CLOSE, struct.pack("!H", 1000) + b"\xff\xfe")),
    "close and goes on": after_the_upgrade(lambda random: frame(CLOSE, struct.pack("!H", 1000)) + frame(TEXT, b"{}") * 50),
    "no UTF-8": after_the_upgrade(lambda random: frame(TEXT, b"\xff\xfe\xfd")),
    "surrogates in UTF-8": after_the_upgrade(lambda random: frame(TEXT, b'{"kind":"\xed\xa0\x80"}')),
    "continuation of nothing": after_the_upgrade(lambda random: frame(CONTINUED, b"x")),
    "text inside a message": after_the_upgrade(lambda random: frame(TEXT, b"x", final=False) + frame(TEXT, b"y")),
    "message without an end": after_the_upgrade(_endless),
    "noise between frames": after_the_upgrade(
        lambda random: frame(TEXT, b'{"kind":"session:ping"}') + random.randbytes(50) + frame(BINARY, b"x") * 3
    ),
    "half a frame": after_the_upgrade(lambda random: frame(TEXT, b"x" * 1_000)[: random.randrange(1, 900)]),
    "pings without an end": after_the_upgrade(lambda random: frame(PING, b"x" * 125) * 3_000),
    "empty frames": after_the_upgrade(lambda random: frame(TEXT) * 500 + frame(TEXT, final=False) + frame(CONTINUED) * 500),
}

HELD: Final = {"half a frame", "pings without an end", "empty frames", "length in too many bytes", "noise between frames"}
"""Nothing there obliges the server to end the connection; it may wait until it is silent for too long."""
