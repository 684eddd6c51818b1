"""People in memory."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.ids import UserId
from chopin_core.memory.tables import Connection, utc
from chopin_core.people import Person, User


@attrs.frozen
class MemoryUserStore:
    _connection: Connection

    async def put(self, person: Person, *, now: datetime) -> User:
        tables = await self._connection.turn()
        known = tables.users.get(person.id)
        user = User(person=person, created_at=utc(now) if known is None else known.created_at, updated_at=utc(now))
        tables.users[person.id] = user
        return user

    async def get(self, user_id: UserId) -> User | None:
        tables = await self._connection.turn()
        return tables.users.get(user_id)
