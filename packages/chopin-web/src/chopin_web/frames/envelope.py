"""What all frames share: a JSON object with a kind, a time, and for a reply the id of the request."""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

LARGEST_FRAME = 1024 * 1024
"""Characters: an update of 512 KiB in base64 and some room around it. Who sends more is closed with 1009 before it is read."""

LONGEST_ID = 128

T = TypeVar("T")


class FrameMalformed(Exception):
    """A frame of a known kind lacks a field or has a wrong one; its argument is a sentence for the sender."""


@attrs.frozen(kw_only=True)
class Frame:
    """A frame from a client. Nothing in it is trusted yet."""

    kind: str
    rid: str | None
    fields: Mapping[str, Any]

    def text(self, name: str, longest: int = LONGEST_ID) -> str:
        """
        A required string field.

        Raises:
            FrameMalformed: it is missing, no string, empty or too long.
        """
        value = self.fields.get(name)
        if not isinstance(value, str) or not 1 <= len(value) <= longest:
            raise FrameMalformed(f"{name} must be a string of 1 to {longest} characters")
        return value

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.fields.get(name) is not None else None

    def data(self, name: str) -> bytes:
        """
        A required base64 field, decoded.

        Raises:
            FrameMalformed: it is missing or not base64.
        """
        value = self.fields.get(name)
        try:
            if not isinstance(value, str):
                raise ValueError
            return base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error):
            raise FrameMalformed(f"{name} must be base64") from None

    def optional_data(self, name: str) -> bytes | None:
        return self.data(name) if self.fields.get(name) is not None else None


def parse(text: str) -> Frame | None:
    """The frame in a text message, or None for what the protocol drops without an answer."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(kind := value.get("kind"), str):
        return None
    rid = value.get("rid")
    return Frame(kind=kind, rid=rid if isinstance(rid, str) and len(rid) <= LONGEST_ID else None, fields=value)


def compose(kind: str, *, rid: str | None = None, **fields: Any) -> str:
    """A frame for a client; fields that are None are left out."""
    shown = {name: value for name, value in fields.items() if value is not None}
    head: dict[str, Any] = {"kind": kind, "ts": int(time.time())}
    if rid is not None:
        head["rid"] = rid
    return json.dumps({**head, **shown}, separators=(",", ":"))


def shared(make: Callable[[T], str]) -> Callable[[T], str]:
    """
    Make the frame of one and the same thing once, however many are told of it.

    A room tells its members one after the other, so it is enough to remember the last thing and its frame.
    """
    last: tuple[T, str] | None = None

    def made(thing: T) -> str:
        nonlocal last
        if last is None or last[0] is not thing:
            last = (thing, make(thing))
        return last[1]

    return made


def encoded(data: bytes) -> str:
    """Bytes as they stand in a frame."""
    return base64.b64encode(data).decode()
