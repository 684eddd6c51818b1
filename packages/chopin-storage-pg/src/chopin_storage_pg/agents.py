"""The store of Planner ownership."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, exists, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import AgentGeneration
from chopin_core.errors import AgentNotOwned, ChannelMissing, CorruptRecord, SessionMissing
from chopin_core.ids import ChannelId, SessionId
from chopin_core.ports.agents import Agent, AgentContext, AgentStatus
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import agent_state, channels, web_sessions

AGENT: Final[Select[Any]] = select(agent_state, web_sessions.c.expires_at.label("owner_until")).select_from(
    agent_state.outerjoin(web_sessions, web_sessions.c.id == agent_state.c.owner_session_id)
)
"""An agent with the end of its owner's session; :func:`agent_of` turns a row of it into a value."""


class PgAgentStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def claim(self, channel_id: ChannelId, session_id: SessionId, *, now: datetime) -> Agent:
        if not rows.can_exist(channel_id):
            raise ChannelMissing(channel_id)
        async with self._connections.writing() as connection:
            # Sessions before channels before agents, as everywhere.
            held = (
                await connection.execute(
                    select(web_sessions.c.id)
                    .where(web_sessions.c.id == session_id, web_sessions.c.expires_at > now)
                    .with_for_update(read=True, key_share=True)
                )
                if rows.can_exist(session_id)
                else None
            )
            known = await connection.scalar(
                select(channels.c.id).where(channels.c.id == channel_id).with_for_update(read=True, key_share=True)
            )
            if known is None:
                raise ChannelMissing(channel_id)
            if held is None or held.one_or_none() is None:
                raise SessionMissing()
            return await _claimed(connection, channel_id, session_id, now)

    async def clear(self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, *, now: datetime) -> bool:
        if not rows.can_exist(channel_id, session_id):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(agent_state)
                .where(
                    agent_state.c.channel_id == channel_id,
                    agent_state.c.owner_session_id == session_id,
                    agent_state.c.generation == generation,
                )
                .values(owner_session_id=None, status=AgentStatus.UNAVAILABLE.value, updated_at=now)
            )
            return result.rowcount == 1

    async def remember(
        self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, context: AgentContext
    ) -> None:
        if rows.can_exist(channel_id, session_id):
            async with self._connections.writing() as connection:
                alive = exists().where(web_sessions.c.id == session_id, web_sessions.c.expires_at > context.now)
                result = await connection.execute(
                    update(agent_state)
                    .where(
                        agent_state.c.channel_id == channel_id,
                        agent_state.c.owner_session_id == session_id,
                        agent_state.c.generation == generation,
                        alive,
                    )
                    .values(
                        summary=context.summary,
                        transcript_cursor=context.transcript_cursor,
                        status=context.status.value,
                        updated_at=context.now,
                    )
                )
                if result.rowcount == 1:
                    return
        raise AgentNotOwned(channel_id, generation)

    async def read(self, channel_id: ChannelId, *, now: datetime) -> Agent | None:
        if not rows.can_exist(channel_id):
            return None
        async with self._connections.single() as connection:
            row = (await connection.execute(AGENT.where(agent_state.c.channel_id == channel_id))).one_or_none()
        return None if row is None else agent_of(row).at(now)


async def _claimed(connection: AsyncConnection, channel_id: ChannelId, session_id: SessionId, now: datetime) -> Agent:
    first = insert(agent_state).values(
        channel_id=channel_id, owner_session_id=session_id, generation=1, status=AgentStatus.READY.value, updated_at=now
    )
    made = await connection.execute(
        first.on_conflict_do_nothing(index_elements=[agent_state.c.channel_id]).returning(agent_state.c.channel_id)
    )
    if made.one_or_none() is None:
        await connection.execute(
            select(agent_state.c.channel_id).where(agent_state.c.channel_id == channel_id).with_for_update()
        )
        before = await _known(connection, channel_id)  # after the wait for whoever else claimed it
        if before.owned_at(now):
            return before
        await connection.execute(
            update(agent_state)
            .where(agent_state.c.channel_id == channel_id)
            .values(
                owner_session_id=session_id,
                generation=agent_state.c.generation + 1,
                status=AgentStatus.READY.value,
                updated_at=now,
            )
        )
    return await _known(connection, channel_id)


async def _known(connection: AsyncConnection, channel_id: ChannelId) -> Agent:
    return agent_of((await connection.execute(AGENT.where(agent_state.c.channel_id == channel_id))).one())


def agent_of(row: Row[Any]) -> Agent:
    """
    A row of :data:`AGENT`.

    Raises:
        CorruptRecord: it has an unknown status or an impossible count, or is ready for nobody.
    """
    where = f"agent of channel {row.channel_id}"
    try:
        status = AgentStatus(row.status)
    except ValueError:
        raise CorruptRecord(where, "has an unknown status") from None
    if row.owner_session_id is None and status is AgentStatus.READY:
        raise CorruptRecord(where, "is ready without an owner")
    return Agent(
        channel_id=ChannelId(row.channel_id),
        owner=None if row.owner_session_id is None else SessionId(row.owner_session_id),
        owner_until=None if row.owner_until is None else rows.utc(row.owner_until),
        generation=AgentGeneration(rows.count(row.generation, where, "generation", least=1)),
        summary=row.summary,
        transcript_cursor=rows.count(row.transcript_cursor, where, "transcript_cursor"),
        status=status,
        updated_at=rows.utc(row.updated_at),
    )
