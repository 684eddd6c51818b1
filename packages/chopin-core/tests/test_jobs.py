"""How a job moves, and which moves it refuses, whatever storage there is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from chopin_core.counters import ClaimGeneration, JobChannelRevision, TargetGeneration
from chopin_core.errors import ClaimLost, InvalidField, JobMoved, StaleJob
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import OPEN, Claim, ClaimToken, Job, JobOrigin, JobState, Request, refuse_unfit_claim

NOW = datetime(2026, 1, 5, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MOMENT = timedelta(microseconds=1)
FIRST, SECOND = TargetGeneration(1), TargetGeneration(2)
REQUEST = Request(
    id=JobId("job"),
    channel_id=ChannelId("channel"),
    type="document-summary",
    version=1,
    target_key="target",
    idempotency_key="key",
    fingerprint="fingerprint",
    origin=JobOrigin.USER,
    input={"a": 1},
    available_at=NOW + MINUTE,
    now=NOW,
)
PENDING = REQUEST.enqueued(JobChannelRevision(5), FIRST)
RUNNING = PENDING.claimed(owner="worker", until=NOW + 2 * MINUTE, revision=JobChannelRevision(6), now=NOW + MINUTE)
CLAIM = Claim(owner="worker", expires_at=NOW + 2 * MINUTE)


def test_a_request_becomes_a_waiting_job() -> None:
    assert (PENDING.state, PENDING.revision, PENDING.target_generation) == (JobState.PENDING, 5, 1)
    assert (PENDING.attempts, PENDING.failures, PENDING.claim_generation, PENDING.progress) == (0, 0, 0, ())
    assert (PENDING.claim, PENDING.reason) == (None, None)
    assert (PENDING.available_at, PENDING.created_at, PENDING.updated_at) == (NOW + MINUTE, NOW, NOW)
    assert PENDING.open


@pytest.mark.parametrize("field", ["id", "type", "target_key", "idempotency_key", "fingerprint"])
@pytest.mark.parametrize("value", ["", "a\0b", "\ud800"])
def test_a_request_names_everything(field: str, value: str) -> None:
    changes: dict[str, Any] = {field: value}

    with pytest.raises(InvalidField) as caught:
        attrs.evolve(REQUEST, **changes)
    assert caught.value.field == field


@pytest.mark.parametrize("version", [0, -1, 2**31])
def test_a_version_is_positive_and_fits_32_bits(version: int) -> None:
    with pytest.raises(InvalidField) as caught:
        attrs.evolve(REQUEST, version=version)
    assert caught.value.field == "version"


@pytest.mark.parametrize("version", [1, 2**31 - 1])
def test_any_other_version_will_do(version: int) -> None:
    assert attrs.evolve(REQUEST, version=version).version == version


@pytest.mark.parametrize("field", ["now", "available_at"])
def test_the_instants_of_a_request_say_their_offset(field: str) -> None:
    changes: dict[str, Any] = {field: datetime(2026, 1, 5)}

    with pytest.raises(InvalidField) as caught:
        attrs.evolve(REQUEST, **changes)
    assert caught.value.field == field


def test_a_job_is_claimable_while_it_is_due() -> None:
    assert not PENDING.claimable(NOW + MINUTE - MOMENT)
    assert PENDING.claimable(NOW + MINUTE)
    assert not RUNNING.claimable(NOW + 2 * MINUTE - MOMENT)
    assert RUNNING.claimable(NOW + 2 * MINUTE)
    for state in set(JobState) - {JobState.PENDING, JobState.RUNNING}:
        assert not attrs.evolve(PENDING, state=state).claimable(NOW + 9 * MINUTE)


def test_only_three_states_are_open() -> None:
    assert {state for state in JobState if attrs.evolve(PENDING, state=state).open} == OPEN
    assert {JobState.PENDING, JobState.PAUSED, JobState.RUNNING} == OPEN


def test_what_is_not_running_has_no_token() -> None:
    assert RUNNING.token == ClaimToken(
        channel_id=RUNNING.channel_id, job_id=RUNNING.id, owner="worker", generation=ClaimGeneration(1)
    )
    with pytest.raises(AssertionError):
        _ = PENDING.token


def test_a_claim_is_held_by_its_owner_until_it_expires() -> None:
    assert RUNNING.refuse_unclaimed(RUNNING.token, current=FIRST, now=NOW + 2 * MINUTE - MOMENT) == CLAIM


@pytest.mark.parametrize(
    ("job", "changes", "current", "now"),
    [
        (PENDING, {}, FIRST, NOW),
        (RUNNING, {"owner": "other"}, FIRST, NOW),
        (RUNNING, {"generation": 2}, FIRST, NOW),
        (RUNNING, {"generation": 0}, FIRST, NOW),
        (RUNNING, {}, FIRST, NOW + 2 * MINUTE),
        (RUNNING, {}, SECOND, NOW),
    ],
    ids=["waiting", "another owner", "a later claim", "an earlier claim", "expired", "target taken over"],
)
def test_any_other_claim_is_lost(job: Job, changes: dict[str, Any], current: TargetGeneration, now: datetime) -> None:
    token = attrs.evolve(RUNNING.token, **changes)

    with pytest.raises(ClaimLost) as caught:
        job.refuse_unclaimed(token, current=current, now=now)
    assert (caught.value.job_id, caught.value.generation) == (job.id, token.generation)


@pytest.mark.parametrize("state", JobState)
def test_control_asks_for_the_state_and_the_target_first_and_for_the_revision_then(state: JobState) -> None:
    job = attrs.evolve(PENDING, state=state)
    stale = JobChannelRevision(job.revision - 1)

    job.refuse_uncontrolled(frozenset({state}), expected=job.revision, current=FIRST)
    job.refuse_uncontrolled(frozenset({state}), expected=None, current=FIRST)
    with pytest.raises(StaleJob):
        job.refuse_uncontrolled(frozenset({state}), expected=stale, current=FIRST)
    for allowed, current in ((frozenset(JobState) - {state}, FIRST), (frozenset({state}), SECOND)):
        for expected in (job.revision, stale, None):
            with pytest.raises(JobMoved) as caught:
                job.refuse_uncontrolled(allowed, expected=expected, current=current)
            assert (caught.value.job_id, caught.value.state) == (job.id, state.value)


ENDS: list[Callable[[Job], Job]] = [
    lambda job: job.requeued(
        available_at=NOW, reason="r", count_failure=False, revision=JobChannelRevision(9), now=NOW + MINUTE
    ),
    lambda job: job.failed(reason="r", revision=JobChannelRevision(9), now=NOW + MINUTE),
    lambda job: job.settled(revision=JobChannelRevision(9), now=NOW + MINUTE),
    lambda job: job.paused(reason="r", revision=JobChannelRevision(9), now=NOW + MINUTE),
    lambda job: job.cancelled(reason=None, revision=JobChannelRevision(9), now=NOW + MINUTE),
    lambda job: job.superseded(revision=JobChannelRevision(9), now=NOW + MINUTE),
]


@pytest.mark.parametrize("end", ENDS)
def test_every_way_out_of_running_ends_the_claim_and_keeps_what_was_counted(end: Callable[[Job], Job]) -> None:
    after = end(RUNNING)

    assert after.claim is None
    assert after.state is not JobState.RUNNING
    assert (after.revision, after.updated_at) == (9, NOW + MINUTE)
    assert (after.attempts, after.claim_generation, after.created_at) == (1, 1, NOW)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"owner": ""}, "owner"),
        ({"owner": "\0"}, "owner"),
        ({"count": 0}, "count"),
        ({"ttl": timedelta(0)}, "ttl"),
        ({"ttl": -MOMENT}, "ttl"),
    ],
    ids=repr,
)
def test_a_claim_needs_an_owner_a_count_and_time(changes: dict[str, Any], field: str) -> None:
    fit: dict[str, Any] = {"owner": "worker", "count": 1, "ttl": MOMENT}
    refuse_unfit_claim(**fit)

    with pytest.raises(InvalidField) as caught:
        refuse_unfit_claim(**{**fit, **changes})
    assert caught.value.field == field
