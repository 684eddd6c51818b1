"""One owner at a time holds a lease, by storage's own clock, and every new holder gets a higher fencing token."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import attrs
import pytest

from chopin_contract_tests.conftest import Connect
from chopin_core.counters import FencingToken
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "leases"
pytestmark = pytest.mark.asyncio(loop_scope="function")

MINUTE = timedelta(minutes=1)
BRIEF = timedelta(milliseconds=20)


async def acquired(storage: Storage, owner: str = "ada", ttl: timedelta = MINUTE, name: str = "lease") -> Lease:
    lease = await storage.leases.acquire(name, owner, ttl)
    assert lease is not None
    return lease


async def expire() -> None:
    """Wait until a lease that was granted for BRIEF has run out."""
    await asyncio.sleep(1.5 * BRIEF.total_seconds())


def unmoved(lease: Lease | None) -> tuple[str, str, int] | None:
    """All of a lease but its expiry, which depends on the hour."""
    return None if lease is None else (lease.name, lease.owner, lease.fencing)


async def test_a_free_lease_is_taken_under_token_1(storage: Storage) -> None:
    lease = await acquired(storage)

    assert unmoved(lease) == ("lease", "ada", 1)
    assert lease.expires_at.utcoffset() == timedelta(0)


async def test_a_held_lease_is_not_given_to_another_owner(storage: Storage, connect: Connect) -> None:
    lease = await acquired(storage)

    assert await storage.leases.acquire("lease", "grace", MINUTE) is None
    assert await (await connect()).leases.acquire("lease", "grace", MINUTE) is None
    assert await storage.leases.holder("lease") == lease


async def test_its_owner_may_take_it_again_under_the_same_token(storage: Storage, connect: Connect) -> None:
    first = await acquired(storage)
    again = await acquired(await connect(), ttl=2 * MINUTE)

    assert unmoved(again) == unmoved(first)
    assert MINUTE / 2 < again.expires_at - first.expires_at < 2 * MINUTE
    assert await storage.leases.holder("lease") == again


@pytest.mark.parametrize("owner", ["ada", "grace"])
async def test_an_expired_lease_is_taken_under_the_next_token_by_whomever(storage: Storage, owner: str) -> None:
    await acquired(storage, "ada", BRIEF)
    await expire()

    assert unmoved(await acquired(storage, owner)) == ("lease", owner, 2)


@pytest.mark.parametrize("owner", ["ada", "grace"])
async def test_a_released_lease_is_taken_under_the_next_token_by_whomever(storage: Storage, owner: str) -> None:
    await storage.leases.release(await acquired(storage))

    assert unmoved(await acquired(storage, owner)) == ("lease", owner, 2)


async def test_tokens_of_a_name_never_fall(storage: Storage, connect: Connect) -> None:
    other = await connect()
    tokens = []
    for place in range(8):
        lease = await acquired((storage, other)[place % 2], ("ada", "grace", "joan")[place % 3])
        tokens.append(lease.fencing)
        await storage.leases.release(lease)

    assert tokens == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_names_are_independent(storage: Storage) -> None:
    await storage.leases.release(await acquired(storage, name="one"))
    one = await acquired(storage, name="one")

    other = await acquired(storage, "grace", name="two")

    assert (one.fencing, other.fencing) == (2, 1)
    assert await storage.leases.holder("one") == one
    assert await storage.leases.holder("two") == other


async def test_renewing_extends_the_lease_under_the_same_token(storage: Storage, connect: Connect) -> None:
    lease = await acquired(storage)

    renewed = await storage.leases.renew(lease, 2 * MINUTE)

    assert unmoved(renewed) == unmoved(lease)
    assert renewed is not None
    assert MINUTE / 2 < renewed.expires_at - lease.expires_at < 2 * MINUTE
    assert await (await connect()).leases.holder("lease") == renewed


async def test_a_renewed_lease_outlives_its_first_expiry(storage: Storage) -> None:
    lease = await acquired(storage, ttl=timedelta(seconds=0.5))
    assert await storage.leases.renew(lease, MINUTE) is not None
    await asyncio.sleep(0.55)

    assert await storage.leases.acquire("lease", "grace", MINUTE) is None
    assert await storage.leases.renew(lease, MINUTE) is not None


async def test_an_expired_lease_cannot_be_renewed(storage: Storage, expired: Lease) -> None:
    assert await storage.leases.renew(expired, MINUTE) is None
    assert await storage.leases.holder(expired.name) is None


async def test_a_released_lease_cannot_be_renewed(storage: Storage) -> None:
    lease = await acquired(storage)
    await storage.leases.release(lease)

    assert await storage.leases.renew(lease, MINUTE) is None
    assert await storage.leases.holder("lease") is None


async def test_only_the_lease_as_granted_can_be_renewed(storage: Storage) -> None:
    lease = await acquired(storage)

    for other in (
        attrs.evolve(lease, name="other"),
        attrs.evolve(lease, owner="grace"),
        attrs.evolve(lease, fencing=FencingToken(lease.fencing + 1)),
        attrs.evolve(lease, fencing=FencingToken(lease.fencing - 1)),
    ):
        assert await storage.leases.renew(other, 9 * MINUTE) is None
    assert await storage.leases.holder("lease") == lease


async def test_a_lease_that_was_taken_over_cannot_be_renewed(storage: Storage, expired: Lease) -> None:
    successor = await acquired(storage, expired.owner, name=expired.name)

    assert await storage.leases.renew(expired, MINUTE) is None
    assert await storage.leases.holder(expired.name) == successor


async def test_releasing_frees_the_lease_at_once(storage: Storage, connect: Connect) -> None:
    assert await storage.leases.release(await acquired(storage)) is True

    assert await storage.leases.holder("lease") is None
    assert unmoved(await acquired(await connect(), "grace")) == ("lease", "grace", 2)


async def test_releasing_twice_is_true_until_somebody_else_has_it(storage: Storage) -> None:
    lease = await acquired(storage)

    assert [await storage.leases.release(lease) for _ in range(2)] == [True, True]
    successor = await acquired(storage, "grace")
    assert await storage.leases.release(lease) is False
    assert await storage.leases.holder("lease") == successor


async def test_an_expired_lease_can_be_released(storage: Storage, expired: Lease) -> None:
    assert await storage.leases.release(expired) is True
    assert (await acquired(storage, name=expired.name)).fencing == 2


async def test_only_the_lease_as_granted_can_be_released(storage: Storage) -> None:
    lease = await acquired(storage)

    for other in (
        attrs.evolve(lease, name="other"),
        attrs.evolve(lease, owner="grace"),
        attrs.evolve(lease, fencing=FencingToken(lease.fencing + 1)),
    ):
        assert await storage.leases.release(other) is False
    assert await storage.leases.holder("lease") == lease


async def test_a_renewed_lease_can_be_released_with_the_value_of_before(storage: Storage) -> None:
    lease = await acquired(storage)
    for _ in range(20):
        assert await storage.leases.renew(lease, MINUTE) is not None

    assert await storage.leases.release(lease) is True
    assert unmoved(await acquired(storage, "grace")) == ("lease", "grace", 2)


async def test_a_lease_nobody_ever_took_has_no_holder(storage: Storage) -> None:
    assert await storage.leases.holder("lease") is None


async def test_an_expired_lease_has_no_holder(storage: Storage, expired: Lease) -> None:
    assert await storage.leases.holder(expired.name) is None
