"""
The bytes that travel between replicas, read before any library sees them: Yjs updates (version 1), state vectors, positions.

A document is one root text of plain characters. Bytes that speak of anything else (another root, a nested type, an embedded
value, a format) are refused here, as are counts that the bytes cannot hold: reading costs time and memory by the byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from chopin_core.engines.offsets import utf16_length
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import ROOT

LARGEST_CLIENT: Final = 2**53 - 1
"""Yjs counts clients in floats; pycrdt cuts larger ids silently."""

LARGEST_CLOCK: Final = 2**31 - 1
"""Libraries count clocks in 32 bits; the other half keeps a hostile clock from overflowing what others add to it."""

DELETED: Final = 1
STRING: Final = 4
SKIP: Final = 10

HAS_LEFT: Final = 0x80
HAS_RIGHT: Final = 0x40
ROOT_NAME: Final = ROOT.encode()


class Id(NamedTuple):
    """One character: the client that typed it and how many UTF-16 units that client had typed before."""

    client: int
    clock: int


# Tuples, not attrs values: a large update holds a hundred thousand runs, and these are made four times as fast.
class Run(NamedTuple):
    """
    Characters that one client typed in a row. ``text`` is None where they were deleted since and only their number is known.

    ``left`` and ``right`` are the neighbours at the moment of typing; without either the run began an empty text.
    """

    clock: int
    length: int
    left: Id | None
    right: Id | None
    text: str | None

    @property
    def end(self) -> int:
        return self.clock + self.length


class Update(NamedTuple):
    """What an update says: runs by client in ascending order, and the ranges of clocks that are deleted."""

    runs: Mapping[int, list[Run]]
    deleted: Mapping[int, list[tuple[int, int]]]


class Position(NamedTuple):
    """A place beside a character, or (``beside`` is None) at an end of the root text. ``before``: it sticks to the left."""

    beside: Id | None
    before: bool


NOTHING: Final = b"\x00\x00"
"""The update that changes nothing."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def done(self) -> bool:
        return self._at == len(self._data)

    def finish(self) -> None:
        if not self.done():
            raise UpdateMalformed()

    def byte(self) -> int:
        at = self._at
        self._at = at + 1
        return self._data[at]

    def uint(self, largest: int) -> int:
        data, at = self._data, self._at
        value = data[at]
        at += 1
        if value > 0x7F:
            value &= 0x7F
            shift = 7
            while True:
                octet = data[at]
                at += 1
                value |= (octet & 0x7F) << shift
                if octet < 0x80:
                    break
                shift += 7
                if shift > 49:
                    raise UpdateMalformed()
        self._at = at
        if value > largest:
            raise UpdateMalformed()
        return value

    def octets(self) -> bytes:
        length = self.uint(len(self._data))
        start, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise UpdateMalformed()
        return self._data[start : self._at]

    def id(self) -> Id:
        return Id(self.uint(LARGEST_CLIENT), self.uint(LARGEST_CLOCK))


def read_update(data: bytes) -> Update:
    """
    What the bytes say, each of them accounted for.

    Raises:
        UpdateMalformed: they are no update, or they touch anything but plain characters of the root text.
    """
    reader = _Reader(data)
    try:
        runs: dict[int, list[Run]] = {}
        for _ in range(reader.uint(LARGEST_CLIENT)):
            count, client = reader.uint(LARGEST_CLIENT), reader.uint(LARGEST_CLIENT)
            if client in runs:
                raise UpdateMalformed()
            runs[client] = _runs(reader, client, count)
        deleted = _deleted(reader)
    except (IndexError, UnicodeDecodeError):
        raise UpdateMalformed() from None
    reader.finish()
    return Update(runs, deleted)


def _runs(reader: _Reader, client: int, count: int) -> list[Run]:
    runs = []
    clock = reader.uint(LARGEST_CLOCK)
    for _ in range(count):
        info = reader.byte()
        if info == SKIP:
            clock = _advanced(clock, reader.uint(LARGEST_CLOCK))
            continue
        left = reader.id() if info & HAS_LEFT else None
        right = reader.id() if info & HAS_RIGHT else None
        if left is None and right is None and (reader.byte() != 1 or reader.octets() != ROOT_NAME):
            raise UpdateMalformed()  # 1 announces a root by its name, 0 a nested type
        kind = info & ~(HAS_LEFT | HAS_RIGHT)
        if kind == STRING:
            content = reader.octets().decode()
            run = Run(clock, utf16_length(content), left, right, content)
        elif kind == DELETED:
            run = Run(clock, reader.uint(LARGEST_CLOCK), left, right, None)
        else:
            raise UpdateMalformed()
        for neighbour in (left, right):
            if neighbour is not None and neighbour.client == client and neighbour.clock >= clock:
                raise UpdateMalformed()  # typed beside a character that was typed later
        runs.append(run)
        clock = _advanced(clock, run.length)
    return runs


def _advanced(clock: int, length: int) -> int:
    clock += length
    if not length or clock > LARGEST_CLOCK:
        raise UpdateMalformed()
    return clock


def _deleted(reader: _Reader) -> dict[int, list[tuple[int, int]]]:
    deleted: dict[int, list[tuple[int, int]]] = {}
    for _ in range(reader.uint(LARGEST_CLIENT)):
        ranges = deleted.setdefault(reader.uint(LARGEST_CLIENT), [])
        for _ in range(reader.uint(LARGEST_CLIENT)):
            start = reader.uint(LARGEST_CLOCK)
            ranges.append((start, _advanced(start, reader.uint(LARGEST_CLOCK))))
    return deleted


def read_vector(data: bytes) -> dict[int, int]:
    """
    A state vector: how many UTF-16 units of each client a replica has seen.

    Raises:
        UpdateMalformed: the bytes are no state vector.
    """
    reader = _Reader(data)
    try:
        clocks = {reader.uint(LARGEST_CLIENT): reader.uint(LARGEST_CLOCK) for _ in range(reader.uint(LARGEST_CLIENT))}
    except IndexError:
        raise UpdateMalformed() from None
    reader.finish()
    return clocks


def read_position(data: bytes) -> Position | None:
    """
    A relative position, or None when it lies in something other than the root text.

    Raises:
        UpdateMalformed: the bytes are no position.
    """
    reader = _Reader(data)
    try:
        beside = None
        here = True
        match reader.byte():
            case 0:
                beside = reader.id()
            case 1:
                here = reader.octets() == ROOT_NAME
            case 2:
                reader.id()
                here = False
            case _:
                raise UpdateMalformed()
        side = 0 if reader.done() else reader.byte()  # older Yjs ends here
    except IndexError:
        raise UpdateMalformed() from None
    reader.finish()
    if side & 0x80:
        raise UpdateMalformed()
    return Position(beside, before=bool(side & 0x40)) if here else None  # the sign bit
