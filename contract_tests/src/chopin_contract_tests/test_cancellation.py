"""A call that is given up on is wholly kept or not at all, the looked-up operation tells which, and storage works on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import Any

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, checkpoint, commit, creation, event, initial, replacement, sidecar
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.counters import StorageRevision
from chopin_core.ids import OperationId
from chopin_core.ports.collaboration import Commit, Replacement, StoredChannel, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")

TURNS = [0, 1, 2, 3]
"""After how many turns of the loop to give up; a call that never waits for a machine is caught by these."""

SECONDS = sorted(Random(2026).uniform(0, 0.008) for _ in range(20))
"""After how long to give up; spread over what a durable write takes."""


async def given_up(call: Coroutine[Any, Any, object], turns: int, seconds: float) -> None:
    """Start the call and cancel it after a while. If that was in time the cancellation must arrive, and soon."""
    task = asyncio.create_task(call)
    for _ in range(turns):
        await asyncio.sleep(0)
    if seconds:
        await asyncio.sleep(seconds)
    if not task.cancel():
        await task
        return
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await task


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


MOMENTS = [(turns, 0.0) for turns in TURNS] + [(0, seconds) for seconds in SECONDS]


async def test_a_commit_given_up_on_is_kept_whole_or_not_at_all(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, (turns, seconds) in enumerate(MOMENTS, start=1):
        made = commit(
            channel,
            number,
            update=b"%d" % number,
            sidecar=sidecar(number),
            events=(event(f"event-{number}"),),
            title=TitleChange(title=f"Title {number}"),
        )
        before = await loaded(storage, channel)

        await given_up(storage.collaboration.commit(made, lease=lease), turns, seconds)

        kept = await storage.collaboration.operation(channel.id, made.operation_id)
        if kept is None:
            assert await loaded(storage, channel) == before
            assert await storage.channels.resolve(REPOSITORY.id, f"title-{number}") is None
        else:
            assert (kept.revision, kept.sequence, kept.repeated) == (number, number, True)
        retried = await storage.collaboration.commit(made, lease=lease)
        assert retried.repeated == (kept is not None)

        stored = await loaded(storage, channel)
        assert (stored.channel.revision, stored.latest, stored.sidecar) == (number, number, sidecar(number))
        assert (stored.updates[-1].update, stored.events[-1].event) == (made.update, made.events[0])
        assert (len(stored.updates), len(stored.events)) == (number, number)
        assert stored.channel.title == f"Title {number}"


async def test_a_replacement_given_up_on_is_kept_whole_or_not_at_all(storage: Storage, channel: Channel, lease: Lease) -> None:
    at_revision = 0
    for number, (turns, seconds) in enumerate(MOMENTS):
        journal = commit(channel, at_revision + 1, operation_id=OperationId(f"journal {number}"), update=b"old")
        await storage.collaboration.commit(journal, lease=lease)
        made: Replacement = replacement(channel, at_revision + 2, operation_id=OperationId(f"replace {number}"))
        before = await loaded(storage, channel)

        await given_up(storage.collaboration.replace(made, lease=lease), turns, seconds)

        kept = await storage.collaboration.operation(channel.id, made.operation_id)
        stored = await loaded(storage, channel)
        if kept is None:
            assert stored == before
        else:
            assert stored.snapshot is not None
            assert (stored.snapshot.document, stored.snapshot.through) == (made.document, kept.sequence)
            assert (stored.sidecar, stored.updates) == (made.sidecar, ())
        at_revision = stored.channel.revision


async def test_a_checkpoint_given_up_on_is_kept_whole_or_not_at_all(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, 1, sidecar=sidecar(1)), lease=lease)
    for number, (turns, seconds) in enumerate(MOMENTS, start=2):
        await storage.collaboration.commit(commit(channel, number, update=b"%d" % number), lease=lease)
        before = await loaded(storage, channel)
        made = checkpoint(before)

        await given_up(storage.collaboration.checkpoint(made, lease=lease), turns, seconds)

        stored = await loaded(storage, channel)
        if stored != before:
            assert stored.snapshot is not None
            assert (stored.snapshot.document, stored.snapshot.through, stored.updates) == (made.document, number, ())
            assert stored == attrs.evolve(before, snapshot=stored.snapshot, updates=())


async def test_a_creation_given_up_on_is_kept_whole_or_not_at_all(storage: Storage) -> None:
    for number, (turns, seconds) in enumerate(MOMENTS):
        made = creation(f"channel-{number}", title=f"Title {number}", titles=TitlePolicy.UNIQUE, initial=initial())

        await given_up(storage.channels.create(made), turns, seconds)

        # A write in flight may still land; the lookup of an operation waits for it, creation is asked for again instead.
        found = await storage.channels.get(made.id)
        if found is not None:
            stored = await loaded(storage, found)
            assert stored.snapshot is not None
            assert stored.sidecar == stored.snapshot.sidecar == sidecar(0)
            assert await storage.channels.resolve(REPOSITORY.id, f"title-{number}") == found


async def test_none_is_final(storage: Storage, channel: Channel, lease: Lease) -> None:
    revision = 0
    given: list[Commit] = []
    for number, (turns, seconds) in enumerate(MOMENTS):
        made = commit(channel, expected=StorageRevision(revision), operation_id=OperationId(f"given up {number}"))
        await given_up(storage.collaboration.commit(made, lease=lease), turns, seconds)
        if await storage.collaboration.operation(channel.id, made.operation_id) is None:
            given.append(made)
        else:
            revision += 1

    await asyncio.sleep(0.05)

    assert [await storage.collaboration.operation(channel.id, made.operation_id) for made in given] == [None] * len(given)
    assert (await loaded(storage, channel)).channel.revision == revision
