"""Any text survives where JSON is kept; what a column cannot keep is refused by the core, before any adapter is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import attrs
import pytest

from chopin_contract_tests.builders import (
    AUTHOR,
    REPOSITORY,
    T0,
    at,
    checkpoint,
    commit,
    creation,
    event,
    initial,
    question,
    replacement,
    sidecar,
)
from chopin_core.channel import Channel
from chopin_core.errors import ChannelMissing, InvalidField, LeaseLost
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId
from chopin_core.jsonvalue import Json
from chopin_core.ports.channels import Cursor
from chopin_core.ports.collaboration import StoredChannel, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarPatch, SidecarRecord

STORE = "storage"
pytestmark = pytest.mark.asyncio(loop_scope="function")

UNSTORABLE = {"NUL": "a\0b", "high half": "a\ud800b", "low half": "a\udc00b", "halves reversed": "\udc00\ud800"}
STORABLE = {
    "astral": "😀 𝔘 👩‍👩‍👧",
    "combining": "e\u0301 é a\u0323\u0307",
    "right to left": "שלום \u202eabc\u202c",
    "controls": "\x01\x1f\x7f\x85\u200b\ufeff\u2028\ufffd\uffff",
    "line ends": "a\r\nb\rc\n",
    "edges": "  \t padded \n ",
    "escapes": "\\u0000 \\x00 %s %(name)s :name $1 {}",
}

hostile = pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
odd = pytest.mark.parametrize("text", [*STORABLE.values(), *UNSTORABLE.values()], ids=[*STORABLE, *UNSTORABLE])


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


@odd
async def test_any_text_survives_in_the_sidecar_and_its_copies(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    value: Json = {text: [text, {"deep": text}]}
    record = SidecarRecord(head=text, sections={"graph": value})

    created = await storage.channels.create(creation("born", initial=initial(sidecar=record)))
    await storage.collaboration.commit(commit(channel, 1, sidecar=record), lease=lease)
    assert (await loaded(storage, channel)).sidecar == record

    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)
    patched = SidecarPatch(head=[text], sections={"creation": text})
    await storage.collaboration.commit(commit(channel, 2, sidecar=patched), lease=lease)
    replaced = await storage.channels.create(creation("replaced"))
    await storage.collaboration.replace(replacement(replaced, sidecar=record), lease=lease)

    after = await loaded(storage, channel)
    assert after.sidecar == patched.applied_to(record)
    for stored in (await loaded(storage, created), after, await loaded(storage, replaced)):
        assert stored.snapshot is not None
        assert stored.snapshot.sidecar == record


@odd
async def test_any_text_survives_in_the_payload_of_an_event(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    made = event(payload={text: [text]})

    await storage.collaboration.commit(commit(channel, events=(made,)), lease=lease)

    assert [kept.event for kept in (await loaded(storage, channel)).events] == [made]


@hostile
async def test_decisions_are_counted_around_any_text(storage: Storage, channel: Channel, lease: Lease, text: str) -> None:
    record = sidecar(1, questions=[question(questions=3, answers={"q1": text, text: "q2"}), text, question(text)])

    await storage.collaboration.commit(commit(channel, sidecar=record), lease=lease)

    assert (await loaded(storage, channel)).channel.unanswered_decisions == 2


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_text_that_a_column_can_keep_comes_back_exactly(storage: Storage, lease: Lease, text: str) -> None:
    person = attrs.evolve(AUTHOR, login=text, avatar_url=text)
    await storage.users.put(person, now=T0)
    begun = initial(generation=text, epoch=text, source=text, source_hash=text)
    channel = await storage.channels.create(creation(title=text, initial=begun))
    made = commit(channel, update=b"1", epoch=text, events=(event(id=text, kind=text),), title=TitleChange(title=text + "!"))
    await storage.collaboration.commit(attrs.evolve(made, operation_id=OperationId(text)), lease=lease)

    stored = await loaded(storage, channel)
    user = await storage.users.get(person.id)
    assert user is not None
    assert stored.snapshot is not None
    snapshot = stored.snapshot
    assert user.person == person
    assert [snapshot.generation, snapshot.epoch, snapshot.source, snapshot.source_hash] == [text] * 4
    assert [stored.updates[0].epoch, stored.events[0].event.id, stored.events[0].event.kind] == [text] * 3
    assert stored.channel.title == text + "!"
    assert await storage.collaboration.operation(channel.id, OperationId(text)) is not None


@hostile
async def test_text_that_no_column_can_keep_is_refused_where_it_is_written_down(channel: Channel, text: str) -> None:
    makers: list[tuple[Callable[..., object], str]] = [
        (partial(attrs.evolve, AUTHOR), "id login avatar_url"),
        (partial(attrs.evolve, REPOSITORY), "id owner name"),
        (creation, "id title created_by parent_id"),
        (initial, "generation epoch source source_hash"),
        (partial(commit, channel), "operation_id epoch"),
        (partial(replacement, channel), "operation_id epoch generation source source_hash"),
        (event, "id kind"),
        (TitleChange, "title"),
    ]

    for make, fields in makers:
        for field in fields.split():
            with pytest.raises(InvalidField) as caught:
                make(**{field: text})
            assert caught.value.field == field


@hostile
async def test_a_title_that_no_column_can_keep_is_refused_and_changes_nothing(
    storage: Storage, channel: Channel, text: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        await storage.channels.rename(channel.id, text, now=at(1))

    assert caught.value.field == "title"
    assert await storage.channels.get(channel.id) == channel


@hostile
async def test_what_no_column_could_keep_is_never_found(storage: Storage, channel: Channel, lease: Lease, text: str) -> None:
    nothing: list[object] = [
        await storage.users.get(UserId(text)),
        await storage.channels.get(ChannelId(text)),
        await storage.channels.resolve(REPOSITORY.id, text),
        await storage.channels.resolve(RepositoryId(text), channel.slug),
        await storage.collaboration.load(ChannelId(text)),
        await storage.collaboration.operation(ChannelId(text), OperationId("operation-1")),
        await storage.collaboration.operation(channel.id, OperationId(text)),
    ]
    empty = [
        await storage.channels.list(RepositoryId(text)),
        await storage.channels.scan(RepositoryId(text)),
        await storage.channels.list(REPOSITORY.id, query=text),
        await storage.channels.list(REPOSITORY.id, query=text, after=Cursor(at=at(9), id=channel.id)),
    ]

    assert nothing == [None] * len(nothing)
    assert [(page.channels, page.next) for page in empty] == [((), None)] * len(empty)


@hostile
async def test_a_channel_that_no_column_could_name_is_missing(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    named = attrs.evolve(channel, id=ChannelId(text))
    stored = attrs.evolve(await loaded(storage, channel), channel=named)

    for call in (
        lambda: storage.channels.rename(named.id, "Other", now=T0),
        lambda: storage.channels.archive(named.id, now=T0),
        lambda: storage.channels.restore(named.id, now=T0),
        lambda: storage.collaboration.commit(commit(named), lease=lease),
        lambda: storage.collaboration.replace(replacement(named), lease=lease),
        lambda: storage.collaboration.checkpoint(checkpoint(stored), lease=lease),
    ):
        with pytest.raises(ChannelMissing) as caught:
            await call()
        assert caught.value.channel_id == text


@hostile
async def test_a_lease_that_no_column_could_name_is_refused_and_never_held(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    for name, owner, field in ((text, "suite", "name"), ("lease", text, "owner")):
        with pytest.raises(InvalidField) as caught:
            await storage.leases.acquire(name, owner, timedelta(minutes=1))
        assert caught.value.field == field

    assert await storage.leases.holder(text) is None
    for invented in (attrs.evolve(lease, name=text), attrs.evolve(lease, owner=text)):
        assert await storage.leases.renew(invented, timedelta(minutes=1)) is None
        assert await storage.leases.release(invented) is False
        with pytest.raises(LeaseLost):
            await storage.collaboration.commit(commit(channel), lease=invented)
        with pytest.raises(LeaseLost):
            await storage.collaboration.replace(replacement(channel), lease=invented)
        with pytest.raises(LeaseLost):
            await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=invented)
