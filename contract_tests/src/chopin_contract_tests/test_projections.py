"""A commit adds or takes away the block of a research request only while the request allows it."""

from __future__ import annotations

from typing import Any

import pytest

from chopin_contract_tests.builders import at, commit, creation, event, sidecar
from chopin_contract_tests.research import (
    claimed,
    completed,
    failed,
    job_for,
    linked_job,
    planners,
    proposal,
    report,
    start,
    started,
)
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.errors import (
    ChannelMissing,
    ChopinError,
    EventRepeated,
    InvalidField,
    ProjectionRefused,
    StaleWrite,
    TitleTaken,
)
from chopin_core.ids import ChannelId, WorkspaceId
from chopin_core.jobs.job import JobState
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import Asked
from chopin_core.ports.storage import Storage
from chopin_core.research.projections import ProjectionAction, ProjectionChange
from chopin_core.research.transcript import JobRole
from chopin_core.research.workspace import Origin

pytestmark = pytest.mark.asyncio(loop_scope="function")

ADD, REMOVE = ProjectionAction.ADD, ProjectionAction.REMOVE
EVIDENCE, ANSWER = JobRole.EVIDENCE, JobRole.ANSWER


def changing(action: ProjectionAction, *requests: str) -> tuple[ProjectionChange, ...]:
    return tuple(ProjectionChange(workspace_id=WorkspaceId(f"workspace-{name}"), action=action) for name in requests or ("1",))


async def fits(storage: Storage, channel: Channel, lease: Lease, action: ProjectionAction, *requests: str) -> bool:
    """Whether a commit may do that now; if it may, it is kept, and if not, nothing of it is."""
    before = await storage.collaboration.load(channel.id)
    assert before is not None
    number = before.channel.revision + 1
    wanted = commit(before.channel, number, update=b"block", sidecar=sidecar(number), projections=changing(action, *requests))
    try:
        await storage.collaboration.commit(wanted, lease=lease)
    except ProjectionRefused:
        assert await storage.collaboration.load(channel.id) == before
        assert await storage.collaboration.operation(channel.id, wanted.operation_id) is None
        return False
    after = await storage.collaboration.load(channel.id)
    assert after is not None and after.channel.revision == number
    return True


async def brought_to(storage: Storage, lease: Lease, channel: Channel, asked: Asked, role: JobRole, state: JobState) -> None:
    """A linked job, moved into a state."""
    job = await linked_job(storage, lease, asked, role)
    match state:
        case JobState.RUNNING:
            await claimed(storage, lease, job)
        case JobState.COMPLETED:
            await completed(storage, lease, job)
        case JobState.FAILED:
            await failed(storage, lease, job)
        case JobState.PAUSED:
            await storage.jobs.pause(channel.id, job.id, expected=job.revision, reason="later", now=at(9), lease=lease)
        case JobState.CANCELLED:
            await storage.jobs.cancel(channel.id, job.id, reason="enough", now=at(9), lease=lease)
        case JobState.SUPERSEDED:
            await job_for(storage, lease, asked, role, "a later one")


@pytest.mark.parametrize("role", [EVIDENCE, ANSWER])
@pytest.mark.parametrize("state", list(JobState))
async def test_a_block_is_added_while_its_job_may_still_succeed_and_taken_away_when_it_did_not(
    storage: Storage, channel: Channel, lease: Lease, role: JobRole, state: JobState
) -> None:
    asked = await started(storage, lease, channel)
    await brought_to(storage, lease, channel, asked, role, state)
    hopeless = state in (JobState.FAILED, JobState.CANCELLED, JobState.SUPERSEDED)
    assert await fits(storage, channel, lease, ADD) is not hopeless
    assert await fits(storage, channel, lease, REMOVE) is hopeless


async def test_without_a_job_there_is_nothing_to_show(storage: Storage, channel: Channel, lease: Lease) -> None:
    await started(storage, lease, channel)
    assert not await fits(storage, channel, lease, ADD)
    assert await fits(storage, channel, lease, REMOVE)


