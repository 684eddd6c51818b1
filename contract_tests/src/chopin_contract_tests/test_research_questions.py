"""A research request is staged once, confirmed once, and asked more in the order of asking."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, ELSEWHERE, T0, at, creation
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.research import ask, planners, proposal, start
from chopin_core.channel import Channel
from chopin_core.errors import (
    ChannelArchived,
    ChannelMissing,
    IdempotencyConflict,
    InvalidField,
    LeaseLost,
    ResearchRefused,
    UserMissing,
    WorkspaceMissing,
)
from chopin_core.ids import ChannelId, MessageId, TurnId, UserId, WorkspaceId
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import Staged
from chopin_core.ports.storage import Storage
from chopin_core.research.transcript import Author, TurnKind
from chopin_core.research.workspace import InlineReference, Origin

STORE = "research"
pytestmark = pytest.mark.asyncio(loop_scope="function")

NOWHERE = ChannelId("nowhere")


# Staging


async def test_a_staged_request_is_unconfirmed_and_found_again(storage: Storage, channel: Channel, lease: Lease) -> None:
    staged = await storage.research.create(proposal(channel.id), lease=lease)

    workspace = staged.workspace
    assert (staged.repeated, workspace.confirmed, workspace.revision, workspace.turns) == (False, False, 0, 0)
    assert (workspace.title, workspace.proposed_question) == ("Research 1", "What of 1?")
    transcript = await storage.research.get(channel.id, workspace.id)
    assert transcript is not None
    assert (transcript.workspace, transcript.turns, transcript.messages) == (workspace, (), ())
    assert await storage.research.find(channel.id, "key 1") == workspace


async def test_the_same_request_again_is_the_same_workspace_whatever_else_it_says(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    staged = await storage.research.create(proposal(channel.id), lease=lease)
    again = proposal(channel.id, id=WorkspaceId("another"), title="Other", question="Other?", now=at(9))

    assert await storage.research.create(again, lease=lease) == Staged(workspace=staged.workspace, repeated=True)
    assert await storage.research.get(channel.id, WorkspaceId("another")) is None


async def test_a_key_that_was_used_for_another_request_is_a_conflict(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.research.create(proposal(channel.id), lease=lease)

    with pytest.raises(IdempotencyConflict):
        await storage.research.create(proposal(channel.id, fingerprint="other"), lease=lease)


async def test_a_repeat_is_answered_though_the_document_was_archived_meanwhile(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.research.create(proposal(channel.id), lease=lease)
    await storage.channels.archive(channel.id, now=at(1))

    assert (await storage.research.create(proposal(channel.id), lease=lease)).repeated
    with pytest.raises(ChannelArchived):
        await storage.research.create(proposal(channel.id, "2"), lease=lease)
    assert await storage.research.find(channel.id, "key 2") is None


async def test_staging_is_refused_for_the_first_reason(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease
) -> None:
    stranger = UserId("nobody")
    with pytest.raises(LeaseLost):
        await storage.research.create(proposal(NOWHERE), lease=expired)
    with pytest.raises(ChannelMissing):
        await storage.research.create(proposal(NOWHERE, created_by=stranger), lease=lease)
    with pytest.raises(UserMissing):
        await storage.research.create(proposal(channel.id, created_by=stranger), lease=lease)
    await storage.channels.archive(channel.id, now=at(1))
    with pytest.raises(ChannelArchived):
        await storage.research.create(proposal(channel.id, created_by=stranger), lease=lease)
    assert await storage.research.list(channel.id) == ()


async def test_a_workspace_id_is_used_once(storage: Storage, channel: Channel, lease: Lease) -> None:
    first = (await storage.research.create(proposal(channel.id), lease=lease)).workspace

    with pytest.raises(IdempotencyConflict):
        await storage.research.create(proposal(channel.id, "2", id=first.id), lease=lease)
    assert await storage.research.list(channel.id) == (first,)


@pytest.mark.parametrize("field", ["id", "title", "question", "idempotency_key", "fingerprint"])
@pytest.mark.parametrize("text", ["", "a\0b", "\ud800"], ids=["empty", "nul", "surrogate"])
async def test_a_request_that_cannot_be_kept_is_refused_before_it_is_sent(
    storage: Storage, channel: Channel, field: str, text: str
) -> None:
    with pytest.raises(InvalidField):
        proposal(channel.id, **{field: text})


# Starting at once


async def test_a_request_can_begin_confirmed(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await storage.research.start(start(channel.id), lease=lease)

    assert not asked.repeated
    assert (asked.workspace.query, asked.workspace.confirmed_by) == ("What of 1?", AUTHOR.id)
    assert (asked.workspace.revision, asked.workspace.turns, asked.workspace.messages) == (0, 1, 1)
    assert (asked.turn.ordinal, asked.turn.kind, asked.turn.question) == (1, TurnKind.INITIAL, "What of 1?")
    assert (asked.message.sequence, asked.message.author, asked.message.text) == (1, Author.MEMBER, "What of 1?")
    assert (asked.message.user_id, asked.message.handle, asked.message.turn_id) == (AUTHOR.id, "ada", asked.turn.id)
    transcript = await storage.research.get(channel.id, asked.workspace.id)
    assert transcript is not None
    assert (transcript.turns, transcript.messages) == ((asked.turn,), (asked.message,))


async def test_a_start_repeated_is_answered_as_it_is_now(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await storage.research.start(start(channel.id), lease=lease)
    await storage.channels.archive(channel.id, now=at(1))

    again = await storage.research.start(start(channel.id, turn_id=TurnId("other"), handle="other"), lease=lease)

    assert again == attrs.evolve(asked, repeated=True)


async def test_a_planners_request_may_ask_for_its_reference_later(storage: Storage, channel: Channel, lease: Lease) -> None:
    asked = await storage.research.start(planners(channel.id), lease=lease)
    assert asked.workspace.inline_reference is None

    again = await storage.research.start(planners(channel.id, inline_reference=True), lease=lease)

    assert again.workspace == attrs.evolve(asked.workspace, inline_reference=InlineReference.PENDING)
    assert again.repeated
    once_more = await storage.research.start(planners(channel.id), lease=lease)
    assert once_more.workspace == again.workspace


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "other"},
        {"origin": Origin.PLANNER, "origin_message": MessageId("chat")},
    ],
    ids=["fingerprint", "origin"],
)
async def test_a_start_under_a_used_key_is_a_conflict(
    storage: Storage, channel: Channel, lease: Lease, changes: dict[str, object]
) -> None:
    await storage.research.start(start(channel.id), lease=lease)

    with pytest.raises(IdempotencyConflict):
        await storage.research.start(start(channel.id, proposal=changes), lease=lease)


async def test_a_start_does_not_repeat_what_was_only_staged(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.research.create(proposal(channel.id, origin=Origin.INLINE), lease=lease)

    with pytest.raises(IdempotencyConflict):
        await storage.research.start(start(channel.id), lease=lease)


async def test_only_the_planner_names_a_message_and_asks_for_a_reference(storage: Storage, channel: Channel) -> None:
    with pytest.raises(InvalidField):
        start(channel.id, proposal={"origin": Origin.SIDEBAR})
    with pytest.raises(InvalidField):
        start(channel.id, proposal={"origin": Origin.PLANNER})
    with pytest.raises(InvalidField):
        start(channel.id, proposal={"origin_message": MessageId("chat")})
    with pytest.raises(InvalidField):
        start(channel.id, inline_reference=True)


# Confirming and asking more


async def test_a_confirmation_sets_the_question_and_begins_the_transcript(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.research.create(proposal(channel.id), lease=lease)

    asked = await storage.research.confirm(ask(channel.id), lease=lease)

    assert (asked.workspace.query, asked.workspace.confirmed_by) == ("Question 1 of 1?", AUTHOR.id)
    assert (asked.workspace.revision, asked.workspace.updated_at) == (1, at(1))
    assert (asked.turn.ordinal, asked.message.sequence, asked.repeated) == (1, 1, False)


async def test_a_confirmation_repeated_changes_nothing_and_another_one_is_refused(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.research.create(proposal(channel.id), lease=lease)
    asked = await storage.research.confirm(ask(channel.id), lease=lease)

    again = await storage.research.confirm(ask(channel.id, turn_id=TurnId("other"), now=at(99)), lease=lease)
    assert again == attrs.evolve(asked, repeated=True)
    with pytest.raises(IdempotencyConflict):
        await storage.research.confirm(ask(channel.id, question="Another?"), lease=lease)
    with pytest.raises(ResearchRefused) as refused:
        await storage.research.confirm(ask(channel.id, request_id="new", turn_id=TurnId("new")), lease=lease)
    assert refused.value.reason == "confirmed"
    await storage.channels.archive(channel.id, now=at(2))
    assert (await storage.research.confirm(ask(channel.id), lease=lease)).repeated
    with pytest.raises(ChannelArchived):
        await storage.research.confirm(ask(channel.id, request_id="new", turn_id=TurnId("new")), lease=lease)


async def test_turns_follow_each_other_without_a_gap(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.research.start(start(channel.id), lease=lease)

    for number in (2, 3, 4):
        kind = TurnKind.SEARCH_MORE if number == 3 else TurnKind.FOLLOW_UP
        asked = await storage.research.append_turn(ask(channel.id, number, kind=kind), lease=lease)
        assert (asked.turn.ordinal, asked.message.sequence, asked.workspace.revision) == (number, number, number - 1)

    transcript = await storage.research.get(channel.id, WorkspaceId("workspace-1"))
    assert transcript is not None
    assert [turn.kind for turn in transcript.turns] == [
        TurnKind.INITIAL,
        TurnKind.FOLLOW_UP,
        TurnKind.SEARCH_MORE,
        TurnKind.FOLLOW_UP,
    ]
    assert [message.text for message in transcript.messages][1:] == [f"Question {n} of 1?" for n in (2, 3, 4)]


async def test_a_turn_repeated_is_answered_and_other_content_under_its_request_is_a_conflict(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.research.start(start(channel.id), lease=lease)
    asked = await storage.research.append_turn(ask(channel.id, 2), lease=lease)

    assert await storage.research.append_turn(ask(channel.id, 2), lease=lease) == attrs.evolve(asked, repeated=True)
    for other in ({"question": "Another?"}, {"handle": "ben"}, {"kind": TurnKind.SEARCH_MORE}, {"fingerprint": "other"}):
        with pytest.raises(IdempotencyConflict):
            await storage.research.append_turn(ask(channel.id, 2, **other), lease=lease)
    transcript = await storage.research.get(channel.id, asked.workspace.id)
    assert transcript is not None
    assert transcript.workspace == asked.workspace


async def test_asking_more_is_refused_for_the_first_reason(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease
) -> None:
    with pytest.raises(LeaseLost):
        await storage.research.append_turn(ask(NOWHERE, 2), lease=expired)
    with pytest.raises(ChannelMissing):
        await storage.research.append_turn(ask(NOWHERE, 2), lease=lease)
    with pytest.raises(WorkspaceMissing):
        await storage.research.append_turn(ask(channel.id, 2), lease=lease)
    await storage.research.create(proposal(channel.id), lease=lease)
    with pytest.raises(InvalidField):
        await storage.research.append_turn(ask(channel.id, 1), lease=lease)
    with pytest.raises(ResearchRefused) as refused:
        await storage.research.append_turn(ask(channel.id, 2), lease=lease)
    assert refused.value.reason == "unconfirmed"
    await storage.channels.archive(channel.id, now=at(1))
    with pytest.raises(ChannelArchived):
        await storage.research.append_turn(ask(channel.id, 2), lease=lease)


async def test_a_workspace_of_another_channel_is_missing(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2", repository=ELSEWHERE))
    asked = await storage.research.start(start(channel.id), lease=lease)

    assert await storage.research.get(other.id, asked.workspace.id) is None
    with pytest.raises(WorkspaceMissing):
        await storage.research.append_turn(ask(other.id, 2), lease=lease)
    await storage.research.start(
        start(other.id, "1", proposal={"id": WorkspaceId("theirs")}, turn_id=TurnId("theirs"), message_id=MessageId("theirs")),
        lease=lease,
    )
    assert len(await storage.research.list(channel.id)) == len(await storage.research.list(other.id)) == 1


async def test_the_activity_of_a_request_never_goes_back(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.research.start(start(channel.id, proposal={"now": at(100)}), lease=lease)

    asked = await storage.research.append_turn(ask(channel.id, 2), lease=lease)

    assert asked.workspace.updated_at == at(100)
    assert asked.turn.created_at == at(2)


async def test_research_touches_neither_the_document_nor_its_history(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await storage.collaboration.load(channel.id)

    await storage.research.start(start(channel.id), lease=lease)
    await storage.research.append_turn(ask(channel.id, 2), lease=lease)

    assert await storage.collaboration.load(channel.id) == before


# Eight at once


async def test_of_eight_starts_under_one_key_one_begins_and_seven_are_repeats(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    raced = await race(*(side.research.start(start(channel.id), lease=lease) for side in sides))

    assert raced.refused == []
    assert sorted(asked.repeated for asked in raced.won) == [False] + [True] * (WRITERS - 1)
    assert len({asked.turn for asked in raced.won}) == 1


async def test_eight_turns_at_once_are_numbered_without_a_gap(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    await sides[0].research.start(start(channel.id), lease=lease)

    raced = await race(
        *(side.research.append_turn(ask(channel.id, number), lease=lease) for number, side in enumerate(sides, start=2))
    )

    assert sorted(asked.turn.ordinal for asked in raced.won) == list(range(2, WRITERS + 2))
    transcript = await sides[0].research.get(channel.id, WorkspaceId("workspace-1"))
    assert transcript is not None
    assert transcript.workspace.revision == WRITERS
    assert T0 < transcript.workspace.updated_at
