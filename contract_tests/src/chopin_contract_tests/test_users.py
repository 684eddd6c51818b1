"""People are remembered."""

from __future__ import annotations

from datetime import timedelta, timezone

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, T0, at
from chopin_contract_tests.conftest import Connect
from chopin_core.ids import UserId
from chopin_core.people import User
from chopin_core.ports.storage import Storage

STORE = "users"
pytestmark = pytest.mark.asyncio(loop_scope="function")

STRANGER = attrs.evolve(AUTHOR, id=UserId("user-2"), login="grace")


async def test_a_person_is_answered_and_found_again(storage: Storage) -> None:
    put = await storage.users.put(STRANGER, now=at(1))

    assert put == User(person=STRANGER, created_at=at(1), updated_at=at(1))
    assert await storage.users.get(STRANGER.id) == put


async def test_an_unknown_person_is_none(storage: Storage) -> None:
    assert await storage.users.get(STRANGER.id) is None


async def test_a_later_put_changes_what_is_known_and_keeps_when_it_began(storage: Storage) -> None:
    await storage.users.put(STRANGER, now=at(1))
    renamed = attrs.evolve(STRANGER, login="hopper", avatar_url="https://example.org/hopper.png")

    put = await storage.users.put(renamed, now=at(2))

    assert put == User(person=renamed, created_at=at(1), updated_at=at(2))
    assert await storage.users.get(STRANGER.id) == put


async def test_a_put_of_an_earlier_time_counts_too(storage: Storage) -> None:
    await storage.users.put(STRANGER, now=at(5))

    put = await storage.users.put(STRANGER, now=at(2))

    assert (put.created_at, put.updated_at) == (at(5), at(2))


async def test_an_avatar_may_be_empty(storage: Storage) -> None:
    await storage.users.put(attrs.evolve(STRANGER, avatar_url=""), now=T0)

    found = await storage.users.get(STRANGER.id)

    assert found is not None
    assert found.person.avatar_url == ""


async def test_people_do_not_touch_each_other(storage: Storage) -> None:
    before = await storage.users.get(AUTHOR.id)

    await storage.users.put(STRANGER, now=at(1))

    assert await storage.users.get(AUTHOR.id) == before


async def test_ids_that_differ_in_case_are_two_people(storage: Storage) -> None:
    await storage.users.put(attrs.evolve(AUTHOR, id=UserId("USER-1"), login="shouting"), now=at(1))

    found = await storage.users.get(AUTHOR.id)

    assert found is not None
    assert found.person == AUTHOR


async def test_instants_come_back_in_utc_to_the_microsecond(storage: Storage) -> None:
    elsewhere = T0.astimezone(timezone(timedelta(hours=5, minutes=45)))

    put = await storage.users.put(STRANGER, now=elsewhere)
    found = await storage.users.get(STRANGER.id)

    assert found is not None
    for instant in (put.created_at, put.updated_at, found.created_at, found.updated_at):
        assert instant.isoformat() == "2026-01-05T09:30:00.123456+00:00"


async def test_another_storage_on_the_same_data_knows_the_person(storage: Storage, connect: Connect) -> None:
    put = await storage.users.put(STRANGER, now=at(1))

    assert await (await connect()).users.get(STRANGER.id) == put
