"""A child document has no Chat: whatever it kept of one is cleared at the start of a process."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import T0, at, checkpoint, commit, creation, question, web_session
from chopin_contract_tests.races import WRITERS, race
from chopin_core.channel import Channel
from chopin_core.counters import FencingToken
from chopin_core.errors import LeaseLost
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import Json
from chopin_core.ports.agents import AgentContext, AgentStatus
from chopin_core.ports.collaboration import DroppedConversations, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarRecord

pytestmark = pytest.mark.asyncio(loop_scope="function")

KEPT: dict[str, Json] = {
    "questions": [question()],
    "threads": [{"id": "t", "notes": []}],
    "creation": {"strange": "nul \x00, half \ud800, 😀", "number": 1.5},
}
CHAT: dict[str, Json] = {
    "transcript": [{"id": "m", "text": "Hello"}],
    "transcript.older": [{"id": "l"}],
    "workflowRuns": [{"id": "run"}],
    "conversationPlan": {"schemaVersion": 2},
    "conversationPlan.research": {"queue": []},
    "conversationPlanRetries": [],
    "conversationPlanJobs": [],
    "conversationPlanEffects": [],
    "conversationPlanPendingEffects": [],
    "pendingCardActions": [],
}
NOTHING = DroppedConversations(cleared=(), left=())


def cleared(*ids: str) -> DroppedConversations:
    return DroppedConversations(cleared=tuple(map(ChannelId, ids)), left=())


def left(*ids: str) -> DroppedConversations:
    return DroppedConversations(cleared=(), left=tuple(map(ChannelId, ids)))


async def talkative(storage: Storage, lease: Lease, channel: Channel, **sections: Json) -> StoredChannel:
    """A channel with a conversation, in its snapshot too."""
    record = SidecarRecord(head={"version": 1}, sections={**KEPT, **CHAT, **sections})
    await storage.collaboration.commit(commit(channel, update=b"text", sidecar=record), lease=lease)
    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)
    return await loaded(storage, channel)


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


async def child_of(storage: Storage, channel: Channel, id: str = "child") -> Channel:
    return await storage.channels.create(creation(id, title=id, parent_id=channel.id))


async def test_a_child_is_cleared_of_its_conversation_and_of_nothing_else(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    before = await talkative(storage, lease, await child_of(storage, channel))
    assert before.snapshot is not None and "transcript" in before.snapshot.sidecar.sections

    assert await storage.collaboration.drop_child_conversations(lease=lease) == cleared("child")

    silent = SidecarRecord(head={"version": 1}, sections={**KEPT, "transcript": []})
    assert await loaded(storage, before.channel) == attrs.evolve(
        before, sidecar=silent, snapshot=attrs.evolve(before.snapshot, sidecar=silent)
    )


async def test_a_second_run_finds_nothing(storage: Storage, channel: Channel, lease: Lease) -> None:
    await talkative(storage, lease, await child_of(storage, channel))
    await storage.collaboration.drop_child_conversations(lease=lease)
    assert await storage.collaboration.drop_child_conversations(lease=lease) == NOTHING


async def test_a_document_that_is_no_child_keeps_its_conversation(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await talkative(storage, lease, channel)
    await child_of(storage, channel)
    assert await storage.collaboration.drop_child_conversations(lease=lease) == NOTHING
    assert await loaded(storage, channel) == before


async def test_an_archived_child_is_cleared_too(storage: Storage, channel: Channel, lease: Lease) -> None:
    child = await child_of(storage, channel)
    await talkative(storage, lease, child)
    await storage.channels.archive(child.id, now=at(9))
    assert await storage.collaboration.drop_child_conversations(lease=lease) == cleared("child")


async def test_a_conversation_that_only_the_snapshot_remembers_is_cleared(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    child = await child_of(storage, channel)
    before = await talkative(storage, lease, child)
    silent = SidecarRecord(head={"version": 1}, sections=KEPT)
    await storage.collaboration.commit(commit(before.channel, 2, sidecar=silent), lease=lease)
    assert await storage.collaboration.drop_child_conversations(lease=lease) == cleared("child")
    after = await loaded(storage, child)
    assert after.snapshot is not None
    assert after.snapshot.sidecar.sections == {**KEPT, "transcript": []}


@pytest.mark.parametrize(
    "decision",
    [
        {"id": "q", "status": "answered", "threadId": "thread"},
        {"id": "q", "optionOrigins": {"a": {"origin": "human"}, "b": {"origin": "chat", "source": {"messageId": "m"}}}},
    ],
    ids=["drawn from a thread", "quotes a message"],
)
async def test_a_child_whose_decision_cites_the_conversation_stays_as_it_is_and_is_named(
    storage: Storage, channel: Channel, lease: Lease, decision: Json
) -> None:
    cites, plain = await child_of(storage, channel, "cites"), await child_of(storage, channel, "plain")
    before = await talkative(storage, lease, cites, questions=[question(), decision])
    await talkative(storage, lease, plain)
    outcome = await storage.collaboration.drop_child_conversations(lease=lease)
    assert outcome == DroppedConversations(cleared=(plain.id,), left=(cites.id,))
    assert await loaded(storage, cites) == before
    assert await storage.collaboration.drop_child_conversations(lease=lease) == left("cites")


@pytest.mark.parametrize(
    "questions", [None, "text", {"threadId": "t"}, [None, "x", {"threadId": None, "optionOrigins": ["s"]}]]
)
async def test_what_is_no_decision_cites_nothing(storage: Storage, channel: Channel, lease: Lease, questions: Json) -> None:
    await talkative(storage, lease, await child_of(storage, channel), questions=questions)
    assert await storage.collaboration.drop_child_conversations(lease=lease) == cleared("child")


async def test_what_the_planner_remembers_of_a_child_is_forgotten_and_its_generation_stays(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    child = await child_of(storage, channel)
    await storage.sessions.create(web_session())
    agent = await storage.agents.claim(child.id, web_session().id, now=T0)
    context = AgentContext(summary="They talked.", transcript_cursor=7, status=AgentStatus.READY, now=at(1))
    await storage.agents.remember(child.id, web_session().id, agent.generation, context)

    assert await storage.collaboration.drop_child_conversations(lease=lease) == cleared("child")

    assert await storage.agents.read(child.id, now=at(2)) == attrs.evolve(agent, updated_at=at(1))
    assert await storage.collaboration.drop_child_conversations(lease=lease) == NOTHING


async def test_without_the_lease_nothing_is_cleared(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await talkative(storage, lease, await child_of(storage, channel))
    gone = attrs.evolve(lease, fencing=FencingToken(lease.fencing + 1))
    with pytest.raises(LeaseLost):
        await storage.collaboration.drop_child_conversations(lease=gone)
    assert await loaded(storage, before.channel) == before


async def test_of_eight_runs_at_once_each_child_is_cleared_by_one(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in range(3):
        await talkative(storage, lease, await child_of(storage, channel, f"child-{number}"))
    await race(*(storage.collaboration.drop_child_conversations(lease=lease) for _ in range(WRITERS)))
    assert await storage.collaboration.drop_child_conversations(lease=lease) == NOTHING
