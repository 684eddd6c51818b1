"""A storage works until it is closed, and closing it touches no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from chopin_contract_tests.builders import (
    AUTHOR,
    REPOSITORY,
    T0,
    checkpoint,
    commit,
    creation,
    credentials,
    image,
    pairing,
    replacement,
    web_session,
)
from chopin_contract_tests.builders_jobs import MINUTE, claimed, request
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel
from chopin_core.counters import AgentGeneration
from chopin_core.errors import Unavailable
from chopin_core.ids import MachineId, OperationId
from chopin_core.ports.agents import AgentContext, AgentStatus
from chopin_core.ports.leases import Lease
from chopin_core.ports.machines import MachineCredentials
from chopin_core.ports.storage import Storage

STORE = "storage"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_a_storage_in_order_is_healthy(storage: Storage) -> None:
    await storage.health()


async def test_a_closed_storage_answers_nothing_but_unavailable(storage: Storage, channel: Channel, lease: Lease) -> None:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    await storage.jobs.enqueue(request(channel), lease=lease)
    job = await claimed(storage, channel, lease)
    session, machine = web_session(), MachineId("machine")
    remembered = AgentContext(summary="", transcript_cursor=0, status=AgentStatus.READY, now=T0)
    await storage.close()

    calls: list[Callable[[], Awaitable[object]]] = [
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
        lambda: storage.sessions.create(session),
        lambda: storage.sessions.get(session.id, now=T0),
        lambda: storage.sessions.rotate(session.id, credentials(2)),
        lambda: storage.sessions.delete(session.id, now=T0),
        lambda: storage.sessions.delete_expired(now=T0),
        lambda: storage.sessions.reset(now=T0, lease=lease, ttl=MINUTE),
        lambda: storage.agents.claim(channel.id, session.id, now=T0),
        lambda: storage.agents.clear(channel.id, session.id, AgentGeneration(1), now=T0),
        lambda: storage.agents.remember(channel.id, session.id, AgentGeneration(1), remembered),
        lambda: storage.agents.read(channel.id, now=T0),
        lambda: storage.navigation.sidebar(AUTHOR.id),
        lambda: storage.navigation.first_document(AUTHOR.id, [REPOSITORY.id]),
        lambda: storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0),
        lambda: storage.navigation.set_last_document(AUTHOR.id, channel.id, now=T0),
        lambda: storage.navigation.move_last_document(AUTHOR.id, None, expected=None, now=T0),
        lambda: storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=T0),
        lambda: storage.images.put(image(channel)),
        lambda: storage.images.get(channel.id, "0" * 64),
        lambda: storage.images.channels("0" * 64),
        lambda: storage.machines.pair(pairing()),
        lambda: storage.machines.get(machine),
        lambda: storage.machines.find(b"token"),
        lambda: storage.machines.of(AUTHOR.id),
        lambda: storage.machines.change(machine, owner=AUTHOR.id, label="", repositories=frozenset(), auto_run=True),
        lambda: storage.machines.touch(machine, now=T0),
        lambda: storage.machines.rotate(machine, MachineCredentials(ciphertext=b"")),
        lambda: storage.machines.authorize(machine, owner=AUTHOR.id, token_hash=b"", ciphertext=b""),
        lambda: storage.machines.revoke(machine, owner=AUTHOR.id, now=T0),
        lambda: storage.machines.choose(AUTHOR.id, channel.id, None),
        lambda: storage.machines.chosen(AUTHOR.id, channel.id),
        lambda: storage.machines.favour(AUTHOR.id, None),
        lambda: storage.machines.favourite(AUTHOR.id),
        lambda: storage.jobs.enqueue(request(channel), lease=lease),
        lambda: storage.jobs.claim(owner="worker", count=1, ttl=MINUTE, now=T0, lease=lease),
        lambda: storage.jobs.settle(job.token, None, now=T0, lease=lease),
        lambda: storage.jobs.cancel(channel.id, job.id, now=T0, lease=lease),
        lambda: storage.jobs.list(channel.id),
        lambda: storage.jobs.get(channel.id, job.id),
        lambda: storage.leases.acquire("other", "suite", timedelta(minutes=1)),
        lambda: storage.leases.renew(lease, timedelta(minutes=1)),
        lambda: storage.leases.release(lease),
        lambda: storage.leases.holder(lease.name),
    ]
    for call in calls:
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
