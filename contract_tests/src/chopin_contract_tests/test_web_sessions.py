"""A session lasts until it ends, takes the Planner ownership it holds with it, and never comes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import READER, T0, at, creation, credentials, web_session
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_text import UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.errors import InvalidField, SessionExists, SessionMissing, UserMissing
from chopin_core.ids import SessionId, UserId
from chopin_core.ports.agents import Agent, AgentContext, AgentStatus
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.ports.web_sessions import Credentials, WebSession

STORE = "sessions"
pytestmark = pytest.mark.asyncio(loop_scope="function")

MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


async def kept(storage: Storage, session: WebSession) -> WebSession:
    await storage.sessions.create(session)
    return session


async def owned(storage: Storage, session: WebSession, channel: Channel) -> Agent:
    """The Planner of the channel, owned by the session, with something to remember."""
    agent = await storage.agents.claim(channel.id, session.id, now=T0)
    context = AgentContext(summary="so far", transcript_cursor=7, status=AgentStatus.READY, now=T0)
    await storage.agents.remember(channel.id, session.id, agent.generation, context)
    return await stored_agent(storage, channel)


async def stored_agent(storage: Storage, channel: Channel, now: datetime = T0) -> Agent:
    agent = await storage.agents.read(channel.id, now=now)
    assert agent is not None
    return agent


def ended(agent: Agent, now: datetime) -> Agent:
    """What is left of an agent when its owner's session ends at ``now``."""
    return attrs.evolve(agent, owner=None, owner_until=None, status=AgentStatus.UNAVAILABLE, updated_at=now)


@pytest_asyncio.fixture(loop_scope="function")
async def other(storage: Storage) -> Channel:
    return await storage.channels.create(creation("channel-2"))


# Kept and found


@pytest.mark.parametrize("given", [credentials(), None], ids=["with credentials", "without"])
async def test_a_session_comes_back_as_it_was_kept(storage: Storage, connect: Connect, given: Credentials | None) -> None:
    session = await kept(storage, web_session(credentials=given))

    for side in (storage, await connect()):
        assert await side.sessions.get(session.id, now=T0) == session


async def test_a_session_that_was_never_kept_is_none(storage: Storage) -> None:
    await kept(storage, web_session())

    assert await storage.sessions.get(SessionId("unknown"), now=T0) is None


@pytest.mark.parametrize("value", [b"", bytes(range(256)), b"\0" * 64])
async def test_credentials_are_opaque_bytes(storage: Storage, value: bytes) -> None:
    given = attrs.evolve(credentials(), secret_hash=value, ciphertext=value)
    session = await kept(storage, web_session(credentials=given))

    assert await storage.sessions.get(session.id, now=T0) == session


async def test_the_instants_of_a_session_come_back_in_utc(storage: Storage) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    await kept(storage, web_session(created_at=T0.astimezone(zone), expires_at=at(9).astimezone(zone)))

    session = await storage.sessions.get(web_session().id, now=T0.astimezone(zone))

    assert session is not None
    assert (session.created_at, session.expires_at) == (T0, at(9))
    assert {session.created_at.tzinfo, session.expires_at.tzinfo} == {UTC}


async def test_a_session_of_nobody_is_refused_and_not_kept(storage: Storage) -> None:
    with pytest.raises(UserMissing) as caught:
        await storage.sessions.create(web_session(user_id=UserId("nobody")))

    assert caught.value.user_id == "nobody"
    assert await storage.sessions.get(web_session().id, now=T0) is None


async def test_an_unknown_user_is_told_before_an_id_in_use(storage: Storage) -> None:
    session = await kept(storage, web_session())

    with pytest.raises(UserMissing):
        await storage.sessions.create(attrs.evolve(session, user_id=UserId("nobody")))


@pytest.mark.parametrize("expires", [at(1), at(3600)], ids=["expired", "alive"])
async def test_an_id_in_use_is_refused_and_the_first_session_stays(storage: Storage, expires: datetime) -> None:
    session = await kept(storage, web_session(expires_at=expires))
    await storage.users.put(READER, now=T0)

    with pytest.raises(SessionExists):
        await storage.sessions.create(web_session(user_id=READER.id, expires_at=at(9000), credentials=None))

    assert await storage.sessions.get(session.id, now=T0) == session


async def test_a_session_ends_exactly_at_its_expiry(storage: Storage) -> None:
    session = await kept(storage, web_session(expires_at=at(60)))

    assert await storage.sessions.get(session.id, now=at(60) - MOMENT) == session
    assert await storage.sessions.get(session.id, now=at(60)) is None


async def test_a_session_that_expired_is_still_kept(storage: Storage) -> None:
    session = await kept(storage, web_session(expires_at=at(60)))

    assert await storage.sessions.get(session.id, now=at(61)) is None
    assert await storage.sessions.get(session.id, now=at(59)) == session


# Rotated


