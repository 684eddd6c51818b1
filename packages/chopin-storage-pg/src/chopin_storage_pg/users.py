"""The user store."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import UserMissing
from chopin_core.ids import UserId
from chopin_core.people import Person, User
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import users


class PgUserStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def put(self, person: Person, *, now: datetime) -> User:
        changes = {"login": person.login, "avatar_url": person.avatar_url, "updated_at": now}
        written = insert(users).values(id=person.id, created_at=now, **changes)
        async with self._connections.writing() as connection:
            result = await connection.execute(
                written.on_conflict_do_update(index_elements=[users.c.id], set_=changes).returning(users)
            )
            return _user(result.one())

    async def get(self, user_id: UserId) -> User | None:
        if not rows.can_exist(user_id):
            return None
        async with self._connections.single() as connection:
            row = (await connection.execute(select(users).where(users.c.id == user_id))).one_or_none()
        return None if row is None else _user(row)


async def refuse_unknown(connection: AsyncConnection, user_id: UserId) -> None:
    """
    Raises:
        UserMissing: there is no such user.
    """
    if not rows.can_exist(user_id) or await connection.scalar(select(users.c.id).where(users.c.id == user_id)) is None:
        raise UserMissing(user_id)


def _user(row: Row[Any]) -> User:
    person = Person(id=UserId(row.id), login=row.login, avatar_url=row.avatar_url)
    return User(person=person, created_at=rows.utc(row.created_at), updated_at=rows.utc(row.updated_at))
