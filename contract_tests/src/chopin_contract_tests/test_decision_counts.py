"""How many decisions wait for an answer, by document and for a repository."""

from __future__ import annotations

from typing import Any

import pytest

from chopin_contract_tests.builders import ELSEWHERE, REPOSITORY, at, commit, creation, initial, question, sidecar
from chopin_core.channel import Channel
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.ports.channels import DecisionCount
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def asking(storage: Storage, id: str, questions: int, **changes: Any) -> Channel:
    """A channel whose document asks so many questions."""
    asked = initial(sidecar=sidecar(0, questions=[question(questions=questions)]))
    return await storage.channels.create(creation(id, initial=asked, **changes))


async def test_each_document_is_counted_with_its_revision(storage: Storage, lease: Lease) -> None:
    two, three = await asking(storage, "two", 2), await asking(storage, "three", 3)
    await storage.collaboration.commit(commit(three, sidecar=sidecar(1, questions=[question(questions=4)])), lease=lease)

    counts = await storage.channels.unanswered_counts(REPOSITORY.id, [two.id, three.id, two.id])

    assert counts == (
        DecisionCount(channel_id=three.id, revision=counts[0].revision, unanswered=4),
        DecisionCount(channel_id=two.id, revision=two.revision, unanswered=2),
    )
    assert counts[0].revision == 1


async def test_only_documents_of_the_repository_are_counted_archived_or_not(storage: Storage) -> None:
    here, away = await asking(storage, "here", 1), await asking(storage, "away", 2)
    there = await asking(storage, "there", 3, repository=ELSEWHERE)
    await storage.channels.archive(away.id, now=at(1))

    asked = [here.id, away.id, there.id, ChannelId("nowhere"), ChannelId("a\0b")]
    counts = await storage.channels.unanswered_counts(REPOSITORY.id, asked)

    assert {count.channel_id: count.unanswered for count in counts} == {here.id: 1, away.id: 2}
    assert await storage.channels.unanswered_counts(REPOSITORY.id, []) == ()
    assert await storage.channels.unanswered_counts(RepositoryId("\ud800"), asked) == ()


async def test_the_total_is_that_of_what_the_catalogue_shows(storage: Storage) -> None:
    parent = await asking(storage, "parent", 1)
    await asking(storage, "child", 10, parent_id=parent.id)
    away = await asking(storage, "away", 100)
    await asking(storage, "there", 1000, repository=ELSEWHERE)
    assert await storage.channels.unanswered_decisions(REPOSITORY.id) == 111

    await storage.channels.archive(away.id, now=at(1))
    assert await storage.channels.unanswered_decisions(REPOSITORY.id) == 11
    await storage.channels.archive(parent.id, now=at(2))
    assert await storage.channels.unanswered_decisions(REPOSITORY.id) == 0
    shown = (await storage.channels.list(REPOSITORY.id)).channels
    assert sum(channel.unanswered_decisions for channel in shown) == 0
    assert await storage.channels.unanswered_decisions(RepositoryId("none")) == 0