async def test_rotation_replaces_all_of_the_credentials(storage: Storage, connect: Connect) -> None:
    session = await kept(storage, web_session())

    for number in (2, 3):
        assert await (await connect()).sessions.rotate(session.id, credentials(number)) is True
        assert await storage.sessions.get(session.id, now=T0) == attrs.evolve(session, credentials=credentials(number))


@pytest.mark.parametrize("number", [1, 2, 4])
async def test_credentials_are_rotated_only_over_the_revision_before_theirs(storage: Storage, number: int) -> None:
    session = await kept(storage, web_session(credentials=credentials(2)))

    assert await storage.sessions.rotate(session.id, credentials(number)) is False
    assert await storage.sessions.get(session.id, now=T0) == session


async def test_a_session_without_credentials_is_never_given_any(storage: Storage) -> None:
    session = await kept(storage, web_session(credentials=None))

    for number in (1, 2):
        assert await storage.sessions.rotate(session.id, credentials(number)) is False
    assert await storage.sessions.get(session.id, now=T0) == session


async def test_rotation_never_brings_a_deleted_session_back(storage: Storage) -> None:
    session = await kept(storage, web_session())
    await storage.sessions.delete(session.id, now=T0)

    for id in (session.id, SessionId("unknown")):
        for number in (1, 2):
            assert await storage.sessions.rotate(id, credentials(number)) is False
        assert await storage.sessions.get(id, now=T0) is None


async def test_rotation_does_not_ask_for_the_expiry(storage: Storage) -> None:
    session = await kept(storage, web_session(created_at=at(-60), expires_at=at(-30)))

    assert await storage.sessions.rotate(session.id, credentials(2)) is True
    assert await storage.sessions.get(session.id, now=at(-45)) == attrs.evolve(session, credentials=credentials(2))


async def test_rotation_leaves_other_sessions_alone(storage: Storage) -> None:
    session, other = await kept(storage, web_session("a")), await kept(storage, web_session("b"))

    assert await storage.sessions.rotate(session.id, credentials(2)) is True
    assert await storage.sessions.get(other.id, now=T0) == other


# Deleted


async def test_deletion_tells_whether_there_was_a_session(storage: Storage, connect: Connect) -> None:
    session, other = await kept(storage, web_session("a")), await kept(storage, web_session("b"))

    assert [await (await connect()).sessions.delete(session.id, now=T0) for _ in range(2)] == [True, False]
    assert await storage.sessions.get(session.id, now=T0) is None
    assert await storage.sessions.get(other.id, now=T0) == other


async def test_a_deleted_id_may_be_used_again(storage: Storage) -> None:
    await storage.sessions.delete((await kept(storage, web_session())).id, now=T0)

    session = await kept(storage, web_session(expires_at=at(9)))

    assert await storage.sessions.get(session.id, now=T0) == session


async def test_an_expired_session_can_be_deleted(storage: Storage) -> None:
    session = await kept(storage, web_session(expires_at=at(1)))

    assert await storage.sessions.delete(session.id, now=at(9)) is True
    assert await storage.sessions.get(session.id, now=T0) is None


async def test_with_a_session_ends_every_ownership_it_holds_and_no_other(
    storage: Storage, channel: Channel, other: Channel
) -> None:
    third = await storage.channels.create(creation("channel-3"))
    session, guest = await kept(storage, web_session("a")), await kept(storage, web_session("b"))
    agents = [await owned(storage, session, place) for place in (channel, other)]
    foreign = await owned(storage, guest, third)

    await storage.sessions.delete(session.id, now=at(5))

    assert [await stored_agent(storage, place) for place in (channel, other)] == [ended(agent, at(5)) for agent in agents]
    assert await stored_agent(storage, third) == foreign


async def test_an_ownership_that_was_given_up_or_lost_is_not_touched_by_the_end_of_its_session(
    storage: Storage, channel: Channel, other: Channel
) -> None:
    session, guest = await kept(storage, web_session("a", expires_at=at(9))), await kept(storage, web_session("b"))
    given_up, lost = await owned(storage, session, channel), await owned(storage, session, other)
    await storage.agents.clear(channel.id, session.id, given_up.generation, now=at(1))
    taken = await storage.agents.claim(other.id, guest.id, now=at(10))

    assert await storage.sessions.delete(session.id, now=at(11)) is True

    assert await stored_agent(storage, channel) == ended(given_up, at(1))
    assert await stored_agent(storage, other) == taken
    assert taken.generation == lost.generation + 1


# Expired


async def test_every_session_that_ends_at_or_before_an_instant_is_removed_and_counted(storage: Storage) -> None:
    for id, expires in (("a", at(-5)), ("b", at(5)), ("c", at(5) + MOMENT), ("d", at(9))):
        await kept(storage, web_session(id, created_at=at(-9), expires_at=expires, credentials=None))

    assert await storage.sessions.delete_expired(now=at(5)) == 2
    assert [await storage.sessions.get(SessionId(id), now=at(-8)) is not None for id in "abcd"] == [False, False, True, True]
    assert await storage.sessions.delete_expired(now=at(5)) == 0


