"""How the end of a session and the claims it may have in flight wait for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost, SessionMissing
from chopin_core.ports.leases import Lease
from chopin_core.ports.web_sessions import WebSession
from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.storage import PgStorage

from made import NOW, creation
from stores import MINUTE, web_session
from watch import Session, Watch


@pytest.fixture
async def session(storage: PgStorage) -> WebSession:
    session = web_session()
    await storage.sessions.create(session)
    return session


async def brief(storage: PgStorage) -> Lease:
    lease = await storage.leases.acquire("brief", "tests", timedelta(seconds=0.3))
    assert lease is not None
    return lease


async def until_expired(watch: Watch, lease: Lease) -> None:
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases WHERE name = %s", lease.name)


@pytest.mark.parametrize("ending", ["delete", "delete_expired", "reset"])
async def test_the_end_of_a_session_waits_for_its_claim_in_flight_and_takes_what_it_won(
    storage: PgStorage, channel: Channel, session: WebSession, lease: Lease, obstacle: Session, watch: Watch, ending: str
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    claiming = asyncio.create_task(storage.agents.claim(channel.id, session.id, now=NOW))
    await watch.until_waiting()
    late = session.expires_at
    ends: dict[str, Callable[[], Awaitable[object]]] = {
        "delete": lambda: storage.sessions.delete(session.id, now=late),
        "delete_expired": lambda: storage.sessions.delete_expired(now=late),
        "reset": lambda: storage.sessions.reset(now=late, lease=lease, ttl=MINUTE),
    }
    end = asyncio.ensure_future(ends[ending]())
    await watch.until_waiting(2)
    assert not end.done()
    await obstacle.rollback()

    assert (await claiming).owner == session.id
    await end
    agent = await storage.agents.read(channel.id, now=NOW)
    assert agent is not None
    assert (agent.owner, agent.generation, agent.updated_at) == (None, 1, late)
    assert await watch.value("SELECT count(*) FROM web_sessions") == 0


async def test_a_claim_that_waited_for_the_end_of_its_session_is_refused(
    storage: PgStorage, channel: Channel, session: WebSession, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("DELETE FROM web_sessions")
    claiming = asyncio.create_task(storage.agents.claim(channel.id, session.id, now=NOW))
    await watch.until_waiting()
    await obstacle.commit()

    with pytest.raises(SessionMissing):
        await claiming
    assert await storage.agents.read(channel.id, now=NOW) is None


async def test_a_claim_judges_the_owner_after_the_wait_for_another_claim(
    storage: PgStorage, channel: Channel, session: WebSession, obstacle: Session, watch: Watch
) -> None:
    other = web_session("other")
    await storage.sessions.create(other)
    first = await storage.agents.claim(channel.id, session.id, now=NOW)
    await storage.agents.clear(channel.id, session.id, first.generation, now=NOW)
    await obstacle.execute("UPDATE agent_state SET owner_session_id = 'other', generation = 2, status = 'ready'")
    claiming = asyncio.create_task(storage.agents.claim(channel.id, session.id, now=NOW))
    await watch.until_waiting()
    await obstacle.commit()

    found = await claiming
    assert (found.owner, found.generation) == (other.id, 2)


async def test_a_context_is_judged_after_the_wait_for_the_end_of_the_ownership(
    storage: PgStorage, channel: Channel, session: WebSession, obstacle: Session, watch: Watch
) -> None:
    agent = await storage.agents.claim(channel.id, session.id, now=NOW)
    await obstacle.execute("UPDATE agent_state SET owner_session_id = NULL, status = 'unavailable'")
    clearing = asyncio.create_task(storage.agents.clear(channel.id, session.id, agent.generation, now=NOW))
    await watch.until_waiting()
    await obstacle.commit()

    assert await clearing is False


async def test_a_start_judges_its_lease_after_the_last_wait(
    storage: PgStorage, channel: Channel, session: WebSession, obstacle: Session, watch: Watch
) -> None:
    agent = await storage.agents.claim(channel.id, session.id, now=NOW)
    for place in ("web_sessions", "agent_state", None):
        lease = await brief(storage)
        if place is None:
            await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
        else:
            await obstacle.execute(f"SELECT FROM {place} FOR UPDATE".encode())
        starting = asyncio.create_task(storage.sessions.reset(now=session.expires_at, lease=lease, ttl=MINUTE))
        await watch.until_waiting()
        await until_expired(watch, lease)
        await obstacle.rollback()

        with pytest.raises(LeaseLost):
            await starting
        assert await storage.agents.read(channel.id, now=NOW) == agent
        assert await storage.sessions.get(session.id, now=NOW) == session
        assert await storage.leases.holder(lease.name) is None


async def test_a_session_that_signs_in_and_claims_during_a_start_is_no_obstacle_to_it(
    storage: PgStorage, channel: Channel, session: WebSession, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await storage.agents.claim(channel.id, session.id, now=NOW)
    await obstacle.execute("SELECT FROM agent_state FOR UPDATE")
    starting = asyncio.create_task(storage.sessions.reset(now=NOW, lease=lease, ttl=MINUTE))
    await watch.until_waiting()
    late, other = web_session("late", credentials=None), await storage.channels.create(creation("two"))
    await storage.sessions.create(late)
    claimed = await storage.agents.claim(other.id, late.id, now=NOW)
    await obstacle.rollback()

    assert (await starting).deleted == 0
    assert await storage.agents.read(other.id, now=NOW) == claimed
    assert await storage.sessions.get(late.id, now=NOW) == late


async def test_a_renewal_does_not_wait_for_a_start_that_waits(
    storage: PgStorage, session: WebSession, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM web_sessions FOR UPDATE")
    starting = asyncio.create_task(storage.sessions.reset(now=NOW, lease=lease, ttl=MINUTE))
    await watch.until_waiting()

    async with asyncio.timeout(2):
        assert await storage.leases.renew(lease, timedelta(hours=1)) is not None
    await obstacle.rollback()
    await starting
