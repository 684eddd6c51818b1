"""Bytes spoiled without knowing what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from chopin_core.engines.encoding import write_uint

Spoil = Callable[[bytes, Random], bytes]

HEAD = 30
"""Where the counts and the first structs of an update are."""


def changed(data: bytes, random: Random) -> bytes:
    spoiled = bytearray(data)
    for _ in range(random.randrange(1, 5)):
        spoiled[random.randrange(len(spoiled))] = random.randrange(256)
    return bytes(spoiled)


def flipped(data: bytes, random: Random) -> bytes:
    spoiled = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return bytes(spoiled)


def nudged(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes([(data[at] + random.choice((1, -1))) % 256]) + data[at + 1 :]


def truncated(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def lengthened(data: bytes, random: Random) -> bytes:
    return data + random.randbytes(random.randrange(1, 9))


def ones_in_the_head(data: bytes, random: Random) -> bytes:
    at = random.randrange(min(HEAD, len(data)))
    return data[:at] + b"\xff" * random.randrange(1, 21) + data[at:]


def replaced(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + random.randbytes(random.randrange(4)) + data[at + random.randrange(4) :]


def repeated(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data))
    piece = data[start : start + random.randrange(1, 17)]
    return data[:start] + piece * random.randrange(2, 5) + data[start + len(piece) :]


def swapped(data: bytes, random: Random) -> bytes:
    first, second, third = sorted(random.randrange(len(data) + 1) for _ in range(3))
    return data[:first] + data[second:third] + data[first:second] + data[third:]


def header_bomb(data: bytes, random: Random) -> bytes:
    """Counts that the bytes cannot hold: of clients, of structs, of octets, of ranges."""
    bomb = random.choice(
        (b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\xfe\xff\xff\x3f")
    )
    at = random.choice((0, 1, 2, 3, len(data) - 1, random.randrange(len(data))))
    return data[:at] + bomb + data[min(len(data), at + random.randrange(2)) :]


def long_number(data: bytes, random: Random) -> bytes:
    """A number of more bits than any reader has, in place of a byte."""
    at = random.randrange(len(data))
    number = random.choice(
        (
            b"\x80" * random.randrange(1, 12) + b"\x00",
            b"\xff" * 10 + b"\x01",
            *(write_uint(2**bits) for bits in (31, 32, 53, 63, 64)),
        )
    )
    return data[:at] + number + data[at + 1 :]


SPOILS: Final[Mapping[str, Spoil]] = {
    spoil.__name__.replace("_", " "): spoil
    for spoil in (
        changed,
        flipped,
        nudged,
        truncated,
        lengthened,
        ones_in_the_head,
        replaced,
        repeated,
        swapped,
        header_bomb,
        long_number,
    )
}
