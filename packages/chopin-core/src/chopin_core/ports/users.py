"""Storage of the people who wrote."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from chopin_core.ids import UserId
from chopin_core.people import Person, User


class UserStore(Protocol):
    """Identity and attribution records."""

    async def put(self, person: Person, *, now: datetime) -> User:
        """
        Remember a person, or what changed about them, and answer the record.

        The first put sets ``created_at``; every put sets ``updated_at`` to ``now``, also to an earlier one.
        """
        ...

    async def get(self, user_id: UserId) -> User | None:
        """The person's record, or None."""
        ...
