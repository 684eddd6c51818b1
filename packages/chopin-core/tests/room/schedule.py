"""An event loop in which a schedule says whose turn it is and when time passes, so that every order of events can be tried."""

from __future__ import annotations

import asyncio
import enum
import heapq
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from itertools import count
from typing import Any, TypeAlias, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Turn(enum.Enum):
    """What a schedule may do other than let the callback that has waited longest run."""

    ASIDE = "aside"
    """That callback is slow, as a network can be: it runs when nothing else can."""
    TIMER = "timer"
    """Everything that could run is slow: the next timer fires first."""


Schedule: TypeAlias = Mapping[int, Turn]
"""At which steps something else happens than what would be next."""


class Stuck(Exception):
    """The main task waits for something that nothing is left to bring about."""


class ScheduledLoop(asyncio.BaseEventLoop):
    """
    An event loop without a clock and without threads. ``choices`` tells for each step so far what else could have happened.

    ``at`` are callbacks to run right before a step. Work for a thread is one more callback, so a schedule can delay it too.
    """

    def __init__(self, schedule: Schedule, at: Mapping[int, Callable[[], object]] | None = None) -> None:
        super().__init__()
        self.choices: list[tuple[Turn, ...]] = []
        self.complaints: list[str] = []
        self._schedule = schedule
        self._at = dict(at or {})
        self._waiting: deque[asyncio.Handle] = deque()
        self._aside: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._serial = count()
        self._now = 0.0

    # What asyncio asks of a loop

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._waiting.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._serial), handle))
        return handle

    def run_in_executor(self, executor: Any, func: Callable[[Unpack[Ts]], T], *args: *Ts) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            if not future.cancelled():
                try:
                    future.set_result(func(*args))
                except Exception as error:
                    future.set_exception(error)

        self.call_soon(work)
        return future

    def call_exception_handler(self, context: Mapping[str, Any]) -> None:
        self.complaints.append(f"{context.get('message')}: {context.get('exception')!r}")

    def _run_once(self) -> None:
        self._let_due_timers_wait()
        turn = None
        if self._waiting or self._aside:
            step = len(self.choices)
            if (interruption := self._at.pop(step, None)) is not None:
                interruption()
            self.choices.append(self._possible())
            wanted = self._schedule.get(step)
            turn = wanted if wanted in self.choices[step] else None
        elif not self._timers:
            raise Stuck
        if turn is Turn.ASIDE:
            if not self._waiting:
                self._waiting.append(self._aside.popleft())
            self._aside.append(self._waiting.popleft())
        if turn is Turn.TIMER or not (self._waiting or self._aside):
            self._now = max(self._now, self._timers[0][0])
            handle: asyncio.Handle = heapq.heappop(self._timers)[2]
        elif self._waiting:
            handle = self._waiting.popleft()
        else:
            handle = self._aside.popleft()
        if not handle.cancelled():
            handle._run()

    def _possible(self) -> tuple[Turn, ...]:
        aside = (Turn.ASIDE,) if len(self._waiting) + len(self._aside) > 1 else ()
        return (*aside, Turn.TIMER) if self._timers else aside

    def _let_due_timers_wait(self) -> None:
        self._waiting = deque(handle for handle in self._waiting if not handle.cancelled())
        self._aside = deque(handle for handle in self._aside if not handle.cancelled())
        while self._timers and (self._timers[0][2].cancelled() or self._timers[0][0] <= self._now):
            handle = heapq.heappop(self._timers)[2]
            if not handle.cancelled():
                self._waiting.append(handle)

    # What tests ask of it

    def settle(self) -> None:
        """Run what can run without time passing."""

        async def nothing() -> None:
            while self._waiting or (self._timers and self._timers[0][0] <= self._now):
                await asyncio.sleep(0)

        self._schedule, self._at = {}, {}
        self._waiting += self._aside
        self._aside.clear()
        self.run_until_complete(nothing())

    def bury(self) -> None:
        """Let go of what a death left behind, so that nothing of it is found later."""

        async def nothing() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self._schedule, self._at = {}, {}
        funeral = self.create_task(nothing())
        funeral.add_done_callback(lambda _: self.stop())
        while not funeral.done():  # the call to stop that the death came before may still be waiting
            self.run_forever()

    @property
    def timers(self) -> int:
        """How many are still to fire."""
        return sum(not handle.cancelled() for _, _, handle in self._timers)


def explore(run: Callable[[Schedule], ScheduledLoop], delays: int) -> int:
    """Run every schedule that has at most so many delays; how many there were."""
    schedules: list[Schedule] = [{}]
    tried = 0
    while schedules:
        schedule = schedules.pop()
        choices = run(schedule).choices
        tried += 1
        if len(schedule) < delays:
            start = max(schedule, default=-1) + 1
            schedules += [{**schedule, step: turn} for step in range(start, len(choices)) for turn in choices[step]]
    return tried
