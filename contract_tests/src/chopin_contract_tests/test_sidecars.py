"""The record beside the document is replaced or patched by a commit, and its unanswered decisions are counted."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import commit, creation, initial, question, sidecar
from chopin_core.channel import Channel
from chopin_core.jsonvalue import Json, encode
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarPatch, SidecarRecord

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")

BASE = SidecarRecord(head={"n": 1}, sections={"graph": {"a": 1}, "creation": [1], "mcpUpdates.one": 1, "mcpUpdates.two": 2})


async def written(storage: Storage, channel: Channel, lease: Lease, *changes: SidecarRecord | SidecarPatch | None) -> None:
    """One commit for each change, from the first revision on."""
    for number, change in enumerate(changes, start=1):
        await storage.collaboration.commit(commit(channel, number, sidecar=change), lease=lease)


async def stored(storage: Storage, channel: Channel) -> SidecarRecord | None:
    found = await storage.collaboration.load(channel.id)
    assert found is not None
    return found.sidecar


async def count(storage: Storage, channel: Channel) -> int:
    found = await storage.channels.get(channel.id)
    assert found is not None
    return found.unanswered_decisions


async def test_a_whole_record_replaces_the_stored_one(storage: Storage, channel: Channel, lease: Lease) -> None:
    after = SidecarRecord(head=[2], sections={"graph": None})

    await written(storage, channel, lease, BASE, after)

    assert await stored(storage, channel) == after


async def test_a_commit_without_one_keeps_the_record(storage: Storage, channel: Channel, lease: Lease) -> None:
    await written(storage, channel, lease, BASE, None, None)

    assert await stored(storage, channel) == BASE


@pytest.mark.parametrize(
    "patch",
    [
        SidecarPatch(head={"n": 2}),
        SidecarPatch(head={"n": 2}, sections={"graph": {"b": 2}}),
        SidecarPatch(head={"n": 2}, sections={"mcpUpdates.three": 3, "creation": None}),
        SidecarPatch(head={"n": 2}, removed=frozenset({"graph", "mcpUpdates.one"})),
        SidecarPatch(head={"n": 2}, removed=frozenset({"never", "mcpUpdates"})),
        SidecarPatch(head={"n": 2}, sections={"graph": "new"}, removed=frozenset({"graph", "creation"})),
        SidecarPatch(head=None, removed=frozenset(BASE.sections)),
    ],
    ids=["head", "replace", "add", "remove", "remove unknown", "remove and write", "remove all"],
)
async def test_a_patch_does_what_it_says_to_any_record(
    storage: Storage, channel: Channel, lease: Lease, patch: SidecarPatch
) -> None:
    other = await storage.channels.create(creation("other"))

    await written(storage, channel, lease, BASE, patch)
    await written(storage, other, lease, patch)

    assert await stored(storage, channel) == patch.applied_to(BASE)
    assert await stored(storage, other) == patch.applied_to(None)


async def test_a_patch_applies_to_the_initial_record(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial(sidecar=BASE)))
    patch = SidecarPatch(head={"n": 2}, sections={"graph": {"c": 3}}, removed=frozenset({"creation"}))

    await written(storage, channel, lease, patch)

    assert await stored(storage, channel) == patch.applied_to(BASE)


async def test_null_is_a_value(storage: Storage, channel: Channel, lease: Lease) -> None:
    empty = SidecarRecord(head=None, sections={"graph": None})

    await written(storage, channel, lease, BASE, empty)

    assert await stored(storage, channel) == empty


@pytest.mark.parametrize(
    "value",
    [
        {"z": 1, "a": 2, "": 3},
        [True, False, None, 0, 1, -0.0, 1.0, 1e300, 2**53 - 1, -(2**53), 10**30],
        {"nested": [[[{"deep": [{}, [], ""]}]]]},
        "a text",
        {"<script>": "&amp; ' \" \\ / \u2028 \x7f \t\n"},
    ],
    ids=["keys in order", "numbers", "nested", "string", "signs"],
)
async def test_json_comes_back_as_it_was(storage: Storage, channel: Channel, lease: Lease, value: Json) -> None:
    await written(storage, channel, lease, SidecarRecord(head=value, sections={"graph": value}))

    found = await stored(storage, channel)
    assert found is not None
    assert [encode(found.head), encode(found.sections["graph"])] == [encode(value), encode(value)]


async def counts(storage: Storage, channel: Channel, lease: Lease, *changes: SidecarRecord | SidecarPatch | None) -> list[int]:
    """The count after each of these changes."""
    seen = []
    for number, change in enumerate(changes, start=1):
        await storage.collaboration.commit(commit(channel, number, sidecar=change), lease=lease)
        seen.append(await count(storage, channel))
    return seen


async def test_the_count_follows_a_whole_record(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked, answered = question(questions=3), question("answered", questions=3)

    assert await counts(
        storage,
        channel,
        lease,
        sidecar(1, questions=[asked]),
        sidecar(2, questions=[answered]),
        sidecar(3, questions=[answered, question()]),
        sidecar(4),
    ) == [3, 0, 1, 0]


async def test_the_count_follows_a_patch_that_touches_the_questions(storage: Storage, channel: Channel, lease: Lease) -> None:
    assert await counts(
        storage,
        channel,
        lease,
        sidecar(1, questions=[question(questions=2)]),
        SidecarPatch(head=2, sections={"graph": {}}),
        SidecarPatch(head=3, sections={"questions": [question(questions=5)]}),
        SidecarPatch(head=4, removed=frozenset({"graph"})),
        SidecarPatch(head=5, removed=frozenset({"questions"})),
    ) == [2, 2, 5, 5, 0]


async def test_the_count_stays_with_a_commit_that_has_no_record(storage: Storage, channel: Channel, lease: Lease) -> None:
    assert await counts(storage, channel, lease, sidecar(1, questions=[question(questions=2)]), None) == [2, 2]


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ([question("open", questions=3, answers={"q2": "yes", "q9": "no"})], 2),
        ([question("open", questions=2, answers=["q1"])], 2),
        ([question("reopened", questions=2, answers={"q1": 1, "q2": 2})], 2),
        ([question("answered", questions=2), question("withdrawn"), question("open")], 1),
        ({"status": "open"}, 0),
        ([None, "open", {"status": "open"}, {"status": "open", "definition": {"questions": "q1"}}], 0),
        ([{"status": "open", "definition": {"questions": [{"id": 7}, {}, "q", {"id": "q\0\ud800"}]}, "answers": {"": 1}}], 1),
    ],
    ids=["open", "answers no object", "reopened", "other states", "no list", "odd records", "odd ids"],
)
async def test_the_count_is_of_the_questions_without_an_answer(
    storage: Storage, channel: Channel, lease: Lease, questions: Json, expected: int
) -> None:
    await written(storage, channel, lease, sidecar(1, questions=questions))

    assert await count(storage, channel) == expected
    listed = await storage.channels.list(channel.repository.id)
    assert [shown.unanswered_decisions for shown in listed.channels] == [expected]
