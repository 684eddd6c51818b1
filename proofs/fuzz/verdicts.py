"""What becomes of an update in a room without sockets and storage, and whether the room is the same after a refusal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import attrs

import chopin_core.engines
from chopin_core.document.validity import check_change
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import read_vector
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import SharedText
from chopin_core.room.authorship import Authorship
from chopin_core.room.batch import Decision, Shadow, Submission
from chopin_core.room.events import MemberView, RoomEvent
from chopin_core.room.limits import LARGEST_UPDATE

from .scene import Scene

TAKEN, KNOWN, TOO_LARGE = "taken", "known", "too-large"
"""Verdicts beside the reasons that a room gives."""

_WATCHED = {str(path) for path in Path(chopin_core.engines.__file__).parent.glob("*.py")}

Lines = frozenset[tuple[str, int]]
"""Places in source code."""


class Violation(AssertionError):
    """The room broke a promise; its argument says which."""


@attrs.frozen(eq=False)
class Nobody:
    """A member that hears nothing."""

    view: MemberView = attrs.field(factory=lambda: MemberView(handle="eve", client="tab"))

    def tell(self, event: RoomEvent) -> None: ...


@attrs.frozen(kw_only=True)
class Judged:
    """``path`` names the lines of the engines that ran; ``text`` is the document afterwards, ``update`` how it got there."""

    verdict: str
    path: Lines
    text: str
    update: bytes

    @property
    def refused(self) -> bool:
        return self.verdict not in (TAKEN, KNOWN)


class Bench:
    """Judges updates, each on the same document."""

    def __init__(self, scene: Scene) -> None:
        self._engine = PycrdtEngine()
        self._scene = scene
        self._set_up()

    def _set_up(self) -> None:
        self._live = self._engine.load([self._scene.whole])
        self._shadow = Shadow(self._engine, self._live, check_change, Authorship(lambda _: None))
        self._before = _state(self._live)

    def judge(self, data: bytes, *, traced: bool = False) -> Judged:
        """
        Raises:
            Violation: a refusal left something behind, or what was taken cannot be stored and recovered.
        """
        if len(data) > LARGEST_UPDATE:
            return Judged(verdict=TOO_LARGE, path=frozenset(), text=self._live.text, update=b"")
        path: set[tuple[str, int]] = set()
        with _followed(path) if traced else _unwatched():
            decision = self._shadow.decide(self._live, [Submission(member=Nobody(), id="u", update=data)])
        verdict = _verdict(decision)
        text = self._taken(decision) if verdict == TAKEN else self._left_alone(verdict)
        return Judged(verdict=verdict, path=frozenset(path), text=text, update=decision.update)

    def _left_alone(self, verdict: str) -> str:
        for what, replica in (("live", self._live), ("recovered", self._engine.load([self._live.update()]))):
            if _state(replica) != self._before:
                raise Violation(f"{verdict}, but the {what} document changed")
        if self._shadow.text != self._live.text:
            raise Violation(f"{verdict}, but the shadow changed")
        return self._live.text

    def _taken(self, decision: Decision) -> str:
        try:
            self._live.apply(decision.update)
            again = self._engine.load([self._scene.whole, decision.update])
            folded = self._engine.load([self._live.update()])
        except UpdateMalformed as error:
            raise Violation(f"taken, but then not applied or recovered: {error}") from error
        text = self._live.text
        if not text == self._shadow.text == again.text == folded.text:
            raise Violation("taken, but live, shadow and recovered texts differ")
        if not _state(self._live) == _state(again) == _state(folded):
            raise Violation("taken, but live and recovered states differ")
        self._set_up()
        return text


def _verdict(decision: Decision) -> str:
    if decision.refused:
        return decision.refused[0].reason
    return TAKEN if decision.accepted else KNOWN


def _state(replica: SharedText) -> tuple[str, dict[int, int]]:
    return replica.text, read_vector(replica.state_vector())


@contextmanager
def _unwatched() -> Iterator[None]:
    yield


@contextmanager
def _followed(path: set[tuple[str, int]]) -> Iterator[None]:
    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            path.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename in _WATCHED else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
