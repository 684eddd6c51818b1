"""One connection to an open document, as the room sees it."""

from __future__ import annotations

from typing import Protocol

from chopin_core.room.events import MemberView, RoomEvent


class Member(Protocol):
    """Somebody in the room. The room never waits for a member and never learns what carries the events."""

    @property
    def view(self) -> MemberView: ...

    def tell(self, event: RoomEvent) -> None:
        """Take an event for delivery, in order. Returns at once and never raises; a member that lags drops out by itself."""
        ...
