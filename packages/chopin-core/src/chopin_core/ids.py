"""The identities Chopin stores: their types, how they are made, and the one pattern that guards them."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable
from typing import NewType

from chopin_core.errors import InvalidField

ChannelId = NewType("ChannelId", str)
RepositoryId = NewType("RepositoryId", str)
UserId = NewType("UserId", str)
OperationId = NewType("OperationId", str)
SessionId = NewType("SessionId", str)
MachineId = NewType("MachineId", str)
JobId = NewType("JobId", str)
WorkspaceId = NewType("WorkspaceId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)

STORED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9]{1,20}")
"""Any id Chopin ever minted. Match it with ``fullmatch``: ``$`` would let a trailing newline pass."""

CHANNEL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
"""A channel id: UUID version 4 or 5, lower case (``fullmatch``)."""


def channel_id(repository: RepositoryId, name: str) -> ChannelId:
    """
    The id of the channel that ``name`` stands for in a repository: the same answer for the same pair, for ever.

    ``name`` is a random UUID for a document made in the browser, the idempotency key over MCP, and the request's identity
    for a research child. Source: architecture §6.
    """
    digest = bytearray(hashlib.sha256(f"{repository}\0{name}".encode("utf-8", "surrogatepass")).digest()[:16])
    digest[6] = (digest[6] & 0x0F) | 0x50
    digest[8] = (digest[8] & 0x3F) | 0x80
    return ChannelId(_dashed(digest.hex()))


def parse_channel_id(value: object) -> ChannelId:
    """
    The value as a channel id.

    Raises:
        InvalidField: it is not a string of that shape.
    """
    if isinstance(value, str) and CHANNEL_ID.fullmatch(value):
        return ChannelId(value)
    raise InvalidField("channel", "is not a channel id")


class UuidV7:
    """
    Mints UUIDv7 strings (RFC 9562 §5.7) that only ever grow within one process, also when the clock steps back.

    The 12 bits behind the millisecond count up within it; when they are used up the next millisecond is taken in advance.
    """

    def __init__(
        self,
        milliseconds: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        entropy: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self._milliseconds = milliseconds
        self._entropy = entropy
        self._last = 0  # milliseconds << 12 | counter
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            fresh = self._milliseconds() << 12 | self._entropy(8)
            self._last = max(fresh, self._last + 1)
            stamp, counter = self._last >> 12, self._last & 0xFFF
        value = (stamp & (1 << 48) - 1) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | self._entropy(62)
        return _dashed(f"{value:032x}")


def _dashed(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
