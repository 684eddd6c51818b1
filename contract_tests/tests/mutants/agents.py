"""Planners with two owners, or that one owner takes from another."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.counters import AgentGeneration
from chopin_core.ids import ChannelId, SessionId
from chopin_core.memory.agents import MemoryAgentStore
from chopin_core.ports.agents import Agent, AgentContext

from mutants import memory


class SecondClaimWins(MemoryAgentStore):
    """Whoever comes last owns the Planner."""

    async def claim(self, channel_id: ChannelId, session_id: SessionId, *, now: datetime) -> Agent:
        agents = self._connection.tables.agents
        if channel_id in agents and agents[channel_id].owner != session_id:
            agents[channel_id] = agents[channel_id].ownerless()
        return await super().claim(channel_id, session_id, now=now)


class GenerationStays(MemoryAgentStore):
    """A later owner has the generation of the one before."""

    async def claim(self, channel_id: ChannelId, session_id: SessionId, *, now: datetime) -> Agent:
        agents = self._connection.tables.agents
        before = agents.get(channel_id)
        claimed = await super().claim(channel_id, session_id, now=now)
        if before is not None:
            agents[channel_id] = claimed = attrs.evolve(claimed, generation=before.generation)
        return claimed


class AnyGeneration(MemoryAgentStore):
    """An owner is told by its session alone."""

    async def clear(self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, *, now: datetime) -> bool:
        return await super().clear(channel_id, session_id, self._current(channel_id, generation), now=now)

    async def remember(
        self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, context: AgentContext
    ) -> None:
        await super().remember(channel_id, session_id, self._current(channel_id, generation), context)

    def _current(self, channel_id: ChannelId, generation: AgentGeneration) -> AgentGeneration:
        agent = self._connection.tables.agents.get(channel_id)
        return generation if agent is None else agent.generation


class ExpiredOwner(MemoryAgentStore):
    """An owner is one until somebody says otherwise, however long its session has ended."""

    async def read(self, channel_id: ChannelId, *, now: datetime) -> Agent | None:
        await super().read(channel_id, now=now)
        return self._connection.tables.agents.get(channel_id)


second_claim_wins = memory.adapter(agents=SecondClaimWins)
generation_stays = memory.adapter(agents=GenerationStays)
any_generation = memory.adapter(agents=AnyGeneration)
expired_owner = memory.adapter(agents=ExpiredOwner)
