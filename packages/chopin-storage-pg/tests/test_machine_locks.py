"""How revoking a machine and choosing it wait for each other, and writes of one person's navigation."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import MachineMissing
from chopin_core.ports.machines import Machine
from chopin_storage_pg.storage import PgStorage

from made import ADA, NOW, REPOSITORY
from stores import pairing
from watch import Session, Watch


@pytest.fixture
async def machine(storage: PgStorage) -> Machine:
    return await storage.machines.pair(pairing())


async def test_a_revocation_waits_for_a_choice_in_flight_and_takes_it_back(
    storage: PgStorage, channel: Channel, machine: Machine, obstacle: Session, watch: Watch
) -> None:
    spare = await storage.machines.pair(pairing("spare"))
    await storage.machines.choose(ADA.id, channel.id, spare.id)
    await storage.machines.favour(ADA.id, spare.id)
    await obstacle.execute("SELECT FROM machine_choices FOR UPDATE")
    await obstacle.execute("SELECT FROM machine_favourites FOR UPDATE")
    choosing = [
        asyncio.create_task(storage.machines.choose(ADA.id, channel.id, machine.id)),
        asyncio.create_task(storage.machines.favour(ADA.id, machine.id)),
    ]
    await watch.until_waiting(2)
    revoking = asyncio.create_task(storage.machines.revoke(machine.id, owner=ADA.id, now=NOW))
    await watch.until_waiting(3)
    await obstacle.rollback()

    assert await asyncio.gather(revoking, *choosing) == [True, None, None]
    assert await storage.machines.chosen(ADA.id, channel.id) is None
    assert await storage.machines.favourite(ADA.id) is None


async def test_a_choice_that_waited_for_a_revocation_is_refused(
    storage: PgStorage, channel: Channel, machine: Machine, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("UPDATE machines SET revoked_at = created_at, ciphertext = NULL, credential_revision = NULL")
    choosing = [
        asyncio.create_task(storage.machines.choose(ADA.id, channel.id, machine.id)),
        asyncio.create_task(storage.machines.favour(ADA.id, machine.id)),
    ]
    await watch.until_waiting(2)
    await obstacle.commit()

    for refused in await asyncio.gather(*choosing, return_exceptions=True):
        assert isinstance(refused, MachineMissing)
    assert await storage.machines.chosen(ADA.id, channel.id) is None
    assert await storage.machines.favourite(ADA.id) is None


async def test_navigation_does_not_wait_for_what_else_names_the_person(
    storage: PgStorage, channel: Channel, obstacle: Session
) -> None:
    await obstacle.execute("SELECT FROM users FOR KEY SHARE")  # what a row that refers to the person holds

    async with asyncio.timeout(5):
        await storage.navigation.record_visit(ADA.id, channel.id, REPOSITORY, now=NOW)


async def test_what_names_the_person_does_not_wait_for_their_navigation(
    storage: PgStorage, channel: Channel, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    visiting = asyncio.create_task(storage.navigation.record_visit(ADA.id, channel.id, REPOSITORY, now=NOW))
    await watch.until_waiting()

    async with asyncio.timeout(5):
        await storage.machines.pair(pairing())
        await storage.navigation.sidebar(ADA.id)
    await obstacle.rollback()
    await visiting
