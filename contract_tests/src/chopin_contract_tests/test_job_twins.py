"""Whatever is done to jobs in whatever order, the adapter and the memory adapter answer alike, refusals included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from chopin_contract_tests.adapters import Databases
from chopin_contract_tests.builders import T0
from chopin_contract_tests.builders_jobs import request, step
from chopin_contract_tests.test_twins import values
from chopin_contract_tests.twins import Twins, sides
from chopin_core.counters import ClaimGeneration, JobChannelRevision, TargetGeneration
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import ClaimToken, Job, Request
from chopin_core.ports.jobs import JobCursor, JobPage
from chopin_core.ports.storage import Storage

STORE = "jobs"

PLACES: Final = [ChannelId("a"), ChannelId("B")]

places = st.sampled_from([*PLACES, *PLACES, *PLACES, ChannelId("unknown")])
jobs = st.sampled_from([JobId(f"job {number}") for number in range(12)])
subjects = st.sampled_from(["one", "two"])
keys = st.integers(0, 40)
picks = st.integers(0, 11)
moments = st.integers(0, 40).map(lambda seconds: T0 + timedelta(seconds=seconds))
LONG: Final = timedelta(minutes=2)
spans = st.sampled_from([timedelta(seconds=seconds) for seconds in (5, 30, 60)])
owners = st.sampled_from(["ada", "ada", "ada", "grace"])
reasons = st.sampled_from(["busy"] * 6 + ["", "a\0b"])


drifts = st.sampled_from([0] * 12 + [-1, 1])
held = st.sampled_from([0] * 12 + [1, 2])
"""Mostly right, because a job has to come a long way."""


class JobTwins(Twins):
    """The history of two queues."""

    @initialize()
    def begin(self) -> None:
        """Two of four jobs are claimed at first, and the last of the leases was let go of."""
        super().begin()
        self.granted(0, "lost", "begin")
        self.told(0, lambda storage: storage.leases.release(self.leases[-1]))
        for place in range(4):
            self.enqueued(place % 2, self.made(PLACES[place % 2], JobId(f"job {place}"), 100 + place, f"early {place}"), 0)
        self.moved(
            0,
            lambda storage: storage.jobs.claim(owner="ada", count=2, ttl=LONG, now=T0, lease=self.leases[0]),
        )

    def made(self, channel_id: ChannelId, id: JobId, key: int, about: str, **changes: Any) -> Request:
        named: dict[str, Any] = {"id": id, "channel_id": channel_id, "idempotency_key": f"key {key}", "target_key": about}
        return request(self.near(channel_id).channel, fingerprint=f"print {about}", **named, **changes)

    def enqueued(self, side: int, made: Request, held: int) -> None:
        lease = self.lease(held)
        self.moved(side, lambda storage: storage.jobs.enqueue(made, lease=lease))

    def moved(self, side: int, call: Callable[[Storage], Awaitable[Any]]) -> None:
        """A write of jobs, and what both have of all jobs then, read from the other side."""
        self.told(side, call)
        for place in PLACES:
            self.page(1 - side, place, 100, None)

    def page(self, side: int, place: ChannelId, limit: int, after: JobCursor | None) -> JobPage | None:
        page: JobPage | None = self.told(side, lambda storage: storage.jobs.list(place, limit=limit, after=after))
        return page

    def read(self, side: int, job: Job) -> None:
        self.told(side, lambda storage: storage.jobs.get(job.channel_id, job.id))

    def picked(self, pick: int) -> Job:
        """One of the jobs there are, or an unknown one while there is none."""
        pages = [self.runner.run(self.model.jobs.list(place, limit=100)) for place in PLACES]
        known = [job for page in pages if page is not None for job in page.jobs]
        unknown = self.made(PLACES[0], JobId("unknown"), 0, "one").enqueued(JobChannelRevision(1), TargetGeneration(1))
        return known[pick % len(known)] if known else unknown

    def token(self, job: Job, drift: int) -> ClaimToken:
        generation = ClaimGeneration(job.claim_generation + drift)
        owner = "ada" if job.claim is None else job.claim.owner
        return ClaimToken(channel_id=job.channel_id, job_id=job.id, owner=owner, generation=generation)

    @rule(side=sides, place=places, id=jobs, key=keys, about=subjects, value=values, now=moments, due=moments, held=held)
    def enqueue(
        self, side: int, place: ChannelId, id: JobId, key: int, about: str, value: Any, now: datetime, due: datetime, held: int
    ) -> None:
        self.enqueued(side, self.made(place, id, key, about, input=value, now=now, available_at=due), held)

    @rule(side=sides, place=st.none() | places, owner=owners, count=st.integers(0, 3), ttl=spans, now=moments, held=held)
    def claim(
        self, side: int, place: ChannelId | None, owner: str, count: int, ttl: timedelta, now: datetime, held: int
    ) -> None:
        given: dict[str, Any] = {"owner": owner, "count": count, "ttl": ttl, "now": now, "channel_id": place}
        lease = self.lease(held)
        self.moved(side, lambda storage: storage.jobs.claim(**given, lease=lease))

    @rule(
        side=sides,
        pick=picks,
        drift=drifts,
        stale=drifts,
        what=st.sampled_from(["renew", "progress", "progress", "requeue", "settle", "fail"]),
        value=values,
        reason=reasons,
        ttl=spans,
        now=moments,
        held=held,
    )
    def work(
        self,
        side: int,
        pick: int,
        drift: int,
        stale: int,
        what: str,
        value: Any,
        reason: str,
        ttl: timedelta,
        now: datetime,
        held: int,
    ) -> None:
        job, lease = self.picked(pick), self.lease(held)
        token, expected = self.token(job, drift), JobChannelRevision(job.revision + stale)
        calls: dict[str, Callable[[Storage], Awaitable[Any]]] = {
            "renew": lambda storage: storage.jobs.renew(token, ttl=ttl, binding=value, expected=expected, now=now, lease=lease),
            "progress": lambda storage: storage.jobs.progress(token, step(), now=now, lease=lease),
            "requeue": lambda storage: storage.jobs.requeue(
                token, available_at=now + ttl, reason=reason, count_failure=bool(drift), now=now, lease=lease
            ),
            "settle": lambda storage: storage.jobs.settle(token, value, now=now, lease=lease),
            "fail": lambda storage: storage.jobs.fail(token, reason=reason, now=now, lease=lease),
        }
        self.moved(side, calls[what])

    @rule(
        side=sides,
        pick=picks,
        drift=drifts,
        what=st.sampled_from(["pause", "resume", "resume", "cancel", "supersede"]),
        reason=reasons,
        allowed=st.booleans(),
        now=moments,
        held=held,
    )
    def control(
        self, side: int, pick: int, drift: int, what: str, reason: str, allowed: bool, now: datetime, held: int
    ) -> None:
        job, lease = self.picked(pick), self.lease(held)
        place, id, expected = job.channel_id, job.id, JobChannelRevision(job.revision + drift)
        calls: dict[str, Callable[[Storage], Awaitable[Any]]] = {
            "pause": lambda storage: storage.jobs.pause(place, id, reason=reason, expected=expected, now=now, lease=lease),
            "resume": lambda storage: storage.jobs.resume(place, id, available_at=now, expected=expected, now=now, lease=lease),
            "cancel": lambda storage: storage.jobs.cancel(
                place, id, reason=reason, allow_archived=allowed, now=now, lease=lease
            ),
            "supersede": lambda storage: storage.jobs.supersede(place, id, expected=expected, now=now, lease=lease),
        }
        self.moved(side, calls[what])

    @rule(side=sides, place=places, away=st.booleans(), now=moments)
    def put_away(self, side: int, place: ChannelId, away: bool, now: datetime) -> None:
        if away:
            self.told(side, lambda storage: storage.channels.archive(place, now=now))
        else:
            self.told(side, lambda storage: storage.channels.restore(place, now=now))

    @rule(side=sides, place=places, limit=st.integers(0, 3), at=moments, id=jobs, pick=picks)
    def look(self, side: int, place: ChannelId, limit: int, at: datetime, id: JobId, pick: int) -> None:
        self.read(side, self.picked(pick))
        after: JobCursor | None = JobCursor(at=at, id=id)
        while after is not None:
            page = self.page(side, place, limit, after)
            after = None if page is None else page.next


def test_the_adapter_and_the_model_agree_on_any_history_of_jobs(adapter: Databases) -> None:
    class Here(JobTwins):
        databases = adapter

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
