"""Giving up on a call at a chosen one of its waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

import attrs

T = TypeVar("T")


@attrs.define(eq=False)
class GivenUp:
    """
    A call whose task is cancelled at its ``at``-th wait.

    A call's waits are where its coroutine hands control to the loop, in whatever library that is. The cancellation arrives as
    it does in life: the wait is begun, and interrupted.
    """

    call: Coroutine[Any, Any, Any]
    at: int
    waits: int = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self.call.__await__()
        answer: Any = None
        fault: BaseException | None = None
        while True:
            try:
                waited = steps.send(answer) if fault is None else steps.throw(fault)
            except StopIteration as finished:
                return finished.value
            self.waits += 1
            if self.waits == self.at:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            answer, fault = None, None
            try:
                answer = yield waited
            except BaseException as error:  # whatever it is, it is the call's
                fault = error
