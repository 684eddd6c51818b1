"""What a start does to the sessions of those before it, in one step and under its lease."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at, creation, credentials, web_session
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.test_web_sessions import HOUR, MOMENT, ended, kept, owned, stored_agent
from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost
from chopin_core.ids import SessionId
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "sessions"
pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest_asyncio.fixture(loop_scope="function")
async def other(storage: Storage) -> Channel:
    return await storage.channels.create(creation("channel-2"))


async def test_a_start_removes_what_expired_and_what_has_no_credentials(
    storage: Storage, connect: Connect, lease: Lease
) -> None:
    alive = await kept(storage, web_session("alive", expires_at=at(5) + MOMENT, credentials=credentials(3)))
    await kept(storage, web_session("expired", expires_at=at(5)))
    await kept(storage, web_session("metadata only", credentials=None))
    await kept(storage, web_session("both", expires_at=at(1), credentials=None))

    reset = await (await connect()).sessions.reset(now=at(5), lease=lease, ttl=HOUR)

    assert reset.deleted == 3
    assert await storage.sessions.get(alive.id, now=T0) == alive
    for id in ("expired", "metadata only", "both"):
        assert await storage.sessions.get(SessionId(id), now=T0) is None


async def test_after_a_start_no_session_owns_a_planner_not_even_one_that_stays(
    storage: Storage, channel: Channel, other: Channel, lease: Lease
) -> None:
    gone, stays = await kept(storage, web_session("a", expires_at=at(5))), await kept(storage, web_session("b"))
    agents = [await owned(storage, gone, channel), await owned(storage, stays, other)]

    await storage.sessions.reset(now=at(5), lease=lease, ttl=HOUR)

    assert [await stored_agent(storage, place) for place in (channel, other)] == [ended(agent, at(5)) for agent in agents]
    again = await storage.agents.claim(other.id, stays.id, now=at(6))
    assert (again.owner, again.generation, again.summary) == (stays.id, agents[1].generation + 1, "so far")


async def test_a_start_leaves_a_planner_without_owner_as_it_is(storage: Storage, channel: Channel, lease: Lease) -> None:
    session = await kept(storage, web_session())
    agent = await owned(storage, session, channel)
    await storage.agents.clear(channel.id, session.id, agent.generation, now=at(1))

    await storage.sessions.reset(now=at(5), lease=lease, ttl=HOUR)

    assert await stored_agent(storage, channel) == ended(agent, at(1))


async def test_a_start_extends_its_lease_under_the_same_token(storage: Storage, connect: Connect, lease: Lease) -> None:
    reset = await storage.sessions.reset(now=T0, lease=lease, ttl=HOUR)

    assert attrs.evolve(reset.lease, expires_at=lease.expires_at) == lease
    assert timedelta(minutes=45) < reset.lease.expires_at - lease.expires_at < timedelta(minutes=55)
    assert await (await connect()).leases.holder(lease.name) == reset.lease


async def test_a_second_start_finds_nothing_to_do(storage: Storage, channel: Channel, lease: Lease) -> None:
    session = await kept(storage, web_session())
    agent = await owned(storage, session, channel)
    await storage.sessions.reset(now=at(1), lease=lease, ttl=HOUR)

    again = await storage.sessions.reset(now=at(2), lease=lease, ttl=HOUR)

    assert again.deleted == 0
    assert await storage.sessions.get(session.id, now=T0) == session
    assert await stored_agent(storage, channel) == ended(agent, at(1))


async def test_a_start_without_the_lease_changes_nothing(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease
) -> None:
    session = await kept(storage, web_session(credentials=None))
    agent = await owned(storage, session, channel)
    released = await storage.leases.acquire("released", "suite", HOUR)
    assert released is not None
    await storage.leases.release(released)

    for lost in (expired, released, attrs.evolve(lease, owner="somebody"), attrs.evolve(lease, name="invented")):
        with pytest.raises(LeaseLost) as caught:
            await storage.sessions.reset(now=at(9000), lease=lost, ttl=HOUR)

        assert (caught.value.name, caught.value.fencing) == (lost.name, lost.fencing)
        assert await storage.sessions.get(session.id, now=T0) == session
        assert await stored_agent(storage, channel) == agent
        assert await storage.leases.holder(lease.name) == lease
        assert await storage.leases.holder(lost.name) == (lease if lost.name == lease.name else None)
