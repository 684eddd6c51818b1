"""What was acknowledged comes back whole, from another process too, and nobody can change it from outside."""

from __future__ import annotations

from typing import Any

import pytest

from chopin_contract_tests.builders import at, checkpoint, commit, creation, event, initial, replacement, sidecar
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import Json
from chopin_core.ports.collaboration import StoredChannel, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarPatch, SidecarRecord

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


async def test_an_unknown_channel_is_none(storage: Storage, channel: Channel) -> None:
    assert await storage.collaboration.load(ChannelId("unknown")) is None


async def test_another_process_finds_everything(storage: Storage, connect: Connect, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    store = storage.collaboration
    await store.commit(commit(channel, 1, update=b"1", events=(event("one"),)), lease=lease)
    await store.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)
    await store.commit(commit(channel, 2, update=b"2", sidecar=sidecar(2, graph={"a": [1, None]})), lease=lease)
    await store.replace(replacement(channel, 3), lease=lease)
    await store.commit(commit(channel, 4, sidecar=SidecarPatch(head=4, sections={"graph": 4})), lease=lease)
    await store.commit(commit(channel, 5, update=b"5", title=TitleChange(title="Five"), now=at(50)), lease=lease)
    mine = await loaded(storage, channel)
    await storage.close()

    theirs = await loaded(await connect(), channel)

    assert theirs == mine
    assert theirs.snapshot is not None
    assert (theirs.channel.title, theirs.channel.revision, theirs.latest) == ("Five", 5, 5)
    assert (theirs.snapshot.document, theirs.snapshot.through) == (b"document 3", 3)
    assert [update.update for update in theirs.updates] == [b"5"]
    assert [kept.event.id for kept in theirs.events] == ["one"]
    assert theirs.sidecar is not None
    assert theirs.sidecar.sections == {"graph": 4}


async def test_what_was_acknowledged_is_there_at_once_for_everybody(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease
) -> None:
    other = await connect()
    for number in range(1, 41):
        made = commit(channel, number, update=b"%d" % number, sidecar=sidecar(number))

        await (storage, other)[number % 2].collaboration.commit(made, lease=lease)

        # A single read first: it is over before a commit that is not yet on disk could get there.
        found = await (other, storage)[number % 2].channels.get(channel.id)
        assert found is not None
        assert found.revision == number
        stored = await loaded(other, channel)
        assert (stored.latest, stored.sidecar, len(stored.updates)) == (number, sidecar(number), number)


async def test_the_journal_starts_after_the_snapshot(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(channel, 1), lease=lease)
    for number in (2, 3, 4):
        await storage.collaboration.commit(commit(channel, number, update=b"%d" % number), lease=lease)
    stored = await loaded(storage, channel)
    await storage.collaboration.checkpoint(checkpoint(stored, through=stored.updates[0].sequence), lease=lease)

    stored = await loaded(storage, channel)

    assert stored.snapshot is not None
    assert stored.snapshot.through == 2
    assert [update.sequence for update in stored.updates] == [3, 4]


async def test_changing_what_was_given_changes_nothing_stored(storage: Storage, channel: Channel, lease: Lease) -> None:
    given: dict[str, Any] = {"list": [1, {"deep": "before"}]}
    patched: dict[str, Any] = {"list": ["before"]}
    created = await storage.channels.create(creation("born", initial=initial(sidecar=sidecar(0, graph=given))))
    await storage.collaboration.commit(
        commit(channel, 1, sidecar=sidecar(1, graph=given), events=(event(payload=given),)), lease=lease
    )
    await storage.collaboration.commit(
        commit(channel, 2, sidecar=SidecarPatch(head=given, sections={"creation": patched})), lease=lease
    )
    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)

    given["list"][1]["deep"] = "after"
    given["list"].append("after")
    patched["list"].clear()

    meant: Json = {"list": [1, {"deep": "before"}]}
    born, stored = await loaded(storage, created), await loaded(storage, channel)
    assert born.snapshot is not None
    assert stored.snapshot is not None
    assert born.sidecar == born.snapshot.sidecar == sidecar(0, graph=meant)
    record = SidecarRecord(head=meant, sections={"graph": meant, "creation": {"list": ["before"]}})
    assert stored.sidecar == stored.snapshot.sidecar == record
    assert [kept.event.payload for kept in stored.events] == [meant]


async def test_changing_what_was_answered_changes_nothing_stored(storage: Storage, channel: Channel, lease: Lease) -> None:
    value: Json = {"list": [1, {"deep": "before"}]}
    made = replacement(channel, 1, sidecar=sidecar(1, graph=value))
    await storage.collaboration.replace(made, lease=lease)
    await storage.collaboration.commit(commit(channel, 2, events=(event(payload=value),)), lease=lease)
    first, second = await loaded(storage, channel), await loaded(storage, channel)
    assert first.sidecar is not None
    assert first.snapshot is not None

    answered: Any
    for answered in (first.sidecar.sections["graph"], first.snapshot.sidecar.sections["graph"], first.events[0].event.payload):
        assert answered == value
        answered["list"][1]["deep"] = "after"
        answered["list"].append("after")

    assert await loaded(storage, channel) == second
    assert first != second


async def test_a_large_document_comes_back_whole(storage: Storage, channel: Channel, lease: Lease) -> None:
    source = "".join(f"Line {number}: ž 漢 😀 e\u0301\n" for number in range(60_000))
    record = sidecar(1, graph={"text": source[:300_000]})
    made = replacement(channel, source=source, document=source.encode(), sidecar=record)

    await storage.collaboration.replace(made, lease=lease)

    stored = await loaded(storage, channel)
    assert stored.snapshot is not None
    assert (stored.snapshot.source, stored.snapshot.document) == (source, source.encode())
    assert stored.snapshot.sidecar == stored.sidecar == record
