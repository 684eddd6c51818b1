"""
Whatever happens at whichever wait of a call, and wherever its connection is cut: it is kept whole or not at all, its caller
is told the truth and finds the rest by its operation id, and the next one is served at once.

Every write of every store is cancelled at each of its waits. The writes of a channel's history, the load and the renewal of a
lease, which between them go every way there is to the server, meet every other kind of interruption too, at each wait and
after each message. What is special to a COMMIT is cut for every write in ``test_unknown_outcomes.py``.
"""

from __future__ import annotations

import pytest

from chopin_contract_tests.writes import READS, methods, writes
from chopin_storage_pg.storage import PgStorage

from interrupting import Interrupted, Kind
from stage import NEVER, Stage
from storage_calls import JOURNAL_CALLS, OPERATIONS, OTHER_CALLS, READ_CALLS, WAYS_TO_CONNECT, Call, commits
from store_calls import STORE_CALLS
from wire import Cut, Way
from work_calls import WORK_CALLS

MOST = 400
"""A call that waits more often, or for more messages, is not finding its end."""

CALLS = (*JOURNAL_CALLS, *OTHER_CALLS, *STORE_CALLS, *WORK_CALLS, *READ_CALLS)


def test_every_write_of_every_store_is_interrupted() -> None:
    assert methods() >= READS, "a method that is said to read is gone"
    assert writes() - {call.method for call in CALLS} == set()
    assert {call.method for call in CALLS} <= methods()


def each(calls: tuple[Call, ...]) -> pytest.MarkDecorator:
    """Every call, interrupted in each of its ways."""
    pairs = [(call, kind) for call in calls for kind in call.kinds]
    return pytest.mark.parametrize(("call", "kind"), pairs, ids=[f"{call}, {kind}" for call, kind in pairs])


# cases.md 24 and 25
@each(CALLS)
async def test_a_call_interrupted_at_any_wait_is_whole_or_nothing_and_the_next_is_served(
    stage: Stage, far: PgStorage, kind: Kind
) -> None:
    evidence = await stage.evidence()
    await stage.serves(far)
    for at in range(1, MOST):
        attempt, kept = await stage.interrupted(far, kind, at, evidence)
        if attempt.waits < at:  # it was through before
            assert at > 1
            assert all(kept) or evidence.nothing == evidence.whole
            return
    raise AssertionError(f"the call still waits after {MOST} waits")


@each(WAYS_TO_CONNECT)
async def test_a_call_interrupted_while_it_connects_is_whole_or_nothing_and_the_next_is_served(
    stage: Stage, far: PgStorage, kind: Kind
) -> None:
    evidence = await stage.evidence()

    async def interrupted_cold(at: int) -> Interrupted:
        cold = PgStorage(stage.wire.url)
        attempt, _ = await stage.interrupted(cold, kind, at, evidence)
        await cold.close()
        return attempt

    await stage.serves(far)
    warm, _ = await stage.interrupted(far, kind, NEVER, evidence)
    cold = await interrupted_cold(NEVER)
    assert cold.waits > warm.waits
    for at in range(1, cold.waits - warm.waits + 1):
        await interrupted_cold(at)


# cases.md 25
@pytest.mark.parametrize("way", Way, ids=str)
@pytest.mark.parametrize("call", JOURNAL_CALLS, ids=str)
async def test_a_call_cut_off_after_any_message_is_whole_or_nothing_and_the_next_is_served(
    stage: Stage, far: PgStorage, way: Way
) -> None:
    evidence = await stage.evidence()
    await stage.serves(far)
    for messages in range(1, MOST):
        was_cut, kept = await stage.cut_off(far, messages, way, evidence)
        if not was_cut:
            assert messages > 3
            assert all(kept) or evidence.nothing == evidence.whole
            return
    raise AssertionError(f"the call still goes on after {MOST} messages")


# cases.md 25
@pytest.mark.parametrize("call", OPERATIONS, ids=str)
async def test_a_caller_can_give_up_at_any_wait_of_the_search_for_its_lost_answer(stage: Stage, far: PgStorage) -> None:
    evidence = await stage.evidence()
    await stage.serves(far)
    for at in range(1, MOST):
        stage.wire.cut(b"second" if stage.call.run is commits else b"COMMIT\0", Cut.ANSWER)
        attempt, kept = await stage.interrupted(far, Kind.CANCEL, at, evidence)
        if attempt.waits < at:
            assert stage.wire.happened.is_set()
            assert all(kept)
            return
    raise AssertionError(f"the call still waits after {MOST} waits")
