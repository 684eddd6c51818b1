"""Web sessions in memory."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import attrs

from chopin_core.errors import SessionExists, UserMissing
from chopin_core.ids import SessionId
from chopin_core.memory.leases import fence
from chopin_core.memory.tables import Connection, Tables, utc
from chopin_core.ports.leases import Lease
from chopin_core.ports.web_sessions import Credentials, SessionsReset, WebSession


@attrs.frozen
class MemoryWebSessionStore:
    _connection: Connection

    async def create(self, session: WebSession) -> None:
        tables = await self._connection.turn()
        if session.user_id not in tables.users:
            raise UserMissing(session.user_id)
        if session.id in tables.sessions:
            raise SessionExists()
        tables.sessions[session.id] = attrs.evolve(
            session, expires_at=utc(session.expires_at), created_at=utc(session.created_at)
        )

    async def get(self, session_id: SessionId, *, now: datetime) -> WebSession | None:
        tables = await self._connection.turn()
        session = tables.sessions.get(session_id)
        return session if session is not None and session.expires_at > now else None

    async def rotate(self, session_id: SessionId, credentials: Credentials) -> bool:
        tables = await self._connection.turn()
        session = tables.sessions.get(session_id)
        if session is None or session.credentials is None or session.credentials.revision + 1 != credentials.revision:
            return False
        tables.sessions[session_id] = attrs.evolve(session, credentials=credentials)
        return True

    async def delete(self, session_id: SessionId, *, now: datetime) -> bool:
        tables = await self._connection.turn()
        return bool(_ended(tables, [session_id], now))

    async def delete_expired(self, *, now: datetime) -> int:
        tables = await self._connection.turn()
        return _ended(tables, [id for id, session in tables.sessions.items() if session.expires_at <= now], now)

    async def reset(self, *, now: datetime, lease: Lease, ttl: timedelta) -> SessionsReset:
        tables = await self._connection.turn()
        clock = self._connection.clock()
        fence(tables, lease, clock)
        for channel_id, agent in tables.agents.items():
            if agent.owner is not None:
                tables.agents[channel_id] = attrs.evolve(agent.ownerless(), updated_at=utc(now))
        gone = [id for id, session in tables.sessions.items() if session.credentials is None or session.expires_at <= now]
        tables.leases[lease.name] = attrs.evolve(tables.leases[lease.name], expires_at=clock + ttl)
        return SessionsReset(deleted=_ended(tables, gone, now), lease=tables.leases[lease.name])


def _ended(tables: Tables, ids: Iterable[SessionId], now: datetime) -> int:
    """Remove the sessions that there are, and what they own; how many there were."""
    gone = {id for id in ids if tables.sessions.pop(id, None) is not None}
    for channel_id, agent in tables.agents.items():
        if agent.owner in gone:
            tables.agents[channel_id] = attrs.evolve(agent.ownerless(), updated_at=utc(now))
    return len(gone)
