"""Sessions that come back, stay, or hold longer than they should."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

from chopin_core.counters import CredentialRevision
from chopin_core.errors import LeaseLost
from chopin_core.ids import SessionId
from chopin_core.memory.web_sessions import MemoryWebSessionStore
from chopin_core.ports.leases import Lease
from chopin_core.ports.web_sessions import Credentials, SessionsReset, WebSession

from mutants import memory


@attrs.frozen
class BringsBackByRotating(MemoryWebSessionStore):
    """What was known of a session is written again with its new credentials, whether or not it is still there."""

    _known: dict[SessionId, WebSession] = attrs.field(factory=dict)

    async def delete(self, session_id: SessionId, *, now: datetime) -> bool:
        if session_id in self._connection.tables.sessions:
            self._known[session_id] = self._connection.tables.sessions[session_id]
        return await super().delete(session_id, now=now)

    async def rotate(self, session_id: SessionId, credentials: Credentials) -> bool:
        tables = self._connection.tables
        if session_id in self._known and session_id not in tables.sessions:
            tables.sessions[session_id] = self._known[session_id]
        return await super().rotate(session_id, credentials)


class RotatesWhatever(MemoryWebSessionStore):
    """Whichever credentials are there, the new ones take their place."""

    async def rotate(self, session_id: SessionId, credentials: Credentials) -> bool:
        session = self._connection.tables.sessions.get(session_id)
        if session is not None and session.credentials is not None and credentials.revision > 1:
            before = attrs.evolve(session.credentials, revision=CredentialRevision(credentials.revision - 1))
            self._connection.tables.sessions[session_id] = attrs.evolve(session, credentials=before)
        return await super().rotate(session_id, credentials)


class KeepsWhatHasNoCredentials(MemoryWebSessionStore):
    """A start removes expired sessions only."""

    async def reset(self, *, now: datetime, lease: Lease, ttl: timedelta) -> SessionsReset:
        sessions = self._connection.tables.sessions
        plain = {id: one for id, one in sessions.items() if one.credentials is None and one.expires_at > now}
        answer = await super().reset(now=now, lease=lease, ttl=ttl)
        sessions.update(plain)
        return attrs.evolve(answer, deleted=answer.deleted - len(plain))


class ResetsUnderAnyLease(MemoryWebSessionStore):
    """A process that lost its lease still removes what its successor lets in."""

    async def reset(self, *, now: datetime, lease: Lease, ttl: timedelta) -> SessionsReset:
        try:
            return await super().reset(now=now, lease=lease, ttl=ttl)
        except LeaseLost:
            return SessionsReset(deleted=await self.delete_expired(now=now), lease=lease)


class ValidAtItsEnd(MemoryWebSessionStore):
    """A session still counts at the very instant at which it ends."""

    async def get(self, session_id: SessionId, *, now: datetime) -> WebSession | None:
        session = self._connection.tables.sessions.get(session_id)
        if session is not None and session.expires_at == now:
            return session
        return await super().get(session_id, now=now)


class LeavesTheOwner(MemoryWebSessionStore):
    """Whoever signs out goes on owning Planners."""

    async def delete(self, session_id: SessionId, *, now: datetime) -> bool:
        before = dict(self._connection.tables.agents)
        deleted = await super().delete(session_id, now=now)
        self._connection.tables.agents.update(before)
        return deleted


brought_back_by_rotation = memory.adapter(sessions=BringsBackByRotating)
rotated_whatever = memory.adapter(sessions=RotatesWhatever)
plain_ones_kept = memory.adapter(sessions=KeepsWhatHasNoCredentials)
reset_under_any_lease = memory.adapter(sessions=ResetsUnderAnyLease)
valid_at_its_end = memory.adapter(sessions=ValidAtItsEnd)
owner_left = memory.adapter(sessions=LeavesTheOwner)
