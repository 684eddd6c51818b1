"""Many attempts at once, and what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Final, Generic, TypeVar

import attrs

from chopin_core.errors import ChopinError, Unavailable

WRITERS: Final = 8
"""A race is this wide: two writers miss a lock that is not there most of the time, eight do not."""

PATIENCE: Final = 30.0
"""Seconds after which a race counts as a deadlock."""

T = TypeVar("T")


@attrs.frozen
class Raced(Generic[T]):
    """The answers and the refusals of a race, each in the order of the attempts."""

    won: Sequence[T]
    refused: Sequence[ChopinError]

    def refusals(self) -> set[tuple[type[ChopinError], tuple[Any, ...]]]:
        """Which refusals there were, with their fields."""
        return {(type(error), error.args) for error in self.refused}


async def race(*attempts: Coroutine[Any, Any, T]) -> Raced[T]:
    """
    Run the attempts at once.

    A refusal is an outcome; ``Unavailable`` (a deadlock that storage broke, a pool that ran dry) and what is no error of
    Chopin's is a failed test.
    """
    won: list[T] = []
    refused: list[ChopinError] = []
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    for outcome in outcomes:
        if not isinstance(outcome, BaseException):
            won.append(outcome)
        elif isinstance(outcome, ChopinError) and not isinstance(outcome, Unavailable):
            refused.append(outcome)
        else:
            raise outcome
    return Raced(won, refused)