async def test_the_answering_job_decides_once_there_is_one(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    await brought_to(storage, lease, channel, asked, EVIDENCE, JobState.COMPLETED)
    assert await fits(storage, channel, lease, ADD)
    await brought_to(storage, lease, channel, asked, ANSWER, JobState.FAILED)
    assert not await fits(storage, channel, lease, ADD)
    assert await fits(storage, channel, lease, REMOVE)


async def test_a_published_request_is_taken_away_and_not_added(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    answer = await linked_job(storage, lease, asked, ANSWER)
    await completed(storage, lease, answer)
    await storage.research.publish(report(asked, answer), lease=lease)
    assert not await fits(storage, channel, lease, ADD)
    assert await fits(storage, channel, lease, REMOVE)


async def test_only_an_inline_request_is_added(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await storage.research.start(planners(channel.id), lease=lease)
    await linked_job(storage, lease, asked, EVIDENCE)
    assert not await fits(storage, channel, lease, ADD)
    await storage.research.create(proposal(channel.id, "2", origin=Origin.SIDEBAR), lease=lease)
    assert not await fits(storage, channel, lease, ADD, "2")


async def test_a_request_of_nobody_or_of_another_channel_is_neither(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2", title="Elsewhere"))
    asked = await storage.research.start(start(other.id), lease=lease)
    await linked_job(storage, lease, asked, EVIDENCE)
    for action in ProjectionAction:
        assert not await fits(storage, channel, lease, action)
        assert not await fits(storage, channel, lease, action, "that nobody made")


async def test_one_request_that_refuses_refuses_all_and_the_first_by_id_is_named(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    for name in ("1", "2", "3"):
        asked = await started(storage, lease, channel, name)
        if name == "1":
            await linked_job(storage, lease, asked, EVIDENCE)
    assert await fits(storage, channel, lease, ADD, "1")
    wanted = commit(channel, 2, update=b"blocks", projections=changing(ADD, "3", "1", "2"))
    with pytest.raises(ProjectionRefused) as refusal:
        await storage.collaboration.commit(wanted, lease=lease)
    assert refusal.value.workspace_id == "workspace-2"


async def test_a_repeat_is_answered_though_the_request_has_moved_on(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    job = await linked_job(storage, lease, asked, EVIDENCE)
    wanted = commit(channel, update=b"block", projections=changing(ADD))
    kept = await storage.collaboration.commit(wanted, lease=lease)
    await failed(storage, lease, job)
    again = await storage.collaboration.commit(wanted, lease=lease)
    assert (again.revision, again.sequence, again.repeated) == (kept.revision, kept.sequence, True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"expected": 7}, StaleWrite),
        ({}, ProjectionRefused),
        ({"projections": ()}, TitleTaken),
        ({"projections": (), "title": None}, EventRepeated),
    ],
)
async def test_the_first_of_several_reasons_is_given(
    storage: Storage, channel: Channel, lease: Lease, changes: dict[str, Any], expected: type[ChopinError]
) -> None:
    await storage.channels.create(creation("channel-2", title="Taken"))
    await started(storage, lease, channel)
    whole: dict[str, Any] = {
        "events": (event(), event()),
        "title": TitleChange(title="Taken", titles=TitlePolicy.UNIQUE),
        "projections": changing(ADD),
    }
    with pytest.raises(expected):
        await storage.collaboration.commit(commit(channel, **{**whole, **changes}), lease=lease)


async def test_a_block_and_a_title_go_together(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await started(storage, lease, channel)
    await linked_job(storage, lease, asked, EVIDENCE)
    wanted = commit(channel, update=b"block", title=TitleChange(title="With research"), projections=changing(ADD))
    await storage.collaboration.commit(wanted, lease=lease)
    after = await storage.channels.get(channel.id)
    assert after is not None
    assert (after.title, after.slug, after.revision) == ("With research", "with-research", 1)


async def test_a_request_is_named_once_and_never_in_a_commit_to_an_archived_channel(channel: Channel) -> None:
    with pytest.raises(InvalidField):
        commit(channel, projections=changing(ADD, "1", "1"))
    with pytest.raises(InvalidField):
        commit(channel, sidecar=sidecar(), allow_archived=True, projections=changing(REMOVE))
    with pytest.raises(InvalidField):
        ProjectionChange(workspace_id=WorkspaceId("nul \x00"), action=ADD)


async def test_a_channel_that_is_gone_is_reported_before_its_requests(storage: Storage, channel: Channel, lease: Lease) -> None:
    with pytest.raises(ChannelMissing):
        await storage.collaboration.commit(
            commit(channel, channel_id=ChannelId("nowhere"), projections=changing(ADD)), lease=lease
        )
