"""Every kind of write moves what a checkpoint is fenced by, so that none taken before it can undo it (cases.md 6 and 7)."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import checkpoint, commit, creation, event, initial, replacement, sidecar
from chopin_core.channel import Channel
from chopin_core.errors import StaleWrite
from chopin_core.ports.collaboration import Commit, Replacement, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest.fixture(params=["an update", "records", "an event", "a title", "nothing", "another document"])
def write(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


def written(kind: str, channel: Channel) -> Commit | Replacement:
    match kind:
        case "an update":
            return commit(channel, 2, update=b"written meanwhile")
        case "records":
            return commit(channel, 2, sidecar=sidecar(2))
        case "an event":
            return commit(channel, 2, events=(event("meanwhile"),))
        case "a title":
            return commit(channel, 2, title=TitleChange(title="Meanwhile"))
        case "another document":
            return replacement(channel, 2)
        case _:
            return commit(channel, 2)


async def test_a_checkpoint_taken_before_any_kind_of_write_is_refused_and_neither_replaces_nor_prunes(
    storage: Storage, lease: Lease, write: str
) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    await storage.collaboration.commit(commit(channel, 1, update=b"1"), lease=lease)
    taken = await storage.collaboration.load(channel.id)
    assert taken is not None
    match written(write, channel):
        case Commit() as wanted:
            await storage.collaboration.commit(wanted, lease=lease)
        case Replacement() as wanted:
            await storage.collaboration.replace(wanted, lease=lease)
    before = await storage.collaboration.load(channel.id)

    with pytest.raises(StaleWrite) as refused:
        await storage.collaboration.checkpoint(checkpoint(taken), lease=lease)

    assert (refused.value.expected, refused.value.actual) == (1, 2)
    assert await storage.collaboration.load(channel.id) == before
