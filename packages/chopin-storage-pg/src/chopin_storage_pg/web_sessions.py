"""The store of web sessions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import CredentialRevision, FencingToken
from chopin_core.errors import SessionExists
from chopin_core.ids import SessionId, UserId
from chopin_core.ports.leases import Lease
from chopin_core.ports.web_sessions import Credentials, SessionsReset, WebSession
from chopin_storage_pg import fences, rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import agent_state, storage_leases, web_sessions
from chopin_storage_pg.users import refuse_unknown


class PgWebSessionStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def create(self, session: WebSession) -> None:
        credentials = session.credentials
        async with self._connections.writing({"web_sessions_pkey": SessionExists()}) as connection:
            await refuse_unknown(connection, session.user_id)
            await connection.execute(
                insert(web_sessions).values(
                    id=session.id,
                    user_id=session.user_id,
                    expires_at=session.expires_at,
                    created_at=session.created_at,
                    secret_hash=None if credentials is None else credentials.secret_hash,
                    ciphertext=None if credentials is None else credentials.ciphertext,
                    credential_revision=None if credentials is None else credentials.revision,
                )
            )

    async def get(self, session_id: SessionId, *, now: datetime) -> WebSession | None:
        if not rows.can_exist(session_id):
            return None
        async with self._connections.single() as connection:
            found = await connection.execute(
                select(web_sessions).where(web_sessions.c.id == session_id, web_sessions.c.expires_at > now)
            )
            row = found.one_or_none()
        return None if row is None else _session(row)

    async def rotate(self, session_id: SessionId, credentials: Credentials) -> bool:
        if not rows.can_exist(session_id):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(web_sessions)
                .where(web_sessions.c.id == session_id, web_sessions.c.credential_revision == credentials.revision - 1)
                .values(
                    secret_hash=credentials.secret_hash,
                    ciphertext=credentials.ciphertext,
                    credential_revision=credentials.revision,
                )
            )
            return result.rowcount == 1

    async def delete(self, session_id: SessionId, *, now: datetime) -> bool:
        if not rows.can_exist(session_id):
            return False
        async with self._connections.writing() as connection:
            return await end(connection, web_sessions.c.id == session_id, now) == 1

    async def delete_expired(self, *, now: datetime) -> int:
        async with self._connections.writing() as connection:
            return await end(connection, web_sessions.c.expires_at <= now, now)

    async def reset(self, *, now: datetime, lease: Lease, ttl: timedelta) -> SessionsReset:
        async with self._connections.writing() as connection:
            await fences.hold(connection, lease)
            known = await _locked(connection, true())
            await connection.execute(_owners_cleared(agent_state.c.owner_session_id.is_not(None), now))
            await fences.judge(connection, lease)
            spent = or_(web_sessions.c.ciphertext.is_(None), web_sessions.c.expires_at <= now)
            # Of those that are locked: a session created since may own a Planner by now.
            deleted = await connection.execute(delete(web_sessions).where(web_sessions.c.id.in_(known), spent))
            extended = await connection.execute(
                update(storage_leases)
                .where(storage_leases.c.name == lease.name)
                .values(expires_at=func.clock_timestamp() + ttl)
                .returning(storage_leases.c.expires_at)
            )
            longer = Lease(
                name=lease.name,
                owner=lease.owner,
                fencing=FencingToken(lease.fencing),
                expires_at=rows.utc(extended.scalar_one()),
            )
            return SessionsReset(deleted=deleted.rowcount, lease=longer)


async def end(connection: AsyncConnection, which: ColumnElement[bool], now: datetime) -> int:
    """Delete the sessions and clear what they own; how many there were."""
    ids = await _locked(connection, which)
    if ids:
        await connection.execute(_owners_cleared(agent_state.c.owner_session_id.in_(ids), now))
        await connection.execute(delete(web_sessions).where(web_sessions.c.id.in_(ids)))
    return len(ids)


async def _locked(connection: AsyncConnection, which: ColumnElement[bool]) -> list[str]:
    """Sessions before agents, as everywhere: a claim in flight is waited for, and none begins."""
    found = await connection.scalars(select(web_sessions.c.id).where(which).order_by(web_sessions.c.id).with_for_update())
    return list(found)


def _owners_cleared(which: ColumnElement[bool], now: datetime) -> Any:
    return update(agent_state).where(which).values(owner_session_id=None, status="unavailable", updated_at=now)


def _session(row: Row[Any]) -> WebSession:
    credentials = None
    if row.credential_revision is not None:
        revision = rows.count(row.credential_revision, "session", "credential_revision", least=1)
        credentials = Credentials(secret_hash=row.secret_hash, ciphertext=row.ciphertext, revision=CredentialRevision(revision))
    return WebSession(
        id=SessionId(row.id),
        user_id=UserId(row.user_id),
        expires_at=rows.utc(row.expires_at),
        created_at=rows.utc(row.created_at),
        credentials=credentials,
    )
