"""Which refusal of a research request comes first, and what an archived document still lets through."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import READER, T0, at, creation
from chopin_contract_tests.research import ask, completed, linked_job, planners, proposal, report, said, started
from chopin_core.channel import Channel
from chopin_core.errors import ChannelArchived, IdempotencyConflict, ResearchRefused, WorkspaceMissing
from chopin_core.ids import MessageId, WorkspaceId
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.research.transcript import JobRole, TurnKind

STORE = "research"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_a_start_from_another_message_is_another_request(storage: Storage, channel: Channel, lease: Lease) -> None:
    first = planners(channel.id)
    await storage.research.start(first, lease=lease)
    before = await storage.research.get(channel.id, first.proposal.id)
    other = attrs.evolve(first, proposal=attrs.evolve(first.proposal, origin_message=MessageId("another")))

    with pytest.raises(IdempotencyConflict) as refused:
        await storage.research.start(other, lease=lease)

    assert refused.value.key == first.proposal.idempotency_key
    assert await storage.research.get(channel.id, first.proposal.id) == before


async def test_a_question_repeated_is_answered_though_the_document_was_archived_meanwhile(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await started(storage, lease, channel)
    first = await storage.research.append_turn(ask(channel.id, 2), lease=lease)
    await storage.channels.archive(channel.id, now=at(90))

    again = await storage.research.append_turn(ask(channel.id, 2), lease=lease)

    assert again == attrs.evolve(first, repeated=True)
    with pytest.raises(ChannelArchived):
        await storage.research.append_turn(ask(channel.id, 3), lease=lease)


async def test_a_missing_request_is_told_before_the_kind_of_the_question(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    with pytest.raises(WorkspaceMissing) as refused:
        await storage.research.append_turn(ask(channel.id, 2, "nowhere", kind=TurnKind.INITIAL), lease=lease)
    assert refused.value.workspace_id == WorkspaceId("workspace-nowhere")


async def test_a_job_may_have_its_say_in_an_archived_document(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    job = await linked_job(storage, lease, asked, JobRole.ANSWER)
    await storage.channels.archive(channel.id, now=at(40))

    told = await storage.research.append_agent_message(said(asked, job), lease=lease)

    transcript = await storage.research.get(channel.id, asked.workspace.id)
    assert transcript is not None
    assert transcript.messages[-1] == told.message


async def test_a_published_request_keeps_its_links(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, JobRole.ANSWER))
    await storage.research.publish(report(asked, job), lease=lease)

    with pytest.raises(ResearchRefused) as refused:
        await storage.research.reset_initial(
            channel.id, asked.workspace.id, evidence_job=None, answer_job=job.id, now=at(95), lease=lease
        )

    assert refused.value.reason == "published"


async def test_of_an_archived_child_the_archive_is_told_and_not_that_it_is_a_child(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))
    asked = await started(storage, lease, child)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, JobRole.ANSWER))
    await storage.channels.archive(child.id, now=at(40))

    with pytest.raises(ChannelArchived) as refused:
        await storage.research.publish(report(asked, job), lease=lease)

    assert refused.value.channel_id == child.id


async def test_a_report_is_by_whoever_made_the_request_also_if_another_confirmed_it(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.users.put(READER, now=T0)
    made = proposal(channel.id)
    await storage.research.create(made, lease=lease)
    asked = await storage.research.confirm(ask(channel.id, 1, requested_by=READER.id), lease=lease)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, JobRole.ANSWER))

    child = (await storage.research.publish(report(asked, job), lease=lease)).channel

    assert asked.workspace.confirmed_by == READER.id
    assert child.created_by == made.created_by
