"""One connection's talk with its room: frames in, events out."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

import structlog

from chopin_core.errors import UpdateMalformed
from chopin_core.room.batch import Submission
from chopin_core.room.events import (
    Acknowledged,
    ChannelChanged,
    CursorsMoved,
    MemberView,
    PresenceChanged,
    Reset,
    RoomClosed,
    RoomEvent,
    Struck,
    Updated,
)
from chopin_core.room.limits import CURSORS_PER_SECOND, Pace, Rate, Strikes, UpdateRate
from chopin_core.room.room import Room
from chopin_web.admission import Admission, Verdict
from chopin_web.close_codes import CloseCode
from chopin_web.frames import plan, session
from chopin_web.frames.envelope import Frame, FrameMalformed
from chopin_web.outbox import Outbox


class Conversation:
    """A member of the room whose other end is a socket."""

    def __init__(
        self,
        room: Room,
        handle: str,
        admission: Admission,
        outbox: Outbox,
        log: structlog.typing.FilteringBoundLogger,
    ) -> None:
        self._room = room
        self._view = MemberView(handle=handle, client=secrets.token_hex(8))
        self._admission = admission
        self._outbox = outbox
        self._log = log
        self._rate = UpdateRate()
        self._cursors = Rate(CURSORS_PER_SECOND)
        self._strikes = Strikes()

    # Outwards

    @property
    def view(self) -> MemberView:
        return self._view

    def greet(self) -> None:
        self._outbox.put(
            session.hello(self._room.channel, self._view, self._room.members, can_manage=self._admission.can_manage)
        )

    def tell(self, event: RoomEvent) -> None:
        match event:
            case Acknowledged():
                self._outbox.put(plan.acknowledged(event))
            case Updated():
                self._outbox.put(plan.updated(event))
            case CursorsMoved():
                self._outbox.put(plan.cursors_moved(event))
            case Reset():
                self._outbox.put(plan.reset(event))
            case Struck():
                self._strike(event.reason)
            case PresenceChanged():
                self._outbox.put(session.presence(event.members))
            case ChannelChanged():
                self._outbox.put(session.channel_changed(event.channel, can_manage=self._admission.can_manage))
            case RoomClosed():
                self._outbox.close(CloseCode.RESTART)

    def tell_access(self) -> None:
        self._outbox.put(session.access(can_edit=self._can_edit, can_manage=self._admission.can_manage))

    def lose_access(self, rid: str | None = None) -> None:
        if rid is not None:
            self._outbox.put(session.error("You no longer have access to this document", rid))
        self._outbox.close(CloseCode.ACCESS_LOST)

    # Inwards

    async def take(self, frame: Frame) -> None:
        """Act on a frame. One of an unknown kind is dropped; one that is malformed is answered and changes nothing."""
        try:
            if handler := FOR_VIEWERS.get(frame.kind):
                await handler(self, frame)
            elif (handler := FOR_EDITORS.get(frame.kind)) and await self._may_edit(frame.rid):
                await handler(self, frame)
        except FrameMalformed as error:
            self._outbox.put(session.error(str(error), frame.rid))
            self._strike("frame")
        except UpdateMalformed as error:
            self._outbox.put(session.error(str(error), frame.rid))
            self._strike("malformed")

    @property
    def _can_edit(self) -> bool:
        return self._admission.can_manage and not self._room.channel.archived

    async def _may_edit(self, rid: str | None) -> bool:
        match await self._admission.renewed():
            case Verdict.DENIED:
                self.lose_access(rid)
                return False
            case Verdict.UNAVAILABLE:
                refusal = "Your access cannot be checked now; please try again"
            case Verdict.ALLOWED if self._can_edit:
                return True
            case Verdict.ALLOWED:
                refusal = "You may read this document but not change it"
        if rid is not None:
            self._outbox.put(session.error(refusal, rid))
        return False

    async def _ping(self, frame: Frame) -> None:
        self._outbox.put(session.pong(frame.rid))

    async def _open(self, frame: Frame) -> None:
        opening = self._room.open(self, frame.optional_text("epoch"), frame.optional_data("vector"))
        self._outbox.put(plan.opened(opening, frame.rid))

    async def _close(self, frame: Frame) -> None:
        self._room.close(self)

    async def _awareness(self, frame: Frame) -> None:
        if self._cursors.take(time.monotonic()):
            self._room.move_cursor(self, frame.text("epoch"), frame.data("update"))

    async def _update(self, frame: Frame) -> None:
        match self._rate.arrive(time.monotonic()):
            case Pace.CUT:
                self._log.warning("update rate exceeded")
                self._outbox.close(CloseCode.RATE_EXCEEDED)
            case Pace.DROP:
                self._outbox.put(session.error("Too many updates at once; please send it again", frame.rid))
            case Pace.TAKE:
                submission = Submission(member=self, id=frame.text("id"), update=frame.data("update"), tag=frame.rid)
                await self._room.submit(submission, frame.text("epoch"))

    def _strike(self, reason: str) -> None:
        self._log.warning("update refused", reason=reason)
        if self._strikes.strike(time.monotonic()):
            self._outbox.close(CloseCode.REJECTED_TOO_OFTEN)


# Not in the object: it would hold itself, and with it the room and its document, until the garbage collector comes.
Handler: TypeAlias = Callable[[Conversation, Frame], Awaitable[None]]
FOR_VIEWERS: Final[Mapping[str, Handler]] = {
    "session:ping": Conversation._ping,
    "plan:open": Conversation._open,
    "plan:close": Conversation._close,
}
FOR_EDITORS: Final[Mapping[str, Handler]] = {
    "plan:update": Conversation._update,
    "plan:awareness": Conversation._awareness,
}
