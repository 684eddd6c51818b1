"""One session at a time speaks for a channel's Planner, and a generation tells each owner from those before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at, commit, creation, web_session
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import LARGEST, AgentGeneration
from chopin_core.errors import AgentNotOwned, ChannelMissing, InvalidField, SessionMissing
from chopin_core.ids import ChannelId, SessionId
from chopin_core.ports.agents import Agent, AgentContext, AgentStatus
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.ports.web_sessions import WebSession

STORE = "agents"
pytestmark = pytest.mark.asyncio(loop_scope="function")

MOMENT = timedelta(microseconds=1)


def context(now: datetime = T0, summary: str = "so far") -> AgentContext:
    return AgentContext(summary=summary, transcript_cursor=7, status=AgentStatus.READY, now=now)


def first(channel: Channel, session: WebSession, now: datetime = T0) -> Agent:
    """The agent of a channel right after its first owner came."""
    return Agent(
        channel_id=channel.id,
        owner=session.id,
        owner_until=session.expires_at,
        generation=AgentGeneration(1),
        status=AgentStatus.READY,
        updated_at=now,
    )


@pytest_asyncio.fixture(loop_scope="function")
async def ada(storage: Storage) -> WebSession:
    session = web_session("session-ada")
    await storage.sessions.create(session)
    return session


@pytest_asyncio.fixture(loop_scope="function")
async def grace(storage: Storage) -> WebSession:
    session = web_session("session-grace", credentials=None)
    await storage.sessions.create(session)
    return session


@pytest_asyncio.fixture(loop_scope="function")
async def agent(storage: Storage, channel: Channel, ada: WebSession) -> Agent:
    """Owned by ``ada`` in the first generation, with a summary and a cursor."""
    claimed = await storage.agents.claim(channel.id, ada.id, now=T0)
    await storage.agents.remember(channel.id, ada.id, claimed.generation, context())
    return attrs.evolve(claimed, summary="so far", transcript_cursor=7)


# Claimed


async def test_the_first_owner_ever_comes_in_generation_1(
    storage: Storage, connect: Connect, channel: Channel, ada: WebSession
) -> None:
    claimed = await storage.agents.claim(channel.id, ada.id, now=at(1))

    assert claimed == first(channel, ada, at(1))
    assert (claimed.summary, claimed.transcript_cursor) == ("", 0)
    assert await (await connect()).agents.read(channel.id, now=at(1)) == claimed


async def test_an_agent_that_is_owned_stays_as_it_is(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, grace: WebSession
) -> None:
    for session in (grace, ada):
        assert await storage.agents.claim(channel.id, session.id, now=at(5)) == agent
        assert await storage.agents.read(channel.id, now=at(5)) == agent


async def test_the_next_owner_comes_in_the_next_generation_and_takes_summary_and_cursor_over(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, grace: WebSession
) -> None:
    await storage.agents.clear(channel.id, ada.id, agent.generation, now=at(1))

    claimed = await storage.agents.claim(channel.id, grace.id, now=at(2))

    assert claimed == attrs.evolve(
        agent, owner=grace.id, owner_until=grace.expires_at, generation=AgentGeneration(2), updated_at=at(2)
    )
    assert await storage.agents.read(channel.id, now=at(2)) == claimed


async def test_an_owner_may_come_back_in_a_later_generation(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession
) -> None:
    for generation in (1, 2, 3):
        await storage.agents.clear(channel.id, ada.id, AgentGeneration(generation), now=T0)

        assert (await storage.agents.claim(channel.id, ada.id, now=T0)).generation == generation + 1


async def test_an_owner_whose_session_has_expired_is_none(storage: Storage, channel: Channel, grace: WebSession) -> None:
    brief = web_session("brief", expires_at=at(5))
    await storage.sessions.create(brief)
    claimed = await storage.agents.claim(channel.id, brief.id, now=T0)

    assert await storage.agents.claim(channel.id, grace.id, now=at(5) - MOMENT) == claimed

    taken = await storage.agents.claim(channel.id, grace.id, now=at(5))
    assert (taken.owner, taken.owner_until, taken.generation) == (grace.id, grace.expires_at, 2)


async def test_a_claim_needs_a_channel_first_and_then_a_session(
    storage: Storage, channel: Channel, agent: Agent, grace: WebSession
) -> None:
    unknown = ChannelId("unknown")

    for session_id in (grace.id, SessionId("unknown")):
        with pytest.raises(ChannelMissing) as caught:
            await storage.agents.claim(unknown, session_id, now=T0)
        assert caught.value.channel_id == unknown
    with pytest.raises(SessionMissing):
        await storage.agents.claim(channel.id, SessionId("unknown"), now=T0)

    assert await storage.agents.read(unknown, now=T0) is None
    assert await storage.agents.read(channel.id, now=T0) == agent


async def test_an_expired_session_owns_nothing(storage: Storage, channel: Channel, ada: WebSession) -> None:
    with pytest.raises(SessionMissing):
        await storage.agents.claim(channel.id, ada.id, now=ada.expires_at)
    assert await storage.agents.read(channel.id, now=T0) is None

    assert await storage.agents.claim(channel.id, ada.id, now=ada.expires_at - MOMENT)


async def test_an_expired_session_is_told_also_where_somebody_owns_the_agent(
    storage: Storage, channel: Channel, agent: Agent
) -> None:
    brief = web_session("brief", expires_at=at(5))
    await storage.sessions.create(brief)

    with pytest.raises(SessionMissing):
        await storage.agents.claim(channel.id, brief.id, now=at(5))
    assert await storage.agents.read(channel.id, now=at(5)) == agent


async def test_each_channel_has_an_agent_of_its_own(storage: Storage, channel: Channel, agent: Agent, ada: WebSession) -> None:
    other = await storage.channels.create(creation("channel-2"))

    assert await storage.agents.read(other.id, now=T0) is None
    assert await storage.agents.claim(other.id, ada.id, now=at(1)) == first(other, ada, at(1))
    assert await storage.agents.read(channel.id, now=T0) == agent


async def test_an_archived_channel_has_an_agent_like_any_other(storage: Storage, channel: Channel, ada: WebSession) -> None:
    await storage.channels.archive(channel.id, now=at(1))

    assert await storage.agents.claim(channel.id, ada.id, now=at(2)) == first(channel, ada, at(2))


async def test_the_agent_does_not_move_its_channel(storage: Storage, channel: Channel, ada: WebSession) -> None:
    claimed = await storage.agents.claim(channel.id, ada.id, now=at(5))
    await storage.agents.remember(channel.id, ada.id, claimed.generation, context(at(6)))
    await storage.agents.clear(channel.id, ada.id, claimed.generation, now=at(7))

    assert await storage.channels.get(channel.id) == channel


async def test_a_commit_does_not_move_the_agent(storage: Storage, channel: Channel, agent: Agent, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, update=b"1"), lease=lease)

    assert await storage.agents.read(channel.id, now=T0) == agent


# Given up


async def test_an_owner_may_stop_owning(storage: Storage, connect: Connect, channel: Channel, agent: Agent) -> None:
    assert agent.owner is not None
    assert await (await connect()).agents.clear(channel.id, agent.owner, agent.generation, now=at(3)) is True

    assert await storage.agents.read(channel.id, now=at(3)) == attrs.evolve(
        agent, owner=None, owner_until=None, status=AgentStatus.UNAVAILABLE, updated_at=at(3)
    )


async def test_only_the_owner_of_this_generation_can_stop_owning(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, grace: WebSession
) -> None:
    other = await storage.channels.create(creation("channel-2"))

    for channel_id, session_id, generation in (
        (channel.id, grace.id, agent.generation),
        (channel.id, SessionId("unknown"), agent.generation),
        (channel.id, ada.id, AgentGeneration(0)),
        (channel.id, ada.id, AgentGeneration(2)),
        (other.id, ada.id, agent.generation),
        (ChannelId("unknown"), ada.id, agent.generation),
    ):
        assert await storage.agents.clear(channel_id, session_id, generation, now=at(3)) is False
    assert await storage.agents.read(channel.id, now=T0) == agent


async def test_stopping_twice_is_false(storage: Storage, channel: Channel, agent: Agent, ada: WebSession) -> None:
    stopped = [await storage.agents.clear(channel.id, ada.id, agent.generation, now=at(number)) for number in (1, 2)]

    assert stopped == [True, False]
    left = await storage.agents.read(channel.id, now=T0)
    assert left is not None
    assert left.updated_at == at(1)


# Remembered


async def test_the_owner_replaces_all_of_the_context(
    storage: Storage, connect: Connect, channel: Channel, agent: Agent, ada: WebSession
) -> None:
    later = AgentContext(summary="", transcript_cursor=LARGEST, status=AgentStatus.UNAVAILABLE, now=at(5))

    await (await connect()).agents.remember(channel.id, ada.id, agent.generation, later)

    assert await storage.agents.read(channel.id, now=at(5)) == attrs.evolve(
        agent, summary="", transcript_cursor=LARGEST, status=AgentStatus.UNAVAILABLE, updated_at=at(5)
    )


async def test_only_the_owner_of_this_generation_may_write_the_context(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, grace: WebSession
) -> None:
    other = await storage.channels.create(creation("channel-2"))

    for channel_id, session_id, generation in (
        (channel.id, grace.id, agent.generation),
        (channel.id, SessionId("unknown"), agent.generation),
        (channel.id, ada.id, AgentGeneration(0)),
        (channel.id, ada.id, AgentGeneration(2)),
        (other.id, ada.id, agent.generation),
        (ChannelId("unknown"), ada.id, agent.generation),
    ):
        with pytest.raises(AgentNotOwned) as caught:
            await storage.agents.remember(channel_id, session_id, generation, context(at(3), summary="other"))
        assert (caught.value.channel_id, caught.value.generation) == (channel_id, generation)
    assert await storage.agents.read(channel.id, now=T0) == agent
    assert await storage.agents.read(other.id, now=T0) is None


async def test_an_owner_whose_session_has_expired_writes_nothing(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession
) -> None:
    with pytest.raises(AgentNotOwned):
        await storage.agents.remember(channel.id, ada.id, agent.generation, context(ada.expires_at, summary="late"))
    assert await storage.agents.read(channel.id, now=T0) == agent

    await storage.agents.remember(channel.id, ada.id, agent.generation, context(ada.expires_at - MOMENT, summary="in time"))


async def test_whoever_stopped_owning_writes_nothing(storage: Storage, channel: Channel, agent: Agent, ada: WebSession) -> None:
    await storage.agents.clear(channel.id, ada.id, agent.generation, now=at(1))

    with pytest.raises(AgentNotOwned):
        await storage.agents.remember(channel.id, ada.id, agent.generation, context(at(2)))


# Read


async def test_a_channel_that_never_had_an_owner_has_no_agent(storage: Storage, channel: Channel) -> None:
    assert await storage.agents.read(channel.id, now=T0) is None
    assert await storage.agents.read(ChannelId("unknown"), now=T0) is None


async def test_an_expired_owner_is_not_shown_and_nothing_is_written(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession
) -> None:
    masked = attrs.evolve(agent, owner=None, owner_until=None, status=AgentStatus.UNAVAILABLE)

    assert await storage.agents.read(channel.id, now=ada.expires_at) == masked
    assert await storage.agents.read(channel.id, now=ada.expires_at - MOMENT) == agent


async def test_the_instants_of_an_agent_come_back_in_utc(storage: Storage, channel: Channel, ada: WebSession) -> None:
    zone = timezone(timedelta(hours=-3))

    claimed = await storage.agents.claim(channel.id, ada.id, now=at(1).astimezone(zone))

    assert (claimed.updated_at, claimed.updated_at.tzinfo) == (at(1), UTC)
    read = await storage.agents.read(channel.id, now=at(1))
    assert read == claimed
    assert read.updated_at.tzinfo is UTC


# At once


async def test_of_eight_claims_exactly_one_wins(sides: list[Storage], channel: Channel) -> None:
    sessions = [web_session(f"session-{number}") for number in range(WRITERS)]
    for session in sessions:
        await sides[0].sessions.create(session)

    for generation in range(1, 6):
        raced = await race(
            *(side.agents.claim(channel.id, session.id, now=T0) for side, session in zip(sides, sessions, strict=True))
        )

        assert not raced.refused
        assert len(set(raced.won)) == 1
        winner = raced.won[0]
        assert winner.generation == generation
        assert winner.owner is not None
        assert await sides[0].agents.read(channel.id, now=T0) == winner
        assert await sides[0].agents.clear(channel.id, winner.owner, winner.generation, now=T0)


async def test_of_eight_that_stop_one_generation_one_does(sides: list[Storage], channel: Channel, agent: Agent) -> None:
    assert agent.owner is not None

    raced = await race(*(side.agents.clear(channel.id, agent.owner, agent.generation, now=T0) for side in sides))

    assert sorted(raced.won) == [False] * (WRITERS - 1) + [True]


async def test_no_context_is_written_under_a_generation_that_has_passed(
    sides: list[Storage], channel: Channel, ada: WebSession, grace: WebSession
) -> None:
    for turn in range(5):
        claimed = await sides[0].agents.claim(channel.id, ada.id, now=T0)

        async def attempt(number: int, side: Storage, before: Agent = claimed, turn: int = turn) -> object:
            if number == 0:
                await side.agents.clear(channel.id, ada.id, before.generation, now=at(1))
                after = await side.agents.claim(channel.id, grace.id, now=at(1))
                await side.agents.remember(channel.id, grace.id, after.generation, context(at(2), summary=f"new {turn}"))
                return after
            await side.agents.remember(channel.id, ada.id, before.generation, context(at(1), summary=f"old {turn}"))
            return before

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert raced.refusals() <= {(AgentNotOwned, (channel.id, claimed.generation))}
        agent = await sides[0].agents.read(channel.id, now=at(3))
        assert agent is not None
        assert (agent.owner, agent.generation, agent.summary) == (grace.id, claimed.generation + 1, f"new {turn}")
        await sides[0].agents.clear(channel.id, grace.id, agent.generation, now=at(4))


# Text


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_summary_of_any_text_a_column_can_keep_comes_back_exactly(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, text: str
) -> None:
    await storage.agents.remember(channel.id, ada.id, agent.generation, context(summary=text))

    assert await storage.agents.read(channel.id, now=T0) == attrs.evolve(agent, summary=text)


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_keep_is_refused_or_never_found(
    storage: Storage, channel: Channel, agent: Agent, ada: WebSession, text: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        context(summary=text)
    assert caught.value.field == "summary"

    with pytest.raises(ChannelMissing):
        await storage.agents.claim(ChannelId(text), ada.id, now=T0)
    with pytest.raises(SessionMissing):
        await storage.agents.claim(channel.id, SessionId(text), now=T0)
    for channel_id, session_id in ((ChannelId(text), ada.id), (channel.id, SessionId(text))):
        assert await storage.agents.clear(channel_id, session_id, agent.generation, now=T0) is False
        with pytest.raises(AgentNotOwned):
            await storage.agents.remember(channel_id, session_id, agent.generation, context())
    assert await storage.agents.read(ChannelId(text), now=T0) is None
    assert await storage.agents.read(channel.id, now=T0) == agent
