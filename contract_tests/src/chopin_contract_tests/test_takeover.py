"""Whoever takes a lease over can rely on what they then read: its former holder writes no more."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from chopin_contract_tests.builders import commit, creation
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

pytestmark = pytest.mark.asyncio(loop_scope="function")

MINUTE = timedelta(minutes=1)
ROUNDS = 5


async def acquired(storage: Storage, name: str, owner: str, ttl: timedelta = MINUTE) -> Lease:
    """The lease, as soon as it can be had."""
    while (lease := await storage.leases.acquire(name, owner, ttl)) is None:  # noqa: ASYNC110 (nobody announces an expiry)
        await asyncio.sleep(0.002)
    return lease


async def revisions(storage: Storage, channels: list[Channel]) -> list[int]:
    found = [await storage.channels.get(channel.id) for channel in channels]
    return [channel.revision for channel in found if channel is not None]


async def overtaken(storage: Storage, heir: Storage, name: str, ttl: timedelta, let_go: bool) -> list[int]:
    """Eight write under a lease until they lose it to an heir; what each of them got kept, which is what the heir saw."""
    channels = [await storage.channels.create(creation(f"{name}-{number}")) for number in range(WRITERS)]
    lease = await acquired(storage, name, "former", ttl)
    under_way = asyncio.Event()

    async def write(channel: Channel) -> int:
        kept = 0
        while True:
            try:
                await storage.collaboration.commit(commit(channel, kept + 1, update=bytes(20_000)), lease=lease)
            except LeaseLost:
                return kept
            kept += 1
            if kept == ROUNDS:
                under_way.set()

    async def take_over() -> list[int]:
        if let_go:
            await under_way.wait()
            assert await storage.leases.release(lease)
        successor = await acquired(heir, name, "heir")
        assert successor.fencing == lease.fencing + 1
        return await revisions(heir, channels)

    seen = asyncio.create_task(take_over())
    raced = await race(*(write(channel) for channel in channels))

    assert await seen == raced.won == await revisions(heir, channels)
    return list(raced.won)


async def test_nothing_is_written_under_a_lease_after_its_release(storage: Storage, connect: Connect) -> None:
    assert sum(await overtaken(storage, await connect(), "lease", MINUTE, let_go=True)) >= ROUNDS


async def test_nothing_is_written_under_a_lease_after_its_expiry(storage: Storage, connect: Connect) -> None:
    heir = await connect()
    for seconds in (0.2, 1, 5):  # longer only where a machine is too slow to write anything before
        if sum(await overtaken(storage, heir, f"lease of {seconds}", timedelta(seconds=seconds), let_go=False)):
            return
    pytest.fail("nothing was written within the lease, so nothing was shown")


async def test_of_eight_who_want_a_free_lease_one_gets_it(storage: Storage, connect: Connect) -> None:
    other = await connect()
    for turn in range(ROUNDS):
        raced = await race(
            *((storage, other)[n % 2].leases.acquire(f"lease {turn}", f"owner {n}", MINUTE) for n in range(WRITERS))
        )

        (lease,) = [won for won in raced.won if won is not None]
        assert lease.fencing == 1
        assert await other.leases.holder(lease.name) == lease


async def test_of_eight_who_want_an_expired_lease_one_gets_it(storage: Storage, connect: Connect, expired: Lease) -> None:
    other = await connect()

    raced = await race(*((storage, other)[n % 2].leases.acquire(expired.name, f"owner {n}", MINUTE) for n in range(WRITERS)))

    (lease,) = [won for won in raced.won if won is not None]
    assert lease.fencing == expired.fencing + 1


async def test_a_lease_about_to_expire_is_either_renewed_or_taken_over(storage: Storage, connect: Connect) -> None:
    other = await connect()
    for turn in range(2 * ROUNDS):
        lease = await acquired(storage, f"lease {turn}", "former", timedelta(milliseconds=25))
        await asyncio.sleep(0.018 + 0.001 * turn)

        raced = await race(
            *(storage.leases.renew(lease, MINUTE) for _ in range(WRITERS // 2)),
            *(other.leases.acquire(lease.name, f"heir {n}", MINUTE) for n in range(WRITERS // 2)),
        )

        renewed = [won for won in raced.won[: WRITERS // 2] if won is not None]
        taken = [won for won in raced.won[WRITERS // 2 :] if won is not None]
        holder = await other.leases.holder(lease.name)
        if renewed:
            assert not taken
            assert holder is not None
            assert (holder.owner, holder.fencing) == ("former", lease.fencing)
        else:  # nobody at all, if those who wanted it came just before it ran out and its owner just after
            assert taken == ([] if holder is None else [holder])


async def test_the_same_owner_may_ask_eight_times_at_once(storage: Storage, connect: Connect) -> None:
    other = await connect()

    raced = await race(*((storage, other)[n % 2].leases.acquire("lease", "same", MINUTE) for n in range(WRITERS)))

    assert {lease and (lease.owner, lease.fencing) for lease in raced.won} == {("same", 1)}


async def test_a_lease_is_renewed_while_eight_write_under_it(storage: Storage, connect: Connect) -> None:
    channels = [await storage.channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]
    lease = await acquired(storage, "writer", "only")

    async def write(channel: Channel) -> None:
        for number in range(1, ROUNDS + 1):
            await storage.collaboration.commit(commit(channel, number, update=bytes(20_000)), lease=lease)

    async def renew() -> None:
        for _ in range(4 * ROUNDS):
            assert await storage.leases.renew(lease, MINUTE) is not None

    raced = await race(renew(), *(write(channel) for channel in channels))

    assert raced.refused == []
    assert await revisions(await connect(), channels) == [ROUNDS] * WRITERS
