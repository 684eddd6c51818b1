"""Eight at once, over two storages: the promises hold, and nobody waits for ever."""

from __future__ import annotations

import asyncio

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, at, checkpoint, commit, creation, event, replacement, sidecar
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import PATIENCE, WRITERS, race
from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision
from chopin_core.errors import ChannelArchived, StaleWrite
from chopin_core.ids import ChannelId, OperationId, UserId
from chopin_core.ports.collaboration import CommitResult, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")

ROUNDS = 5


async def loaded(storage: Storage, id: ChannelId) -> StoredChannel:
    stored = await storage.collaboration.load(id)
    assert stored is not None
    return stored


async def test_of_eight_commits_at_one_revision_one_wins(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    made = [
        commit(
            channel, operation_id=OperationId(f"by {number}"), update=b"%d" % number, sidecar=sidecar(number), events=(event(),)
        )
        for number in range(WRITERS)
    ]

    raced = await race(*(side.collaboration.commit(one, lease=lease) for side, one in zip(sides, made, strict=True)))

    assert len(raced.won) == 1
    assert raced.refusals() == {(StaleWrite, (0, 1))}
    stored = await loaded(sides[0], channel.id)
    (kept,) = [one for one in made if await sides[0].collaboration.operation(channel.id, one.operation_id)]
    assert (stored.latest, stored.sidecar) == (1, kept.sidecar)
    assert [update.update for update in stored.updates] == [kept.update]
    assert len(stored.events) == 1


async def test_of_eight_replacements_and_commits_at_one_revision_one_wins(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    async def attempt(number: int, side: Storage) -> CommitResult:
        operation_id = OperationId(f"by {number}")
        if number % 2:
            return await side.collaboration.replace(replacement(channel, operation_id=operation_id), lease=lease)
        return await side.collaboration.commit(commit(channel, operation_id=operation_id, update=b"1"), lease=lease)

    raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

    assert len(raced.won) == 1
    stored = await loaded(sides[0], channel.id)
    assert stored.latest == 1
    assert (stored.snapshot is None) == bool(stored.updates)


async def test_of_eight_requests_for_one_operation_one_is_kept_and_seven_are_repeats(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    raced = await race(*(side.collaboration.commit(commit(channel, update=b"once"), lease=lease) for side in sides))

    assert raced.refused == []
    assert sorted(result.repeated for result in raced.won) == [False] + [True] * (WRITERS - 1)
    assert {(result.revision, result.sequence) for result in raced.won} == {(1, 1)}
    assert len((await loaded(sides[0], channel.id)).updates) == 1


async def test_eight_writers_who_read_again_when_refused_all_get_through(
    sides: list[Storage], channel: Channel, lease: Lease, expired: Lease
) -> None:
    other = await sides[1].leases.acquire(expired.name, "other", lease.expires_at - expired.expires_at)
    assert other is not None

    async def write(number: int, side: Storage) -> list[CommitResult]:
        results = []
        for turn in range(ROUNDS):
            made = commit(channel, operation_id=OperationId(f"{number}-{turn}"), update=b"%d-%d" % (number, turn))
            while True:
                try:
                    results.append(await side.collaboration.commit(made, lease=(lease, other)[number % 2]))
                    break
                except StaleWrite as refused:
                    made = attrs.evolve(made, expected=StorageRevision(refused.actual))
        return results

    raced = await race(*(write(number, side) for number, side in enumerate(sides)))

    results = [result for results in raced.won for result in results]
    assert not any(result.repeated for result in results)
    assert sorted((result.revision, result.sequence) for result in results) == [
        (number, number) for number in range(1, WRITERS * ROUNDS + 1)
    ]
    updates = (await loaded(sides[0], channel.id)).updates
    assert [update.sequence for update in updates] == list(range(1, WRITERS * ROUNDS + 1))
    assert {update.update for update in updates} == {b"%d-%d" % (n, t) for n in range(WRITERS) for t in range(ROUNDS)}


async def test_commits_to_eight_channels_do_not_disturb_each_other(sides: list[Storage], lease: Lease) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]

    async def write(channel: Channel, side: Storage) -> None:
        for number in range(1, ROUNDS + 1):
            await side.collaboration.commit(commit(channel, number, update=channel.id.encode()), lease=lease)

    assert not (await race(*(write(channel, side) for channel, side in zip(channels, sides, strict=True)))).refused

    for channel in channels:
        stored = await loaded(sides[0], channel.id)
        assert [update.update for update in stored.updates] == [channel.id.encode()] * ROUNDS


async def test_a_commit_and_an_archive_at_once_agree_on_who_was_first(sides: list[Storage], lease: Lease) -> None:
    for turn in range(ROUNDS):
        channel = await sides[0].channels.create(creation(f"channel-{turn}"))

        async def touch(number: int, side: Storage, channel: Channel = channel) -> None:
            if number == 0:
                await side.channels.archive(channel.id, now=at(1))
            else:
                operation_id = OperationId(f"by {number}")
                await side.collaboration.commit(commit(channel, operation_id=operation_id, update=b"1"), lease=lease)

        raced = await race(*(touch(number, side) for number, side in enumerate(sides)))

        stored = await loaded(sides[0], channel.id)
        assert {type(refusal) for refusal in raced.refused} <= {ChannelArchived, StaleWrite}
        assert stored.channel.archived
        assert len(raced.won) == 1 + len(stored.updates)
        assert stored.latest == len(stored.updates) <= 1


async def test_no_checkpoint_ever_drops_a_commit_it_does_not_cover(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    await sides[0].collaboration.commit(commit(channel, 1, update=b"1", sidecar=sidecar(1)), lease=lease)

    for number in range(2, 2 + 2 * ROUNDS):
        before = await loaded(sides[0], channel.id)
        commits = [sides[0].collaboration.commit(commit(channel, number, update=b"%d" % number), lease=lease)]
        checkpoints = [side.collaboration.checkpoint(checkpoint(before), lease=lease) for side in sides[1:]]

        raced = await race(*checkpoints[:3], *commits, *checkpoints[3:])

        stored = await loaded(sides[0], channel.id)
        assert raced.refusals() <= {(StaleWrite, (number - 1, number))}
        covered = 0 if stored.snapshot is None else stored.snapshot.through
        assert covered in {0 if before.snapshot is None else before.snapshot.through, number - 1}
        assert [update.sequence for update in stored.updates] == list(range(covered + 1, number + 1))


async def test_whoever_reads_meanwhile_sees_one_moment(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    last = 6 * ROUNDS
    done = asyncio.Event()

    async def write(side: Storage) -> None:
        try:
            for number in range(1, last + 1):
                events = (event(f"event-{number}"),)
                made = commit(channel, number, update=b"%d" % number, sidecar=sidecar(number), events=events)
                await side.collaboration.commit(made, lease=lease)
                if number % 4 == 0:
                    await side.collaboration.checkpoint(checkpoint(await loaded(side, channel.id)), lease=lease)
        finally:
            done.set()

    async def read(side: Storage) -> None:
        while not done.is_set():
            stored = await loaded(side, channel.id)
            covered = 0 if stored.snapshot is None else stored.snapshot.through
            assert int(stored.channel.revision) == stored.latest
            assert [update.sequence for update in stored.updates] == list(range(covered + 1, stored.latest + 1))
            assert len(stored.events) == stored.latest
            assert stored.sidecar == (sidecar(stored.latest) if stored.latest else None)
            assert stored.snapshot is None or stored.snapshot.sidecar == sidecar(covered)

    raced = await race(write(sides[0]), *(read(side) for side in sides[1:4]))

    assert raced.refused == []
    assert (await loaded(sides[0], channel.id)).latest == last


async def test_eight_puts_of_one_person_make_one_record(sides: list[Storage]) -> None:
    person = attrs.evolve(AUTHOR, id=UserId("user-new"))

    raced = await race(*(side.users.put(person, now=at(number)) for number, side in enumerate(sides)))

    stored = await sides[0].users.get(person.id)
    assert stored in raced.won
    assert len({user.created_at for user in raced.won}) == 1


async def test_eight_storages_may_be_opened_and_closed_at_once(connect: Connect, storage: Storage, channel: Channel) -> None:
    async def visit() -> None:
        other = await connect()
        assert await other.channels.get(channel.id) == channel
        await other.close()

    async with asyncio.timeout(PATIENCE):
        await race(*(visit() for _ in range(WRITERS)))

    assert await storage.channels.get(channel.id) == channel
