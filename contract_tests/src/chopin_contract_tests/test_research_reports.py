"""Jobs work on the turns of a request, and what they find becomes one child document, for ever."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import REPOSITORY, at, creation, initial
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.research import (
    ask,
    completed,
    failed,
    job_for,
    linked_job,
    proposal,
    report,
    said,
    start,
    started,
)
from chopin_core.channel import Channel
from chopin_core.errors import (
    ChannelArchived,
    ChannelReferred,
    IdempotencyConflict,
    JobMissing,
    LeaseLost,
    ResearchRefused,
    TurnMissing,
)
from chopin_core.ids import JobId, MessageId, TurnId
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import Asked
from chopin_core.ports.storage import Storage
from chopin_core.research.transcript import Author, JobRole, Transcript
from chopin_core.research.workspace import report_id

STORE = "research"
pytestmark = pytest.mark.asyncio(loop_scope="function")

EVIDENCE, ANSWER = JobRole.EVIDENCE, JobRole.ANSWER


@pytest_asyncio.fixture(loop_scope="function")
async def asked(storage: Storage, channel: Channel, lease: Lease) -> Asked:
    return await started(storage, lease, channel)


async def transcript(storage: Storage, asked: Asked) -> Transcript:
    found = await storage.research.get(asked.workspace.channel_id, asked.workspace.id)
    assert found is not None
    return found


def refusal(caught: pytest.ExceptionInfo[ResearchRefused]) -> str:
    return caught.value.reason


# Links


async def test_a_job_is_linked_to_its_turn_in_its_role(storage: Storage, lease: Lease, asked: Asked) -> None:
    channel_id, workspace = asked.workspace.channel_id, asked.workspace
    job = await job_for(storage, lease, asked, EVIDENCE)

    linked = await storage.research.link_job(channel_id, workspace.id, asked.turn.id, EVIDENCE, job.id, now=at(5), lease=lease)

    assert (linked.turn.evidence_job, linked.turn.answer_job, linked.repeated) == (job.id, None, False)
    assert (linked.workspace.revision, linked.workspace.updated_at) == (1, at(5))
    assert await storage.research.find_turn(channel_id, job.id) == linked.turn
    again = await storage.research.link_job(channel_id, workspace.id, asked.turn.id, EVIDENCE, job.id, now=at(9), lease=lease)
    assert again == attrs.evolve(linked, repeated=True)
    await storage.channels.archive(channel_id, now=at(10))
    answer = await job_for(storage, lease, asked, ANSWER)
    await storage.research.link_job(channel_id, workspace.id, asked.turn.id, ANSWER, answer.id, now=at(11), lease=lease)


async def test_only_the_job_that_is_made_for_it_works_on_a_turn(storage: Storage, lease: Lease, asked: Asked) -> None:
    channel_id, workspace, turn = asked.workspace.channel_id, asked.workspace, asked.turn

    async def link(role: JobRole, job_id: JobId, turn_id: TurnId = turn.id) -> None:
        await storage.research.link_job(channel_id, workspace.id, turn_id, role, job_id, now=at(5), lease=lease)

    evidence = await job_for(storage, lease, asked, EVIDENCE)
    with pytest.raises(TurnMissing):
        await link(EVIDENCE, evidence.id, TurnId("nowhere"))
    with pytest.raises(JobMissing):
        await link(EVIDENCE, JobId("nowhere"))
    with pytest.raises(ResearchRefused) as refused:
        await link(ANSWER, evidence.id)
    assert refusal(refused) == "job-unfit"
    stray = await job_for(storage, lease, asked, ANSWER, "stray", type="summary")
    with pytest.raises(ResearchRefused) as refused:
        await link(ANSWER, stray.id)
    assert refusal(refused) == "job-unfit"
    later = await job_for(storage, lease, asked, EVIDENCE, "later")  # takes the target over
    with pytest.raises(ResearchRefused) as refused:
        await link(EVIDENCE, evidence.id)
    assert refusal(refused) == "job-unfit"
    await link(EVIDENCE, later.id)
    latest = await job_for(storage, lease, asked, EVIDENCE, "latest")
    with pytest.raises(ResearchRefused) as refused:
        await link(EVIDENCE, latest.id)
    assert refusal(refused) == "linked"
    assert (await transcript(storage, asked)).turns[0].evidence_job == later.id


async def test_links_of_the_initial_turn_are_taken_away_once_a_job_of_them_failed(
    storage: Storage, lease: Lease, asked: Asked
) -> None:
    channel_id, workspace = asked.workspace.channel_id, asked.workspace
    evidence = await linked_job(storage, lease, asked, EVIDENCE)

    async def reset(**jobs: Any) -> Any:
        expected = {"evidence_job": evidence.id, "answer_job": None, **jobs}
        return await storage.research.reset_initial(channel_id, workspace.id, **expected, now=at(30), lease=lease)

    with pytest.raises(ResearchRefused) as refused:
        await reset(answer_job=JobId("other"))
    assert refusal(refused) == "linked"
    with pytest.raises(ResearchRefused) as refused:
        await reset()
    assert refusal(refused) == "open"
    await failed(storage, lease, evidence)
    unlinked = await reset()
    assert (unlinked.turn.evidence_job, unlinked.workspace.revision, unlinked.repeated) == (None, 2, False)
    again = await reset(evidence_job=None)
    assert again == attrs.evolve(unlinked, repeated=True)
    await storage.channels.archive(channel_id, now=at(40))
    with pytest.raises(ChannelArchived):
        await reset(evidence_job=None)


async def test_links_of_completed_jobs_stay(storage: Storage, lease: Lease, asked: Asked) -> None:
    evidence = await completed(storage, lease, await linked_job(storage, lease, asked, EVIDENCE))

    with pytest.raises(ResearchRefused) as refused:
        await storage.research.reset_initial(
            asked.workspace.channel_id, asked.workspace.id, evidence_job=evidence.id, answer_job=None, now=at(30), lease=lease
        )
    assert refusal(refused) == "completed"


async def test_a_request_that_was_never_confirmed_has_no_links_to_take_away(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    staged = await storage.research.create(proposal(channel.id), lease=lease)

    with pytest.raises(ResearchRefused) as refused:
        await storage.research.reset_initial(
            channel.id, staged.workspace.id, evidence_job=None, answer_job=None, now=at(1), lease=lease
        )
    assert refusal(refused) == "unconfirmed"


# Messages of agents


async def test_the_answering_job_says_one_thing_once(storage: Storage, lease: Lease, asked: Asked) -> None:
    job = await linked_job(storage, lease, asked, ANSWER)

    told = await storage.research.append_agent_message(said(asked, job), lease=lease)

    assert (told.message.sequence, told.message.author, told.message.source_job) == (2, Author.AGENT, job.id)
    assert (told.workspace.messages, told.workspace.revision) == (2, 2)
    again = await storage.research.append_agent_message(said(asked, job, message_id=MessageId("other")), lease=lease)
    assert again == attrs.evolve(told, repeated=True)
    with pytest.raises(IdempotencyConflict):
        await storage.research.append_agent_message(said(asked, job, text="Another answer."), lease=lease)
    assert (await transcript(storage, asked)).messages[1:] == (told.message,)


async def test_no_other_job_speaks_in_a_turn(storage: Storage, lease: Lease, asked: Asked) -> None:
    evidence = await linked_job(storage, lease, asked, EVIDENCE)

    with pytest.raises(ResearchRefused) as refused:
        await storage.research.append_agent_message(said(asked, evidence), lease=lease)
    assert refusal(refused) == "job-unfit"
    with pytest.raises(TurnMissing):
        await storage.research.append_agent_message(said(asked, evidence, turn_id=TurnId("nowhere")), lease=lease)
    assert len((await transcript(storage, asked)).messages) == 1


# The report


async def test_a_report_becomes_a_child_with_its_document_and_a_link_in_one_step(
    storage: Storage, channel: Channel, lease: Lease, asked: Asked
) -> None:
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))

    published = await storage.research.publish(report(asked, job), lease=lease)

    child = published.channel
    assert child.id == report_id(channel.repository.id, asked.workspace.id)
    assert (child.parent_id, child.title, child.created_by) == (channel.id, "What was found", asked.workspace.created_by)
    assert (published.workspace.published_channel, published.workspace.revision) == (child.id, 2)
    stored = await storage.collaboration.load(child.id)
    assert stored is not None
    assert stored.snapshot is not None
    assert (stored.snapshot.document, stored.snapshot.revision, stored.snapshot.through) == (initial().document, 0, 0)
    assert await storage.research.find_published(channel.id, child.id) == published.workspace
    assert await storage.channels.resolve(REPOSITORY.id, "what-was-found") == child


async def test_publishing_again_answers_the_child_as_it_is_now(
    storage: Storage, channel: Channel, lease: Lease, asked: Asked
) -> None:
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))
    published = await storage.research.publish(report(asked, job), lease=lease)
    renamed = (await storage.channels.rename(published.channel.id, "Renamed", now=at(70))).channel
    await storage.channels.archive(channel.id, now=at(80))

    again = await storage.research.publish(report(asked, job, title="Other"), lease=lease)

    assert (again.repeated, again.channel, again.workspace) == (True, renamed, published.workspace)


async def test_a_title_that_is_taken_is_numbered(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.create(creation("taken", title="WHAT was found"))
    titles = []
    for name in ("1", "2"):
        asked = await started(storage, lease, channel, name)
        job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))
        titles.append((await storage.research.publish(report(asked, job), lease=lease)).channel.title)
    assert titles == ["What was found (2)", "What was found (3)"]


async def test_a_report_is_refused_for_the_first_reason_and_then_nothing_is_there(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, asked: Asked
) -> None:
    job = await job_for(storage, lease, asked, ANSWER)
    with pytest.raises(LeaseLost):
        await storage.research.publish(report(asked, job), lease=expired)
    with pytest.raises(ResearchRefused) as refused:
        await storage.research.publish(report(asked, job), lease=lease)
    assert refusal(refused) == "linked"
    await storage.research.link_job(channel.id, asked.workspace.id, asked.turn.id, ANSWER, job.id, now=at(5), lease=lease)
    with pytest.raises(ResearchRefused) as refused:
        await storage.research.publish(report(asked, job), lease=lease)
    assert refusal(refused) == "unfinished"
    await completed(storage, lease, job)
    await storage.channels.archive(channel.id, now=at(30))
    with pytest.raises(ChannelArchived):
        await storage.research.publish(report(asked, job), lease=lease)
    assert await storage.channels.get(report_id(channel.repository.id, asked.workspace.id)) is None
    assert (await transcript(storage, asked)).workspace.published_channel is None


async def test_a_child_has_no_reports_of_its_own(storage: Storage, channel: Channel, lease: Lease) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))
    asked = await started(storage, lease, child)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))

    with pytest.raises(ResearchRefused) as refused:
        await storage.research.publish(report(asked, job), lease=lease)
    assert refusal(refused) == "parent"


async def test_a_published_child_cannot_be_deleted_and_nor_can_its_parent(
    storage: Storage, channel: Channel, lease: Lease, asked: Asked
) -> None:
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))
    child = (await storage.research.publish(report(asked, job), lease=lease)).channel
    for one in (child.id, channel.id):
        await storage.channels.archive(one, now=at(90))

    for one in (child.id, channel.id):
        with pytest.raises(ChannelReferred):
            await storage.channels.delete(one)


async def test_of_eight_publications_at_once_one_makes_the_child(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    asked = await started(sides[0], lease, channel)
    job = await completed(sides[0], lease, await linked_job(sides[0], lease, asked, ANSWER))

    raced = await race(*(side.research.publish(report(asked, job), lease=lease) for side in sides))

    assert sorted(published.repeated for published in raced.won) == [False] + [True] * (WRITERS - 1)
    assert len({published.channel for published in raced.won}) == 1


async def test_a_deleted_document_takes_its_requests_along_and_frees_their_keys(
    storage: Storage, channel: Channel, lease: Lease, asked: Asked
) -> None:
    job = await linked_job(storage, lease, asked, ANSWER)
    await storage.research.append_agent_message(said(asked, job), lease=lease)
    await storage.channels.archive(channel.id, now=at(90))

    assert await storage.channels.delete(channel.id)

    again = await storage.channels.create(creation())
    assert await storage.research.list(again.id) == ()
    fresh = await storage.research.start(start(again.id), lease=lease)
    assert not fresh.repeated


async def test_another_turn_may_have_jobs_of_its_own(storage: Storage, channel: Channel, lease: Lease, asked: Asked) -> None:
    first = await linked_job(storage, lease, asked, EVIDENCE)
    more = await storage.research.append_turn(ask(channel.id, 2), lease=lease)
    second = await linked_job(storage, lease, more, EVIDENCE)

    turns = (await transcript(storage, asked)).turns
    assert [turn.evidence_job for turn in turns] == [first.id, second.id]
    assert await storage.research.find_turn(channel.id, JobId("nowhere")) is None
