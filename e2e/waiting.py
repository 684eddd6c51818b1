"""Waiting for something that is to become true soon."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

EVERY = 0.05


async def eventually(read: Callable[[], Awaitable[object]], expected: object, *, within: float = 10.0) -> None:
    """Read until the answer is the expected one; the last other answer is what the failure tells."""
    await until(read, lambda answer: answer == expected, within=within, wanted=repr(expected))


async def until(
    read: Callable[[], Awaitable[T]], fits: Callable[[T], bool], *, within: float = 10.0, wanted: str = "something that fits"
) -> T:
    """The first answer that fits."""
    deadline = time.monotonic() + within
    while True:
        answer = await read()
        if fits(answer):
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"after {within:g} s: {answer!r}, and not {wanted}")
        await asyncio.sleep(EVERY)
