"""The people in a room: who is there, who of them has the document open, and telling them things."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from chopin_core.counters import Epoch
from chopin_core.room.events import CursorsMoved, MemberView, PresenceChanged, Reset, ResetReason, RoomEvent
from chopin_core.room.member import Member
from chopin_core.room.presence import Presence


class Audience:
    """Members in the order of their coming. Changes of the document are for those who opened it, the rest is for all."""

    def __init__(self) -> None:
        self._presence = Presence()
        self._opened: dict[Member, int] = {}
        self._openings = count(1)

    @property
    def views(self) -> tuple[MemberView, ...]:
        return tuple(member.view for member in self._presence)

    @property
    def opened(self) -> Mapping[Member, int]:
        """Those who have the document open and took it in whole since their last reset, with the number of that opening."""
        return self._opened

    @property
    def cursors(self) -> bytes | None:
        """Everybody's cursor, for somebody who has just come; None when nobody shows one."""
        return self._presence.cursors()

    def shower(self, client_id: int) -> Member | None:
        """Who shows a cursor under that client id."""
        return self._presence.shower(client_id)

    def join(self, member: Member) -> None:
        self._presence.join(member)
        self._tell_others(member, PresenceChanged(members=self.views))

    def leave(self, member: Member, epoch: Epoch) -> None:
        self.close(member, epoch)
        if member in self._presence:
            self._presence.leave(member)
            self._tell_others(member, PresenceChanged(members=self.views))

    def open(self, member: Member) -> None:
        self._opened[member] = next(self._openings)

    def close(self, member: Member, epoch: Epoch) -> None:
        """The member stops looking at the document, and its cursor goes, but it stays in the room."""
        self._opened.pop(member, None)
        self._relay_cursors(member, epoch, self._presence.hide(member))

    def move_cursor(self, member: Member, epoch: Epoch, update: bytes) -> None:
        """
        Show a member's awareness to the others.

        Raises:
            UpdateMalformed: it does not hold exactly one readable state.
        """
        if member in self._presence:
            self._relay_cursors(member, epoch, self._presence.move(member, update))

    def reset(self, member: Member, epoch: Epoch) -> None:
        """What the member has is of no use any more; until it opens the document again it takes no part in it."""
        self._opened.pop(member, None)
        member.tell(Reset(epoch=epoch, reason=ResetReason.REBUILT))

    def reset_everybody(self, epoch: Epoch) -> None:
        """After the document was rebuilt no copy of it is of use, and no cursor points anywhere."""
        self._presence.forget_cursors()
        for member in tuple(self._opened):
            self.reset(member, epoch)

    def tell_all(self, event: RoomEvent) -> None:
        for member in self._presence:
            member.tell(event)

    def tell_opened(self, event: RoomEvent) -> None:
        for member in self._opened:
            member.tell(event)

    def _tell_others(self, member: Member, event: RoomEvent) -> None:
        for other in self._presence:
            if other is not member:
                other.tell(event)

    def _relay_cursors(self, member: Member, epoch: Epoch, update: bytes | None) -> None:
        if update is not None:
            event = CursorsMoved(epoch=epoch, update=update, sender=member.view.handle)
            for other in self._opened.keys() - {member}:
                other.tell(event)
