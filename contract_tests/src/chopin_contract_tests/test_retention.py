"""Operations and their events are remembered for a window, and then forgotten without a trace anywhere else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import attrs
import pytest

from chopin_contract_tests.builders import at, checkpoint, commit, creation, event, initial, replacement, sidecar
from chopin_contract_tests.builders_jobs import request
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.research import proposal, start
from chopin_contract_tests.sweeps import NOTHING, swept
from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelMissing, InvalidField, LeaseLost, StaleWrite
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import CommitResult, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import LONGEST_WINDOW, Pruned, Pruning
from chopin_core.ports.storage import Storage

pytestmark = pytest.mark.asyncio(loop_scope="function")

DAY = timedelta(days=1)
ROUNDS = 6


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


async def written(storage: Storage, channel: Channel, lease: Lease, last: int, first: int = 1) -> None:
    """Commits with everything that can be kept beside them."""
    for number in range(first, last + 1):
        answered = sidecar(number, creation={"by": "an agent"}, graph=[number])
        made = commit(channel, number, update=b"%d" % number, events=(event(f"event-{number}"),), sidecar=answered)
        await storage.collaboration.commit(made, lease=lease)


async def known(storage: Storage, channel: Channel, last: int) -> list[int]:
    """Which of the first operations are still remembered."""
    ids = {number: commit(channel, number).operation_id for number in range(1, last + 1)}
    return [number for number, id in ids.items() if await storage.collaboration.operation(channel.id, id)]


async def test_what_is_younger_than_the_window_stays(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, 3)
    before = await loaded(storage, channel)

    for window in (DAY, LONGEST_WINDOW):
        assert await swept(storage, lease, window) == [0]

    assert await loaded(storage, channel) == before
    assert await known(storage, channel, 3) == [1, 2, 3]


async def test_within_the_window_a_repeat_is_answered_as_before_a_sweep(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await written(storage, channel, lease, 3)
    repeat, answer = commit(channel, 2), CommitResult(revision=StorageRevision(2), sequence=StorageSequence(2), repeated=True)
    assert await storage.collaboration.commit(repeat, lease=lease) == answer

    await swept(storage, lease, DAY)

    assert await storage.collaboration.commit(repeat, lease=lease) == answer
    assert await storage.collaboration.replace(replacement(channel, 2), lease=lease) == answer
    assert await storage.collaboration.operation(channel.id, repeat.operation_id) == answer


async def test_a_sweep_takes_operations_and_their_events_and_nothing_else(
    storage: Storage, connect: Connect, lease: Lease
) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    await written(storage, channel, lease, 2)
    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)
    await written(storage, channel, lease, 4, first=3)
    before = await loaded(storage, channel)
    assert before.snapshot is not None
    assert (len(before.updates), len(before.events)) == (2, 4)

    assert await swept(await connect(), lease) == [4]

    assert await loaded(storage, channel) == attrs.evolve(before, events=())
    assert await known(storage, channel, 4) == []


async def test_replacements_are_forgotten_like_commits(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, 1)
    await storage.collaboration.replace(replacement(channel, 2), lease=lease)
    before = await loaded(storage, channel)

    assert await swept(storage, lease) == [2]

    assert await loaded(storage, channel) == attrs.evolve(before, events=())
    assert await known(storage, channel, 2) == []


async def test_a_repeat_after_the_window_is_a_new_operation_that_its_revision_refuses(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await written(storage, channel, lease, 2)
    await swept(storage, lease)
    before = await loaded(storage, channel)

    with pytest.raises(StaleWrite) as refused:
        await storage.collaboration.commit(commit(channel, 2, update=b"2"), lease=lease)
    assert (refused.value.expected, refused.value.actual) == (1, 2)
    with pytest.raises(StaleWrite):
        await storage.collaboration.replace(replacement(channel, 2), lease=lease)

    assert await loaded(storage, channel) == before
    assert await storage.collaboration.operation(channel.id, commit(channel, 2).operation_id) is None


async def test_counters_go_on_and_ids_are_free_again(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, 2)
    await swept(storage, lease)

    made = commit(channel, 1, expected=StorageRevision(2), update=b"3", events=(event("event-1"), event("event-2")))
    kept = CommitResult(revision=StorageRevision(3), sequence=StorageSequence(3))
    assert await storage.collaboration.commit(made, lease=lease) == kept
    assert await storage.collaboration.commit(made, lease=lease) == attrs.evolve(kept, repeated=True)

    stored = await loaded(storage, channel)
    assert [(update.sequence, update.update) for update in stored.updates] == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert [(one.sequence, one.ordinal, one.event.id) for one in stored.events] == [(3, 0, "event-1"), (3, 1, "event-2")]


async def test_archived_channels_are_swept_too_and_stay_as_they_are(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, 2)
    await storage.channels.archive(channel.id, now=at(5))
    before = await loaded(storage, channel)

    assert await swept(storage, lease) == [2]

    assert await loaded(storage, channel) == attrs.evolve(before, events=())


async def test_what_is_promised_for_the_life_of_a_document_is_answered_after_a_sweep(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await written(storage, channel, lease, 1)
    staged = await storage.research.create(proposal(channel.id, "1"), lease=lease)
    started = await storage.research.start(start(channel.id, "2"), lease=lease)
    enqueued = await storage.jobs.enqueue(request(channel), lease=lease)
    archived = await storage.channels.archive(channel.id, now=at(5))

    assert await swept(storage, lease) == [1]

    assert await storage.research.create(proposal(channel.id, "1"), lease=lease) == attrs.evolve(staged, repeated=True)
    assert await storage.research.start(start(channel.id, "2"), lease=lease) == attrs.evolve(started, repeated=True)
    assert await storage.jobs.enqueue(request(channel), lease=lease) == attrs.evolve(enqueued, repeated=True)
    assert await storage.channels.archive(channel.id, now=at(9)) == attrs.evolve(archived, changed=False)


async def test_a_window_is_measured_by_the_clock_of_storage(storage: Storage, channel: Channel, lease: Lease) -> None:
    # The suite's T0 is far from it; one of these two would go if the caller's instants counted.
    await storage.collaboration.commit(commit(channel, 1, now=at(-400 * 24 * 3600)), lease=lease)
    await storage.collaboration.commit(commit(channel, 2, now=at(400 * 24 * 3600)), lease=lease)

    assert await swept(storage, lease, DAY) == [0]
    assert await swept(storage, lease) == [2]


async def test_only_what_is_older_than_the_window_goes(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, 2)
    await asyncio.sleep(1.05)
    await written(storage, channel, lease, 3, first=3)

    assert await swept(storage, lease, timedelta(seconds=1)) == [2]

    assert await known(storage, channel, 3) == [3]
    assert [one.sequence for one in (await loaded(storage, channel)).events] == [3]


async def test_a_step_takes_no_more_than_its_limit_and_the_next_goes_on_in_the_same_channel(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await written(storage, channel, lease, 5)
    step = Pruning(older_than=NOTHING, limit=2)

    assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=2, next=channel.id)
    assert await known(storage, channel, 5) == [3, 4, 5]
    assert [one.sequence for one in (await loaded(storage, channel)).events] == [3, 4, 5]

    step = attrs.evolve(step, start=channel.id)
    assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=2, next=channel.id)
    assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=1, next=None)


async def test_a_sweep_of_many_channels_is_a_series_of_steps_in_the_order_of_ids(storage: Storage, lease: Lease) -> None:
    channels = [await storage.channels.create(creation(id)) for id in ("😀", "é", "b", "_", "B")]
    for channel in channels:
        await written(storage, channel, lease, 2)

    first = await storage.collaboration.prune(Pruning(older_than=NOTHING, limit=3), lease=lease)
    assert (first.operations, first.next) == (3, "_")
    assert [await known(storage, channel, 2) for channel in channels] == [[1, 2], [1, 2], [1, 2], [2], []]

    steps = await swept(storage, lease, limit=3)

    assert sum(steps) == 7
    assert max(steps) <= 3
    assert [await known(storage, channel, 2) for channel in channels] == [[]] * 5
    assert [int((await loaded(storage, channel)).channel.revision) for channel in channels] == [2] * 5


async def test_a_step_looks_at_no_more_channels_than_its_limit(storage: Storage, lease: Lease) -> None:
    for number in range(5):
        await storage.channels.create(creation(f"channel-{number}"))

    steps = [
        Pruning(older_than=NOTHING, limit=2, start=start) for start in (None, ChannelId("channel-2"), ChannelId("channel-4"))
    ]

    pruned = [await storage.collaboration.prune(step, lease=lease) for step in steps]
    assert [(one.operations, one.next) for one in pruned] == [(0, "channel-2"), (0, "channel-4"), (0, None)]


async def test_a_sweep_goes_on_where_a_channel_was_deleted(storage: Storage, lease: Lease) -> None:
    channels = [await storage.channels.create(creation(id)) for id in ("a", "b", "c")]
    for channel in channels:
        await written(storage, channel, lease, 1)
    await storage.channels.archive(ChannelId("b"), now=at(9))
    await storage.channels.delete(ChannelId("b"))

    step = Pruning(older_than=NOTHING, limit=5, start=ChannelId("b"))
    assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=1, next=None)
    assert [await known(storage, channels[place], 1) for place in (0, 2)] == [[1], []]


async def test_an_empty_storage_has_nothing_to_forget(storage: Storage, lease: Lease) -> None:
    assert await swept(storage, lease) == [0]


async def test_a_step_needs_a_lease_that_is_held_even_if_there_is_nothing_to_do(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, expired: Lease
) -> None:
    for last in (0, 2):
        await written(storage, channel, lease, last)
        before = await loaded(storage, channel)
        for other in (expired, attrs.evolve(lease, owner="nobody"), attrs.evolve(lease, name="no\0ne")):
            with pytest.raises(LeaseLost):
                await storage.collaboration.prune(Pruning(older_than=NOTHING, limit=5), lease=other)
        assert await loaded(await connect(), channel) == before
        assert len(await known(storage, channel, 2)) == last


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"older_than": timedelta(microseconds=-1)}, "older_than"),
        ({"older_than": LONGEST_WINDOW + timedelta(microseconds=1)}, "older_than"),
        ({"limit": 0}, "limit"),
        ({"start": ChannelId("no\0where")}, "start"),
        ({"start": ChannelId("\ud800")}, "start"),
    ],
)
async def test_a_step_that_makes_no_sense_is_refused_before_storage_is_asked(
    storage: Storage, wrong: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidField) as refused:
        attrs.evolve(Pruning(older_than=NOTHING, limit=1), **wrong)
    assert refused.value.field == field


async def test_eight_writers_are_not_disturbed_by_sweepers_and_lose_nothing(
    sides: list[Storage], lease: Lease, expired: Lease
) -> None:
    other = await sides[1].leases.acquire(expired.name, "other", lease.expires_at - expired.expires_at)
    assert other is not None
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(3)]
    done = asyncio.Event()

    async def write(number: int, side: Storage) -> None:
        """Each operation twice, as after a lost answer; to a sweep in between the second is a stale one."""
        for turn in range(ROUNDS):
            name, channel = f"{number}-{turn}", channels[(number + turn) % 3]
            made = commit(channel, operation_id=OperationId(name), update=name.encode(), events=(event(name),))
            while True:
                try:
                    await side.collaboration.commit(made, lease=(lease, other)[number % 2])
                    break
                except StaleWrite as refused:
                    made = attrs.evolve(made, expected=StorageRevision(refused.actual))
            with suppress(StaleWrite):
                assert (await side.collaboration.commit(made, lease=lease)).repeated

    async def writers() -> int:
        try:
            assert not (await race(*(write(number, side) for number, side in enumerate(sides)))).refused
        finally:
            done.set()
        return 0

    async def sweep(side: Storage, held: Lease, limit: int) -> int:
        gone = 0
        while not done.is_set():
            gone += sum(await swept(side, held, limit=limit))
        return gone

    raced = await race(writers(), sweep(sides[0], lease, 1), sweep(sides[1], other, 50))

    assert raced.refused == []
    stored = [await loaded(sides[0], channel) for channel in channels]
    for one in stored:
        assert [update.sequence for update in one.updates] == list(range(1, one.latest + 1))
    assert sorted(update.update for one in stored for update in one.updates) == sorted(
        b"%d-%d" % (number, turn) for number in range(WRITERS) for turn in range(ROUNDS)
    )
    left = sum(await swept(sides[0], lease))
    assert left == sum(len(one.events) for one in stored)
    assert sum(raced.won) + left == WRITERS * ROUNDS


async def test_a_channel_may_be_deleted_under_a_sweep(sides: list[Storage], lease: Lease) -> None:
    for turn in range(5):
        channels = [await sides[0].channels.create(creation(f"channel-{turn}-{number}")) for number in range(4)]
        for channel in channels:
            await written(sides[0], channel, lease, 3)
            await sides[0].channels.archive(channel.id, now=at(9))

        async def delete(side: Storage, channel: Channel) -> None:
            await side.channels.delete(channel.id)

        async def sweep(side: Storage, limit: int) -> None:
            await swept(side, lease, limit=limit)

        deletions = [delete(side, channel) for side, channel in zip(sides[:4], reversed(channels), strict=True)]
        raced = await race(*deletions, *(sweep(side, 2 * number + 1) for number, side in enumerate(sides[4:])))

        assert raced.refused == []
        for channel in channels:
            assert await sides[0].collaboration.load(channel.id) is None
            with pytest.raises(ChannelMissing):
                await sides[0].collaboration.commit(commit(channel), lease=lease)
        assert await swept(sides[0], lease) == [0]
