"""No guarded write happens without a lease that is held at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, checkpoint, commit, creation, event, initial, replacement, sidecar
from chopin_contract_tests.conftest import Connect
from chopin_core.counters import FencingToken
from chopin_core.errors import LeaseLost
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.ports.pruning import Pruning
from chopin_core.ports.storage import Storage

pytestmark = pytest.mark.asyncio(loop_scope="function")

MINUTE = timedelta(minutes=1)

Write = Callable[[Storage, StoredChannel, Lease], Awaitable[None]]


async def commits(storage: Storage, stored: StoredChannel, lease: Lease) -> None:
    made = commit(stored.channel, 2, update=b"2", sidecar=sidecar(2), events=(event("2"),))
    await storage.collaboration.commit(made, lease=lease)


async def replaces(storage: Storage, stored: StoredChannel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(stored.channel, 2), lease=lease)


async def checkpoints(storage: Storage, stored: StoredChannel, lease: Lease) -> None:
    await storage.collaboration.checkpoint(checkpoint(stored), lease=lease)


async def prunes(storage: Storage, stored: StoredChannel, lease: Lease) -> None:
    await storage.collaboration.prune(Pruning(older_than=timedelta(0), limit=10), lease=lease)


@pytest.fixture(params=[commits, replaces, checkpoints, prunes])
def write(request: pytest.FixtureRequest) -> Write:
    """Each of the writes that a lease guards."""
    guarded: Write = request.param
    return guarded


@pytest_asyncio.fixture(loop_scope="function")
async def stored(storage: Storage, lease: Lease) -> StoredChannel:
    """A channel with something to lose."""
    channel = await storage.channels.create(creation(initial=initial()))
    await storage.collaboration.commit(commit(channel, update=b"1", sidecar=sidecar(1), events=(event("1"),)), lease=lease)
    found = await storage.collaboration.load(channel.id)
    assert found is not None
    return found


async def granted(storage: Storage, name: str, owner: str = "suite", ttl: timedelta = MINUTE) -> Lease:
    lease = await storage.leases.acquire(name, owner, ttl)
    assert lease is not None
    return lease


async def refused(storage: Storage, stored: StoredChannel, write: Write, lease: Lease) -> None:
    with pytest.raises(LeaseLost) as caught:
        await write(storage, stored, lease)

    assert (caught.value.name, caught.value.fencing) == (lease.name, lease.fencing)
    assert await storage.collaboration.load(stored.channel.id) == stored


async def test_a_lease_of_any_name_will_do(storage: Storage, stored: StoredChannel, write: Write) -> None:
    await write(storage, stored, await granted(storage, "something else"))

    assert await storage.collaboration.load(stored.channel.id) != stored


async def test_a_lease_that_was_never_granted_is_refused(storage: Storage, stored: StoredChannel, write: Write) -> None:
    invented = Lease(name="invented", owner="suite", fencing=FencingToken(1), expires_at=T0 + timedelta(days=36_500))

    await refused(storage, stored, write, invented)


async def test_an_expired_lease_is_refused(storage: Storage, stored: StoredChannel, write: Write, expired: Lease) -> None:
    await refused(storage, stored, write, expired)


async def test_what_the_caller_believes_of_the_expiry_does_not_count(
    storage: Storage, stored: StoredChannel, write: Write, lease: Lease, expired: Lease
) -> None:
    await refused(storage, stored, write, attrs.evolve(expired, expires_at=lease.expires_at))

    await write(storage, stored, attrs.evolve(lease, expires_at=T0))
    assert await storage.collaboration.load(stored.channel.id) != stored


async def test_a_released_lease_is_refused(storage: Storage, stored: StoredChannel, write: Write, lease: Lease) -> None:
    await storage.leases.release(lease)

    await refused(storage, stored, write, lease)


async def test_a_lease_of_another_owner_is_refused(storage: Storage, stored: StoredChannel, write: Write, lease: Lease) -> None:
    await refused(storage, stored, write, attrs.evolve(lease, owner="somebody"))


async def test_a_lease_of_another_name_is_refused(storage: Storage, stored: StoredChannel, write: Write, lease: Lease) -> None:
    await refused(storage, stored, write, attrs.evolve(lease, name=lease.name + " "))
    await refused(storage, stored, write, attrs.evolve(lease, name=lease.name.upper()))


@pytest.mark.parametrize("step", [-1, 1, 10**6])
async def test_a_lease_under_another_token_is_refused(
    storage: Storage, stored: StoredChannel, write: Write, lease: Lease, step: int
) -> None:
    await refused(storage, stored, write, attrs.evolve(lease, fencing=FencingToken(lease.fencing + step)))


async def test_a_lease_that_was_taken_over_is_refused_and_its_successor_passes(
    storage: Storage, connect: Connect, stored: StoredChannel, write: Write, expired: Lease
) -> None:
    other = await connect()
    successor = await granted(other, expired.name, "successor")

    await refused(storage, stored, write, expired)
    await refused(storage, stored, write, attrs.evolve(expired, fencing=successor.fencing))
    await write(other, stored, successor)


async def test_a_lease_of_the_same_owner_under_the_former_token_is_refused(
    storage: Storage, stored: StoredChannel, write: Write, expired: Lease
) -> None:
    again = await granted(storage, expired.name, expired.owner)

    await refused(storage, stored, write, expired)
    await write(storage, stored, again)


async def test_a_renewed_lease_passes_beyond_its_first_expiry(storage: Storage, stored: StoredChannel) -> None:
    lease = await granted(storage, "brief", ttl=timedelta(seconds=0.5))
    assert await storage.leases.renew(lease, MINUTE) is not None
    await asyncio.sleep(0.55)

    await commits(storage, stored, lease)


async def test_one_lost_lease_does_not_touch_another(
    storage: Storage, stored: StoredChannel, write: Write, expired: Lease
) -> None:
    held = await granted(storage, WRITER)

    await refused(storage, stored, write, expired)
    await write(storage, stored, held)
