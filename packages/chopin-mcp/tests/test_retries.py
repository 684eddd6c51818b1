"""Calls whose answer was lost, calls at the same time, and a server that restarts in between."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.ids import ChannelId

from agent_world import Server, World, answer, creation, now, refusal


async def _documents(server: Server) -> int:
    return len(answer(await server.call("list_documents", repository="acme/plans"))["documents"])


async def test_twenty_creations_at_once_with_one_key_make_one_document(server: Server) -> None:
    results = await asyncio.gather(*(server.call("create_document", **creation("k")) for _ in range(20)))
    answers = [answer(result) for result in results]
    assert all(facts == answers[0] for facts in answers)
    assert await _documents(server) == 1


async def test_a_creation_repeated_after_a_restart_is_the_same_document(world: World) -> None:
    async with world.server() as server:
        first = answer(await server.call("create_document", **creation("k")))
    async with world.server() as restarted:
        for _ in range(5):
            assert answer(await restarted.call("create_document", **creation("k"))) == first
        assert await _documents(restarted) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "Cooling"},
        {"plan": "Anders.\n"},
        {"baseBranch": "next"},
        {"baseCommit": "1111"},
        {"brief": {"goal": "Cold rooms"}},
        {"brief": {"goal": "Warm rooms", "constraints": ["no gas"]}},
    ],
)
async def test_a_key_used_for_another_creation_is_a_conflict(changed: dict[str, object], server: Server) -> None:
    first = answer(await server.call("create_document", **creation("k")))
    facts = refusal(await server.call("create_document", **creation("k", **changed)))
    assert (facts["code"], facts["retry"]) == ("idempotency-conflict", "new_key")
    assert answer(await server.call("read_document", id=first["id"])) == first
    assert await _documents(server) == 1


async def test_twenty_updates_at_once_with_one_key_change_the_document_once(server: Server) -> None:
    document = await server.created()
    update = {"id": document["id"], "revision": 0, "plan": "Einmal.\n", "idempotencyKey": "u"}
    results = await asyncio.gather(*(server.call("update_document", **update) for _ in range(20)))
    assert all(answer(result) == {**document, "source": "Einmal.\n", "revision": 1} for result in results)
    stored = await server.storage.collaboration.load(ChannelId(document["id"]))
    assert stored is not None and stored.channel.revision == 1


async def test_a_repeated_update_is_answered_as_the_first_time_whatever_became_of_the_document(world: World) -> None:
    async with world.server() as server:
        document = await server.created()
        update = {"id": document["id"], "revision": 0, "plan": "Zuerst.\n", "idempotencyKey": "u"}
        first = answer(await server.call("update_document", **update))
        later = {"id": document["id"], "revision": 1, "plan": "Danach.\n", "idempotencyKey": "v"}
        answer(await server.call("update_document", **later))
        await server.documents.rename(ChannelId(document["id"]), "Cooling")
        assert answer(await server.call("update_document", **update)) == first
    async with world.server() as restarted:
        for _ in range(5):
            assert answer(await restarted.call("update_document", **update)) == first
        assert answer(await restarted.call("read_document", id=document["id"]))["source"] == "Danach.\n"
        await restarted.storage.channels.archive(ChannelId(document["id"]), now=now())
    async with world.server() as once_more:
        repeated = answer(await once_more.call("update_document", **update))
        assert repeated == {**first, "archivedAt": repeated["archivedAt"]}


@pytest.mark.parametrize("changed", [{"plan": "Anders.\n"}, {"revision": 1}])
async def test_a_key_used_for_another_update_is_a_conflict(changed: dict[str, object], server: Server) -> None:
    document = await server.created()
    update = {"id": document["id"], "revision": 0, "plan": "Zuerst.\n", "idempotencyKey": "u"}
    answer(await server.call("update_document", **update))
    facts = refusal(await server.call("update_document", **{**update, **changed}))
    assert facts["code"] == "idempotency-conflict"
    assert answer(await server.call("read_document", id=document["id"]))["source"] == "Zuerst.\n"


async def test_of_eight_agents_on_one_revision_one_wins_and_the_others_learn_the_current_one(server: Server) -> None:
    document = await server.created()
    results = await asyncio.gather(
        *(
            server.call("update_document", id=document["id"], revision=0, plan=f"Agent {n}.\n", idempotencyKey=f"agent-{n}")
            for n in range(8)
        )
    )
    [won] = [answer(result) for result in results if not result.is_error]
    lost = [refusal(result) for result in results if result.is_error]
    assert [(facts["code"], facts["current_revision"]) for facts in lost] == [("revision-conflict", 1)] * 7
    assert answer(await server.call("read_document", id=document["id"])) == won
