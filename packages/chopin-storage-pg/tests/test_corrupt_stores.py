"""Rows of the stores around a channel that break an invariant are reported by whoever reads them, and never repaired."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import CorruptRecord
from chopin_core.jobs.job import Job
from chopin_core.jobs.progress import ProgressState, Step
from chopin_core.ports.agents import Agent
from chopin_core.ports.images import Image
from chopin_core.ports.leases import Lease
from chopin_core.ports.machines import Machine
from chopin_core.ports.web_sessions import WebSession
from chopin_storage_pg.storage import PgStorage

from made import ADA, NOW, REPOSITORY
from stores import MINUTE, image, pairing, request, running, web_session
from watch import Watch

TOO_LARGE = 2**53
DEEP = "[" * 3000 + "]" * 3000
FIT = {
    "revision": 1,
    "attempt": 1,
    "stage": "s",
    "label": "l",
    "state": "started",
    "reason": None,
    "at": "2026-01-05T09:30:00+00:00",
}


def progress(**changes: object) -> str:
    return f"UPDATE background_jobs SET progress = '{json.dumps([{**FIT, **changes}])}'"


JOBS = {
    "an unknown state": "UPDATE background_jobs SET state = 'lost', claim_owner = NULL, claim_expires_at = NULL",
    "an unknown origin": "UPDATE background_jobs SET origin = 'nobody'",
    "a binding of what waits": (
        "UPDATE background_jobs SET state = 'pending', claim_owner = NULL, claim_expires_at = NULL, claim_binding = '1'"
    ),
    "a version of nothing": "UPDATE background_jobs SET version = 0",
    "a generation of nothing": "UPDATE background_jobs SET target_generation = 0",
    "a revision of nothing": "UPDATE background_jobs SET revision = 0",
    "negative attempts": "UPDATE background_jobs SET attempts = -1",
    "failures no browser can count": f"UPDATE background_jobs SET failures = {TOO_LARGE}",
    "a negative claim generation": "UPDATE background_jobs SET claim_generation = -1",
    "an input too deep to read": f"UPDATE background_jobs SET input = '{DEEP}'",
    "a binding too deep to read": f"UPDATE background_jobs SET claim_binding = '{DEEP}'",
    "progress that is no list": "UPDATE background_jobs SET progress = '{}'",
    "progress that is a text": """UPDATE background_jobs SET progress = '"text"'""",
    "an entry that is none": "UPDATE background_jobs SET progress = '[1]'",
    "an entry without everything": """UPDATE background_jobs SET progress = '[{"stage": "s"}]'""",
    "an entry at no revision": progress(revision="1"),
    "an entry at revision 0": progress(revision=0),
    "an entry of no attempt": progress(attempt=0),
    "an entry of no stage": progress(stage="NO"),
    "an entry in no state": progress(state="lost"),
    "an interrupted entry without a reason": progress(state="interrupted"),
    "an entry at no instant": progress(at="yesterday"),
    "an entry at an instant of no zone": progress(at="2026-01-05T09:30:00"),
}


@pytest.fixture
async def job(storage: PgStorage, channel: Channel, lease: Lease) -> Job:
    job = await running(storage, channel, lease)
    step = Step(stage="s", label="l", state=ProgressState.STARTED)
    return await storage.jobs.progress(job.token, step, now=NOW, lease=lease)


async def test_an_entry_of_progress_is_read_as_it_is_written(storage: PgStorage, job: Job, watch: Watch) -> None:
    await watch.run(progress())

    detail = await storage.jobs.get(job.channel_id, job.id)
    assert detail is not None
    assert [entry.step for entry in detail.job.progress] == [entry.step for entry in job.progress]


@pytest.mark.parametrize("damage", JOBS.values(), ids=JOBS.keys())
async def test_a_damaged_job_is_reported_by_every_reader_and_writer_and_not_repaired(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, watch: Watch, damage: str
) -> None:
    await watch.run(damage)
    before = await watch.value("SELECT background_jobs::text FROM background_jobs")
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.jobs.get(channel.id, job.id),
        lambda: storage.jobs.list(channel.id),
        lambda: storage.jobs.cancel(channel.id, job.id, now=NOW, lease=lease),
        lambda: storage.jobs.settle(job.token, 1, now=NOW, lease=lease),
        lambda: storage.jobs.enqueue(request(channel), lease=lease),
    ]

    for call in calls:
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"job {job.id}"
    assert await watch.value("SELECT background_jobs::text FROM background_jobs") == before
    assert await watch.value("SELECT revision FROM background_job_channels") == job.revision


@pytest.mark.parametrize("revision", [-1, TOO_LARGE])
async def test_an_impossible_counter_of_jobs_is_reported(
    storage: PgStorage, channel: Channel, job: Job, watch: Watch, revision: int
) -> None:
    await watch.run(f"UPDATE background_job_channels SET revision = {revision}")

    for call in (lambda: storage.jobs.list(channel.id), lambda: storage.jobs.get(channel.id, job.id)):
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"jobs of channel {channel.id}"


@pytest.mark.parametrize(
    "damage", ["UPDATE background_job_targets SET generation = 0", "DELETE FROM background_job_targets"], ids=["none", "gone"]
)
async def test_a_job_without_a_target_is_reported(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, watch: Watch, damage: str
) -> None:
    await watch.run(damage)
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.jobs.get(channel.id, job.id),
        lambda: storage.jobs.settle(job.token, 1, now=NOW, lease=lease),
    ]

    for call in calls:
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"target of job {job.id}"


@pytest.mark.parametrize("damage", ["revision = 0", f"value = '{DEEP}'"], ids=["at no revision", "too deep to read"])
async def test_a_damaged_artifact_is_reported(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, watch: Watch, damage: str
) -> None:
    await storage.jobs.settle(job.token, 1, now=NOW, lease=lease)
    await watch.run(f"UPDATE background_job_artifacts SET {damage}")

    with pytest.raises(CorruptRecord) as caught:
        await storage.jobs.get(channel.id, job.id)
    assert caught.value.where == f"artifact of job {job.id}"


@pytest.fixture
async def session(storage: PgStorage) -> WebSession:
    session = web_session()
    await storage.sessions.create(session)
    return session


@pytest.mark.parametrize("revision", [0, -1, TOO_LARGE])
async def test_a_session_with_impossible_credentials_is_reported_without_its_id(
    storage: PgStorage, session: WebSession, watch: Watch, revision: int
) -> None:
    await watch.run(f"UPDATE web_sessions SET credential_revision = {revision}")

    with pytest.raises(CorruptRecord) as caught:
        await storage.sessions.get(session.id, now=NOW)
    assert caught.value.where == "session"


@pytest.fixture
async def agent(storage: PgStorage, channel: Channel, session: WebSession) -> Agent:
    return await storage.agents.claim(channel.id, session.id, now=NOW)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE agent_state SET generation = 0",
        f"UPDATE agent_state SET generation = {TOO_LARGE}",
        "UPDATE agent_state SET transcript_cursor = -1",
        "UPDATE agent_state SET owner_session_id = NULL",
    ],
    ids=["generation", "large generation", "cursor", "ready without an owner"],
)
async def test_a_damaged_agent_is_reported_by_readers_and_claims(
    storage: PgStorage, channel: Channel, session: WebSession, agent: Agent, watch: Watch, damage: str
) -> None:
    await watch.run(damage)
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.agents.read(channel.id, now=NOW),
        lambda: storage.agents.claim(channel.id, session.id, now=NOW),
    ]

    for call in calls:
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"agent of channel {channel.id}"


@pytest.fixture
async def machine(storage: PgStorage) -> Machine:
    return await storage.machines.pair(pairing())


@pytest.mark.parametrize(
    "damage",
    ["credential_revision = 0", f"credential_revision = {TOO_LARGE}", "repositories = '{}'", "repositories = '[1]'",
     """repositories = '"text"'""", f"repositories = '{DEEP}'"],
    ids=["revision", "large revision", "an object", "numbers", "a text", "too deep"],
)  # fmt: skip
async def test_a_damaged_machine_is_reported_by_every_reader(
    storage: PgStorage, machine: Machine, watch: Watch, damage: str
) -> None:
    await watch.run(f"UPDATE machines SET {damage}")
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.machines.get(machine.id),
        lambda: storage.machines.find(b"machine"),
        lambda: storage.machines.of(ADA.id),
    ]

    for call in calls:
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"machine {machine.id}"


@pytest.fixture
async def shown(storage: PgStorage, channel: Channel) -> Image:
    shown = image(channel)
    await storage.images.put(shown)
    return shown


@pytest.mark.parametrize("damage", ["content = 'other'", "content = ''", "type = 'image/svg+xml'"])
async def test_an_image_that_does_not_hash_to_its_name_or_is_none_is_reported(
    storage: PgStorage, channel: Channel, shown: Image, watch: Watch, damage: str
) -> None:
    await watch.run(f"UPDATE plan_images SET {damage}")

    with pytest.raises(CorruptRecord) as caught:
        await storage.images.get(channel.id, shown.sha256)
    assert caught.value.where == f"image {shown.sha256} of channel {channel.id}"


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ("UPDATE user_navigation SET revision = -1", f"navigation of user {ADA.id}"),
        (f"UPDATE user_navigation SET revision = {TOO_LARGE}", f"navigation of user {ADA.id}"),
        ("UPDATE user_projects SET position = -1", f"project of user {ADA.id}"),
    ],
    ids=["revision", "large revision", "position"],
)
async def test_damaged_navigation_is_reported(
    storage: PgStorage, channel: Channel, watch: Watch, damage: str, where: str
) -> None:
    await storage.navigation.record_visit(ADA.id, channel.id, REPOSITORY, now=NOW)
    await watch.run(damage)

    with pytest.raises(CorruptRecord) as caught:
        await storage.navigation.sidebar(ADA.id)
    assert caught.value.where == where


async def test_a_damaged_job_that_is_due_is_reported_to_whoever_claims(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, watch: Watch
) -> None:
    await watch.run("UPDATE background_jobs SET attempts = -1")

    with pytest.raises(CorruptRecord):
        await storage.jobs.claim(owner="o", count=1, ttl=MINUTE, now=NOW + timedelta(hours=1), lease=lease)
