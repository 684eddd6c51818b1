"""Interrupting calls at a chosen one of their waits, in each way in which life does it."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Coroutine, Generator, Sequence
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

import attrs

from wire import Cut, Wire

Caller: TypeAlias = asyncio.Task[object]


class Crash(BaseException):
    """What neither a driver nor a pool expects, as a panic in a library of another language comes."""


class Kind(enum.Enum):
    """
    What happens to a call. Those that lose a message lose the next one that the call sends, and all connections with it.
    """

    CANCEL = "its caller gives up"
    RESET = "the wait fails as a socket does"
    CRASH = "the wait fails as nothing should"
    QUESTION_LOST = "its message never arrives"
    ANSWER_LOST = "its message is carried out, and the answer never arrives"
    QUESTION_LATE = "it finds itself cut off, and its message arrives later"
    CUT = "its connection ends after a certain message, whatever it waits for"

    @property
    def cut(self) -> Cut | None:
        return _CUTS.get(self)

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


AT_A_WAIT: Final = tuple(kind for kind in Kind if kind is not Kind.CUT)
_CUTS: Final = {Kind.QUESTION_LOST: Cut.QUESTION, Kind.ANSWER_LOST: Cut.ANSWER, Kind.QUESTION_LATE: Cut.LATE}


@attrs.define(eq=False)
class Interrupted:
    """
    Calls made at once, and interrupted at the ``at``-th of all their waits.

    A call's waits are where it hands control to the loop, in whatever library that is, and also in the tasks that it starts.
    The interruption arrives as it does in life: the wait is begun, and then something happens.
    """

    kind: Kind
    at: int
    wire: Wire
    waits: int = 0
    victim: Caller | None = None
    """Whose wait it was."""

    async def ends(self, calls: Sequence[Coroutine[Any, Any, object]]) -> list[Caller]:
        """Make the calls and wait for the end of each, whichever it is."""
        loop = asyncio.get_running_loop()
        former = loop.get_task_factory()
        loop.set_task_factory(_counting)
        try:
            callers = [asyncio.create_task(self._call(call)) for call in calls]
            await asyncio.wait(callers)
        finally:
            loop.set_task_factory(former)
        return callers

    async def _call(self, call: Coroutine[Any, Any, object]) -> object:
        caller = asyncio.current_task()
        assert caller is not None
        _within.set((self, caller))
        return await _Steps(call, self, caller)

    def reached(self, caller: Caller) -> BaseException | None:
        """A caller waits; what that wait is to fail with, if anything."""
        self.waits += 1
        if self.waits != self.at:
            return None
        self.victim = caller
        match self.kind:
            case Kind.CANCEL:
                caller.cancel()
            case Kind.RESET:
                return ConnectionResetError("reset by a test")
            case Kind.CRASH:
                return Crash()
            case _:
                assert self.kind.cut is not None
                self.wire.cut(b"", self.kind.cut, all_connections=True)
        return None


_within: ContextVar[tuple[Interrupted, Caller] | None] = ContextVar("_within", default=None)


@attrs.frozen(eq=False)
class _Steps:
    """A coroutine, its waits counted."""

    call: Coroutine[Any, Any, Any]
    interrupted: Interrupted
    caller: Caller

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self.call.__await__()
        answer: Any = None
        fault: BaseException | None = None
        while True:
            try:
                waited = steps.send(answer) if fault is None else steps.throw(fault)
            except StopIteration as finished:
                return finished.value
            answer, fault = None, self.interrupted.reached(self.caller)
            try:
                if fault is None:
                    answer = yield waited
                else:
                    yield  # one turn of the loop goes by before the wait fails
            except BaseException as error:  # whatever it is, it is the call's
                fault = error


def _counting(loop: asyncio.AbstractEventLoop, call: Any, **options: Any) -> asyncio.Task[Any]:
    within = _within.get()
    return asyncio.Task(call if within is None else _steps(call, *within), loop=loop, **options)


async def _steps(call: Coroutine[Any, Any, Any], interrupted: Interrupted, caller: Caller) -> Any:
    return await _Steps(call, interrupted, caller)
