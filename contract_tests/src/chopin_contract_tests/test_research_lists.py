"""Research requests are listed by document and repository, and those that wait for somebody are found after a restart."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, at, creation
from chopin_contract_tests.research import (
    ask,
    completed,
    failed,
    linked_job,
    planners,
    report,
    start,
    started,
)
from chopin_core.channel import Channel
from chopin_core.errors import (
    ResearchRefused,
)
from chopin_core.ids import ChannelId, RepositoryId, WorkspaceId
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import TerminalRecovery
from chopin_core.ports.storage import Storage
from chopin_core.research.transcript import JobRole
from chopin_core.research.workspace import InlineReference

STORE = "research"
pytestmark = pytest.mark.asyncio(loop_scope="function")

EVIDENCE, ANSWER = JobRole.EVIDENCE, JobRole.ANSWER


async def test_requests_are_listed_by_their_latest_activity(storage: Storage, channel: Channel, lease: Lease) -> None:
    for name, now in (("b", 1), ("a", 1), ("c", 2)):
        await storage.research.start(start(channel.id, name, proposal={"now": at(now)}), lease=lease)
    await storage.research.start(
        attrs.evolve(planners(channel.id, "p"), proposal=attrs.evolve(planners(channel.id, "p").proposal, now=at(3))),
        lease=lease,
    )

    names = [workspace.id.removeprefix("workspace-") for workspace in await storage.research.list(channel.id)]
    assert names == ["p", "c", "a", "b"]
    without = await storage.research.list(channel.id, limit=2, include_planner=False)
    assert [workspace.id.removeprefix("workspace-") for workspace in without] == ["c", "a"]
    assert len(await storage.research.list(channel.id, limit=0)) == 1
    assert await storage.research.list(ChannelId("nowhere")) == ()


async def test_a_repository_shows_its_documents_with_their_requests(storage: Storage, channel: Channel, lease: Lease) -> None:
    later = await storage.channels.create(creation("later", now=at(5)))
    await storage.channels.create(creation("without", now=at(6)))
    for one, name in ((channel, "1"), (later, "2"), (later, "3")):
        await storage.research.start(start(one.id, name), lease=lease)

    shown = await storage.research.list_repository(REPOSITORY.id)
    assert [(group.channel.id, len(group.workspaces)) for group in shown.channels] == [(later.id, 2), (channel.id, 1)]
    assert not shown.truncated
    short = await storage.research.list_repository(REPOSITORY.id, limit=2)
    assert ([group.channel.id for group in short.channels], short.truncated) == ([later.id], True)
    await storage.channels.archive(later.id, now=at(9))
    assert len((await storage.research.list_repository(REPOSITORY.id)).channels) == 1
    assert len((await storage.research.list_repository(REPOSITORY.id, include_archived=True)).channels) == 2
    assert (await storage.research.list_repository(RepositoryId("none"))).channels == ()


async def test_references_that_still_have_to_be_placed_are_found(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await storage.research.start(planners(channel.id, "a", inline_reference=True), lease=lease)
    await storage.research.start(planners(channel.id, "b"), lease=lease)
    recovery = storage.research.reference_recovery

    assert await recovery() == (asked.workspace,)
    assert await recovery(after=asked.workspace.id) == ()
    assert await recovery(channel_id=ChannelId("other")) == ()
    await storage.research.mark_reference_placed(channel.id, asked.workspace.id, now=at(9), lease=lease)
    placed = attrs.evolve(asked.workspace, inline_reference=InlineReference.PLACED)
    transcript = await storage.research.get(channel.id, asked.workspace.id)
    assert transcript is not None
    assert transcript.workspace == placed
    assert await recovery() == (placed,)  # nobody looks for evidence yet
    await linked_job(storage, lease, asked, EVIDENCE)
    assert await recovery() == ()
    with pytest.raises(ResearchRefused) as refused:
        await storage.research.mark_reference_placed(channel.id, WorkspaceId("workspace-b"), now=at(9), lease=lease)
    assert refused.value.reason == "no-reference"


@pytest.mark.parametrize("role", [EVIDENCE, ANSWER])
async def test_a_planners_request_that_failed_is_found(storage: Storage, channel: Channel, lease: Lease, role: JobRole) -> None:
    asked = await storage.research.start(planners(channel.id, inline_reference=True), lease=lease)
    await storage.research.mark_reference_placed(channel.id, asked.workspace.id, now=at(1), lease=lease)
    job = await linked_job(storage, lease, asked, role)
    assert await storage.research.terminal_recovery() == ()

    await failed(storage, lease, job)

    ended = TerminalRecovery(workspace_id=asked.workspace.id, channel_id=channel.id, job_id=job.id)
    assert await storage.research.terminal_recovery() == (ended,)
    assert await storage.research.terminal_recovery(after=asked.workspace.id) == ()


async def test_a_planners_request_is_found_once_its_answer_is_published(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    asked = await storage.research.start(planners(channel.id, inline_reference=True), lease=lease)
    await storage.research.mark_reference_placed(channel.id, asked.workspace.id, now=at(1), lease=lease)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))
    assert await storage.research.terminal_recovery() == ()

    await storage.research.publish(report(asked, job), lease=lease)

    assert [ended.job_id for ended in await storage.research.terminal_recovery()] == [job.id]


async def test_a_question_brings_its_request_to_the_front(storage: Storage, channel: Channel, lease: Lease) -> None:
    for name, now in (("old", 1), ("new", 2)):
        await started(storage, lease, channel, name, proposal={"now": at(now)})
    await storage.research.append_turn(ask(channel.id, 2, "old", now=at(3)), lease=lease)

    assert [found.id for found in await storage.research.list(channel.id)] == ["workspace-old", "workspace-new"]


async def test_no_page_has_more_than_100_requests_or_less_than_one(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in range(101):
        await storage.research.start(planners(channel.id, f"{number:03}", inline_reference=True), lease=lease)
    named = [f"workspace-{number:03}" for number in range(100)]
    research = storage.research

    first = await research.reference_recovery(limit=1000)
    assert [found.id for found in first] == named
    assert await research.reference_recovery() == first
    assert [found.id for found in await research.reference_recovery(after=first[-1].id)] == ["workspace-100"]
    assert [found.id for found in await research.list(channel.id, limit=1000)] == named
    shown = await research.list_repository(REPOSITORY.id, limit=1000)
    assert [[found.id for found in group.workspaces] for group in shown.channels] == [named]
    assert shown.truncated
    for limit in (-1, 0, 1):
        assert [found.id for found in await research.reference_recovery(limit=limit)] == named[:1]
        assert [found.id for found in await research.list(channel.id, limit=limit)] == named[:1]
        [group] = (await research.list_repository(REPOSITORY.id, limit=limit)).channels
        assert [found.id for found in group.workspaces] == named[:1]


async def test_requests_that_ended_are_found_page_by_page(storage: Storage, channel: Channel, lease: Lease) -> None:
    for name in ("a", "b"):
        asked = await storage.research.start(planners(channel.id, name, inline_reference=True), lease=lease)
        await storage.research.mark_reference_placed(channel.id, asked.workspace.id, now=at(1), lease=lease)
        await failed(storage, lease, await linked_job(storage, lease, asked, EVIDENCE))
    recovery = storage.research.terminal_recovery

    both = await recovery()
    assert [ended.workspace_id for ended in both] == ["workspace-a", "workspace-b"]
    for limit in (-1, 0, 1):
        assert list(await recovery(limit=limit)) == list(both)[:1]
    assert list(await recovery(after=both[0].workspace_id)) == list(both)[1:]
    assert list(await recovery(channel_id=ChannelId("other"))) == []


async def test_what_belongs_to_another_document_is_not_found(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("other"))
    asked = await started(storage, lease, channel)
    job = await completed(storage, lease, await linked_job(storage, lease, asked, ANSWER))
    child = (await storage.research.publish(report(asked, job), lease=lease)).channel

    for document, found in ((channel, True), (other, False)):
        assert (await storage.research.find(document.id, "key 1") is not None) is found
        assert (await storage.research.find_published(document.id, child.id) is not None) is found
        assert (await storage.research.find_turn(document.id, job.id) is not None) is found
        assert (await storage.research.get(document.id, asked.workspace.id) is not None) is found
