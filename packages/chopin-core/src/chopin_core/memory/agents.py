"""Planner ownership in memory."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.counters import AgentGeneration
from chopin_core.errors import AgentNotOwned, SessionMissing
from chopin_core.ids import ChannelId, SessionId
from chopin_core.memory.channels import channel_of
from chopin_core.memory.tables import Connection, utc
from chopin_core.ports.agents import Agent, AgentContext, AgentStatus


@attrs.frozen
class MemoryAgentStore:
    _connection: Connection

    async def claim(self, channel_id: ChannelId, session_id: SessionId, *, now: datetime) -> Agent:
        tables = await self._connection.turn()
        channel_of(tables, channel_id)
        session = tables.sessions.get(session_id)
        if session is None or session.expires_at <= now:
            raise SessionMissing()
        before = tables.agents.get(channel_id)
        if before is not None and before.owned_at(now):
            return before
        agent = Agent(
            channel_id=channel_id,
            owner=session_id,
            owner_until=session.expires_at,
            generation=AgentGeneration(1 if before is None else before.generation + 1),
            summary="" if before is None else before.summary,
            transcript_cursor=0 if before is None else before.transcript_cursor,
            status=AgentStatus.READY,
            updated_at=utc(now),
        )
        tables.agents[channel_id] = agent
        return agent

    async def clear(self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, *, now: datetime) -> bool:
        tables = await self._connection.turn()
        agent = tables.agents.get(channel_id)
        if agent is None or not agent.owned_by(session_id, generation):
            return False
        tables.agents[channel_id] = attrs.evolve(agent.ownerless(), updated_at=utc(now))
        return True

    async def remember(
        self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, context: AgentContext
    ) -> None:
        tables = await self._connection.turn()
        agent = tables.agents.get(channel_id)
        if agent is None or not agent.owned_by(session_id, generation) or not agent.owned_at(context.now):
            raise AgentNotOwned(channel_id, generation)
        tables.agents[channel_id] = attrs.evolve(
            agent,
            summary=context.summary,
            transcript_cursor=context.transcript_cursor,
            status=context.status,
            updated_at=utc(context.now),
        )

    async def read(self, channel_id: ChannelId, *, now: datetime) -> Agent | None:
        tables = await self._connection.turn()
        agent = tables.agents.get(channel_id)
        return None if agent is None else agent.at(now)
