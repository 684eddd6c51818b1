"""A storage works until it is closed, and closing it touches no other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chopin_contract_tests.builders import AUTHOR, REPOSITORY, T0, checkpoint, commit, creation, replacement
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel
from chopin_core.errors import Unavailable
from chopin_core.ids import OperationId
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_a_storage_in_order_is_healthy(storage: Storage) -> None:
    await storage.health()


async def test_a_closed_storage_answers_nothing_but_unavailable(storage: Storage, channel: Channel, lease: Lease) -> None:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    await storage.close()

    for call in (
        storage.health,
        lambda: storage.users.put(AUTHOR, now=T0),
        lambda: storage.users.get(AUTHOR.id),
        lambda: storage.channels.create(creation("channel-2")),
        lambda: storage.channels.get(channel.id),
        lambda: storage.channels.resolve(REPOSITORY.id, channel.slug),
        lambda: storage.channels.rename(channel.id, "Other", now=T0),
        lambda: storage.channels.archive(channel.id, now=T0),
        lambda: storage.channels.restore(channel.id, now=T0),
        lambda: storage.channels.list(REPOSITORY.id),
        lambda: storage.channels.scan(REPOSITORY.id),
        lambda: storage.collaboration.load(channel.id),
        lambda: storage.collaboration.operation(channel.id, OperationId("operation-1")),
        lambda: storage.collaboration.commit(commit(channel), lease=lease),
        lambda: storage.collaboration.replace(replacement(channel), lease=lease),
        lambda: storage.collaboration.checkpoint(checkpoint(stored), lease=lease),
        lambda: storage.leases.acquire("other", "suite", timedelta(minutes=1)),
        lambda: storage.leases.renew(lease, timedelta(minutes=1)),
        lambda: storage.leases.release(lease),
        lambda: storage.leases.holder(lease.name),
    ):
        with pytest.raises(Unavailable):
            await call()


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
