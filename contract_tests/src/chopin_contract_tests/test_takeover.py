"""Whoever takes a lease over can rely on what they then read: its former holder writes no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TypeAlias

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, commit, creation, event
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost
from chopin_core.ids import RepositoryId
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "leases"
pytestmark = pytest.mark.asyncio(loop_scope="function")

MINUTE = timedelta(minutes=1)
ROUNDS = 5

Over: TypeAlias = Callable[[], bool]
"""Tells whether the takeover is over."""


async def acquired(storage: Storage, name: str, owner: str, ttl: timedelta = MINUTE) -> Lease:
    """The lease, as soon as it can be had."""
    while (lease := await storage.leases.acquire(name, owner, ttl)) is None:  # noqa: ASYNC110 (nobody announces an expiry)
        await asyncio.sleep(0.002)
    return lease


async def revisions(storage: Storage, channels: list[Channel]) -> list[int]:
    found = [await storage.channels.get(channel.id) for channel in channels]
    return [channel.revision for channel in found if channel is not None]


async def written(
    storage: Storage, channel: Channel, lease: Lease, *, over: Over, under_way: asyncio.Event | None = None, events: int = 0
) -> int:
    """
    Write under the lease until it is lost; how many commits were kept. ``under_way`` is set once some were.

    A commit that begins after the takeover is over, and is kept all the same, is the last: the count then shows it.
    """
    kept, too_late = 0, False
    while not too_late:
        too_late = over()
        happened = tuple(event(f"{kept}-{number}") for number in range(events))
        try:
            await storage.collaboration.commit(commit(channel, kept + 1, update=bytes(20_000), events=happened), lease=lease)
        except LeaseLost:
            break
        kept += 1
        if under_way is not None and kept == ROUNDS:
            under_way.set()
    return kept


async def overtaken(storage: Storage, heir: Storage, name: str, ttl: timedelta, let_go: bool) -> list[int]:
    """Eight write under a lease until they lose it to an heir; what each of them got kept, which is what the heir saw."""
    channels = [await storage.channels.create(creation(f"{name}-{number}")) for number in range(WRITERS)]
    lease = await acquired(storage, name, "former", ttl)
    under_way = asyncio.Event()

    async def take_over() -> list[int]:
        if let_go:
            await under_way.wait()
            assert await storage.leases.release(lease)
        successor = await acquired(heir, name, "heir")
        assert successor.fencing == lease.fencing + 1
        return await revisions(heir, channels)

    seen = asyncio.create_task(take_over())
    raced = await race(*(written(storage, channel, lease, over=seen.done, under_way=under_way) for channel in channels))

    assert raced.refused == []
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


@pytest.mark.parametrize(
    ("writers", "events", "rounds"), [(WRITERS // 2, 0, 2 * ROUNDS), (1, 1_500, ROUNDS)], ids=["short writes", "long writes"]
)
async def test_of_eight_who_ask_without_pause_one_gets_the_lease_and_finds_all_that_is_written_under_it(
    storage: Storage, connect: Connect, writers: int, events: int, rounds: int
) -> None:
    # Short writes mostly wait for those who ask, and long ones are mostly under way, at the moment of the expiry.
    heir, formers = await connect(), [storage, *[await connect() for _ in range(1, writers)]]
    brief = timedelta(seconds=0.05)
    for turn in range(rounds):
        repository = attrs.evolve(REPOSITORY, id=RepositoryId(f"R_{turn}"))
        made = [creation(f"{turn}-{number}", repository=repository) for number in range(writers)]
        channels = [await storage.channels.create(one) for one in made]
        lease = await acquired(storage, f"lease {turn}", "former", brief)
        taken = asyncio.Event()

        async def ask(number: int, name: str, repository_id: RepositoryId, taken: asyncio.Event) -> list[int]:
            while not taken.is_set():
                if await heir.leases.acquire(name, f"heir {number}", MINUTE) is not None:
                    found = await heir.channels.scan(repository_id)
                    taken.set()
                    return [channel.revision for channel in found.channels]
            return []

        raced = await race(
            *(
                written(former, channel, lease, over=taken.is_set, events=events)
                for former, channel in zip(formers, channels, strict=True)
            ),
            *(ask(number, lease.name, repository.id, taken) for number in range(WRITERS)),
        )

        assert raced.refused == []
        (seen,) = [won for won in raced.won if isinstance(won, list) and won]
        assert seen == raced.won[: len(channels)] == await revisions(heir, channels)
        if not any(seen):  # a machine too slow to write anything within the lease gets a longer one
            brief *= 2


async def test_of_eight_who_want_a_free_lease_one_gets_it(storage: Storage, connect: Connect) -> None:
    other = await connect()
    for turn in range(ROUNDS):
        raced = await race(
            *((storage, other)[n % 2].leases.acquire(f"lease {turn}", f"owner {n}", MINUTE) for n in range(WRITERS))
        )

        granted = [won for won in raced.won if won is not None]
        assert [lease.fencing for lease in granted] == [1]
        assert await other.leases.holder(f"lease {turn}") == granted[0]


async def test_of_eight_who_want_an_expired_lease_one_gets_it(storage: Storage, connect: Connect, expired: Lease) -> None:
    other = await connect()

    raced = await race(*((storage, other)[n % 2].leases.acquire(expired.name, f"owner {n}", MINUTE) for n in range(WRITERS)))

    assert [lease.fencing for lease in raced.won if lease is not None] == [expired.fencing + 1]


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
