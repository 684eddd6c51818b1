"""A storage works until it is closed, and closing it touches no other."""

from __future__ import annotations

import inspect

import pytest

from chopin_contract_tests.builders import commit
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.peopled import STORES, methods_of, peopled
from chopin_core.channel import Channel
from chopin_core.errors import Unavailable
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "storage"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_a_storage_in_order_is_healthy(storage: Storage) -> None:
    await storage.health()


@pytest.mark.parametrize("store", STORES)
async def test_a_closed_storage_answers_nothing_but_unavailable(storage: Storage, store: str) -> None:
    world = await peopled(storage)
    await storage.close()

    for name, method in methods_of(store).items():
        required = [p.name for p in list(inspect.signature(method).parameters.values())[1:] if p.default is p.empty]
        with pytest.raises(Unavailable):
            await getattr(getattr(storage, store), name)(**{given: world.argument(store, given) for given in required})


async def test_a_closed_storage_is_not_healthy(storage: Storage) -> None:
    await storage.close()

    with pytest.raises(Unavailable):
        await storage.health()


async def test_closing_again_does_nothing(storage: Storage) -> None:
    await storage.close()
    await storage.close()


async def test_closing_one_storage_leaves_the_others_open_and_the_data_in_place(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease
) -> None:
    other = await connect()
    await storage.collaboration.commit(commit(channel, update=b"kept"), lease=lease)
    await storage.close()

    found = await other.collaboration.load(channel.id)

    assert found is not None
    assert [stored.update for stored in found.updates] == [b"kept"]
    await other.collaboration.commit(commit(channel, 2), lease=lease)
