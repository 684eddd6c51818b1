"""A generated description is shown with where it came from, and moves nothing else."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, T0, at
from chopin_contract_tests.races import race
from chopin_core.channel import Channel, Description
from chopin_core.counters import DescriptionRevision, PlanRevision
from chopin_core.errors import ChannelMissing, InvalidField, LeaseLost
from chopin_core.ids import ChannelId, JobId
from chopin_core.ports.channels import Changed, DescriptionDraft
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


def draft(number: int = 1, **changes: Any) -> DescriptionDraft:
    """What the ``number``-th job made of the ``number``-th plan revision."""
    plain = DescriptionDraft(
        value=f"Summary {number} of bicycles",
        plan_revision=PlanRevision(number),
        source_hash="sha256:" + f"{number:064x}",
        job_id=JobId(f"job-{number}"),
        now=at(number),
    )
    return attrs.evolve(plain, **changes)


async def test_a_description_is_shown_with_its_provenance(storage: Storage, channel: Channel, lease: Lease) -> None:
    changed = await storage.channels.publish_description(channel.id, draft(3), lease=lease)

    shown = Description(
        value="Summary 3 of bicycles",
        revision=DescriptionRevision(1),
        plan_revision=PlanRevision(3),
        source_hash="sha256:" + f"{3:064x}",
        generator_version=1,
        job_id="job-3",
        updated_at=at(3),
    )
    assert changed == Changed(channel=attrs.evolve(channel, description=shown), changed=True)
    assert await storage.channels.get(channel.id) == changed.channel


async def test_a_newer_one_takes_its_place_and_counts_on(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.publish_description(channel.id, draft(1), lease=lease)

    changed = await storage.channels.publish_description(channel.id, draft(2), lease=lease)

    assert changed.channel.description is not None
    assert (changed.channel.description.revision, changed.channel.description.value) == (2, "Summary 2 of bicycles")


@pytest.mark.parametrize(
    "late", [draft(3), draft(2), draft(1), draft(9, job_id=JobId("job-3"))], ids=["same", "equal plan", "older", "same job"]
)
async def test_what_is_not_newer_changes_nothing(
    storage: Storage, channel: Channel, lease: Lease, late: DescriptionDraft
) -> None:
    late = attrs.evolve(late, plan_revision=PlanRevision(3)) if late == draft(2) else late
    shown = (await storage.channels.publish_description(channel.id, draft(3), lease=lease)).channel

    assert await storage.channels.publish_description(channel.id, late, lease=lease) == Changed(channel=shown, changed=False)
    assert await storage.channels.get(channel.id) == shown


async def test_nothing_else_of_the_channel_moves(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.publish_description(channel.id, draft(), lease=lease)

    found = await storage.channels.get(channel.id)

    assert found is not None
    assert (found.revision, found.updated_at, found.slug) == (channel.revision, T0, channel.slug)
    assert attrs.evolve(found, description=None) == channel


async def test_an_archived_channel_may_be_described(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(1))

    assert (await storage.channels.publish_description(channel.id, draft(), lease=lease)).changed


async def test_a_description_is_found_by_what_it_says(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.publish_description(channel.id, draft(1, value="About 100% Ölöfen"), lease=lease)

    for query in ("100%", "ölÖFEN", "about 1"):
        assert [found.id for found in (await storage.channels.list(REPOSITORY.id, query=query)).channels] == [channel.id]
    await storage.channels.publish_description(channel.id, draft(2), lease=lease)
    assert (await storage.channels.list(REPOSITORY.id, query="100%")).channels == ()


async def test_it_is_refused_for_the_first_reason(storage: Storage, channel: Channel, lease: Lease, expired: Lease) -> None:
    with pytest.raises(LeaseLost):
        await storage.channels.publish_description(ChannelId("nowhere"), draft(), lease=expired)
    with pytest.raises(ChannelMissing):
        await storage.channels.publish_description(ChannelId("nowhere"), draft(), lease=lease)
    with pytest.raises(ChannelMissing):
        await storage.channels.publish_description(ChannelId("a\0b"), draft(), lease=lease)
    assert await storage.channels.get(channel.id) == channel


@pytest.mark.parametrize(
    "changes",
    [
        {"value": ""},
        {"value": "a\0b"},
        {"source_hash": "sha256:" + "A" * 64},
        {"source_hash": "sha256:" + "a" * 64 + "\n"},
        {"source_hash": "a" * 64},
        {"generator_version": 2},
        {"job_id": ""},
    ],
)
async def test_a_draft_that_no_adapter_may_keep_is_refused_before_it_is_sent(storage: Storage, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidField):
        draft(1, **changes)


async def test_of_eight_at_once_the_newest_is_shown(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    raced = await race(
        *(
            side.channels.publish_description(channel.id, draft(number), lease=lease)
            for number, side in enumerate(sides, start=1)
        )
    )

    found = await sides[0].channels.get(channel.id)
    assert found is not None
    assert found.description is not None
    assert found.description.plan_revision == len(sides)
    assert found.description.revision == sum(changed.changed for changed in raced.won)
