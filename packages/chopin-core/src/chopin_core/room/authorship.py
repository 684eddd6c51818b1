"""Whose a client id is: what keeps one person from typing as another."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chopin_core.errors import UpdateRefused
from chopin_core.room.member import Member

Shower = Callable[[int], Member | None]
"""Who shows a cursor under a client id just now."""


class Authorship:
    """
    A client id is the person's who first typed under it in this room, or who shows a cursor under it.

    A shared text tells characters apart by client id and clock, so whoever takes the next clock of somebody else has *their*
    next edit refused, as one that says something else of a known character. Ids from before the room was opened are nobody's
    until somebody goes on under them.
    """

    def __init__(self, shower: Shower) -> None:
        self._shower = shower
        self._typists: dict[int, str] = {}

    def refuse_foreign(self, member: Member, clients: Iterable[int]) -> None:
        """
        Raises:
            UpdateRefused: one of the client ids is another person's.
        """
        for client in clients:
            shower = self._shower(client)
            owner = self._typists.get(client) or (shower and shower.view.handle)
            if owner not in (None, member.view.handle):
                raise UpdateRefused("foreign-client")

    def typed(self, member: Member, clients: Iterable[int]) -> None:
        for client in clients:
            self._typists.setdefault(client, member.view.handle)