async def test_what_get_still_finds_is_not_removed_at_that_instant(storage: Storage) -> None:
    session = await kept(storage, web_session(expires_at=at(60)))

    for now, alive in ((at(60) - MOMENT, True), (at(60), False)):
        assert (await storage.sessions.get(session.id, now=now) is not None) is alive
        assert (await storage.sessions.delete_expired(now=now) == 0) is alive


async def test_expired_sessions_take_their_ownerships_along(storage: Storage, channel: Channel, other: Channel) -> None:
    gone, stays = await kept(storage, web_session("a", expires_at=at(5))), await kept(storage, web_session("b"))
    agent, foreign = await owned(storage, gone, channel), await owned(storage, stays, other)

    await storage.sessions.delete_expired(now=at(5))

    assert await stored_agent(storage, channel) == ended(agent, at(5))
    assert await stored_agent(storage, other) == foreign


# At once


async def test_of_eight_sessions_of_one_id_one_is_kept(sides: list[Storage]) -> None:
    made = [web_session(expires_at=at(3600 + number)) for number in range(WRITERS)]

    raced = await race(*(side.sessions.create(session) for side, session in zip(sides, made, strict=True)))

    assert len(raced.won) == 1
    assert raced.refusals() == {(SessionExists, ())}
    assert await sides[0].sessions.get(made[0].id, now=T0) in made


async def test_of_eight_rotations_over_one_revision_one_happens(sides: list[Storage]) -> None:
    session = await kept(sides[0], web_session())
    fresh = [attrs.evolve(credentials(2), ciphertext=b"by %d" % number) for number in range(WRITERS)]

    raced = await race(*(side.sessions.rotate(session.id, one) for side, one in zip(sides, fresh, strict=True)))

    assert sorted(raced.won) == [False] * (WRITERS - 1) + [True]
    assert await sides[0].sessions.get(session.id, now=T0) == attrs.evolve(
        session, credentials=fresh[list(raced.won).index(True)]
    )


async def test_a_rotation_during_a_deletion_does_not_save_the_session(sides: list[Storage]) -> None:
    for turn in range(5):
        session = await kept(sides[0], web_session(f"session-{turn}"))

        raced = await race(
            *(
                side.sessions.delete(session.id, now=T0) if number % 2 else side.sessions.rotate(session.id, credentials(2))
                for number, side in enumerate(sides)
            )
        )

        assert sum(raced.won[1::2]) == 1
        assert sum(raced.won[0::2]) <= 1
        assert await sides[0].sessions.get(session.id, now=T0) is None


async def test_a_session_that_claims_while_it_is_deleted_owns_nothing_afterwards(sides: list[Storage]) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS - 2)]
    for turn in range(5):
        session = await kept(sides[0], web_session(f"session-{turn}"))

        async def attempt(number: int, side: Storage, session: WebSession = session) -> object:
            if number < len(channels):
                return await side.agents.claim(channels[number].id, session.id, now=T0)
            return await side.sessions.delete(session.id, now=at(1))

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert raced.refusals() <= {(SessionMissing, ())}
        assert await sides[0].sessions.get(session.id, now=T0) is None
        for channel in channels:
            agent = await sides[0].agents.read(channel.id, now=T0)
            assert agent is None or (agent.owner, agent.status) == (None, AgentStatus.UNAVAILABLE)


async def test_starts_and_claims_at_once_leave_every_owner_signed_in(sides: list[Storage], lease: Lease) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(4)]
    for turn in range(5):
        sessions = [
            await kept(sides[0], web_session(f"session-{turn}-{number}", credentials=credentials() if number % 2 else None))
            for number in range(4)
        ]

        async def attempt(number: int, side: Storage, sessions: list[WebSession] = sessions) -> object:
            if number < len(channels):
                return await side.agents.claim(channels[number].id, sessions[number].id, now=T0)
            return await side.sessions.reset(now=at(1), lease=lease, ttl=HOUR)

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert raced.refusals() <= {(SessionMissing, ())}
        for channel in channels:
            agent = await sides[0].agents.read(channel.id, now=T0)
            if agent is not None and agent.owner is not None:
                assert await sides[0].sessions.get(agent.owner, now=T0) is not None


# Text


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_a_session_that_no_column_could_name_is_refused_and_never_found(storage: Storage, text: str) -> None:
    for field in ("id", "user_id"):
        with pytest.raises(InvalidField) as caught:
            web_session(**{field: text})
        assert caught.value.field == field

    assert await storage.sessions.get(SessionId(text), now=T0) is None
    assert await storage.sessions.rotate(SessionId(text), credentials(2)) is False
    assert await storage.sessions.delete(SessionId(text), now=T0) is False
