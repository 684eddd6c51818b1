"""The writes of the job and research stores, to be interrupted."""

from __future__ import annotations

from typing import Final

from chopin_core.counters import ClaimGeneration, JobChannelRevision
from chopin_core.ids import JobId, MessageId, TurnId
from chopin_core.jobs.job import ClaimToken, JobOrigin, Request
from chopin_core.jobs.progress import ProgressState, Step
from chopin_core.ports.research import Report
from chopin_core.research.transcript import AgentMessage, Ask, JobRole, Start, TurnKind
from chopin_core.research.workspace import Origin, Proposal
from chopin_storage_pg.storage import PgStorage

from made import NOW, initial
from storage_calls import AWAY, LONG, SHORT, Call, Scene
from stores import request

LATER: Final = NOW + SHORT / 2
"""While a claim is held."""

# Jobs


def _job(scene: Scene) -> JobId:
    return JobId(f"job of {scene.name}")


def _token(scene: Scene) -> ClaimToken:
    return ClaimToken(channel_id=scene.channel.id, job_id=_job(scene), owner="worker", generation=ClaimGeneration(1))


async def enqueues(storage: PgStorage, scene: Scene) -> object:
    """Takes the target of an older job over, if there is one."""
    newer = request(scene.channel, f"newer of {scene.name}", target_key="target", input={})
    return await storage.jobs.enqueue(newer, lease=scene.writer)


async def claims(storage: PgStorage, scene: Scene) -> object:
    return await storage.jobs.claim(
        owner="worker", count=9, ttl=SHORT, now=NOW, lease=scene.writer, channel_id=scene.channel.id
    )


async def renews_a_claim(storage: PgStorage, scene: Scene) -> object:
    at = JobChannelRevision(2)
    return await storage.jobs.renew(_token(scene), ttl=LONG, binding="desk", expected=at, now=LATER, lease=scene.writer)


async def tells(storage: PgStorage, scene: Scene) -> object:
    step = Step(stage="reading", label="Reading", state=ProgressState.STARTED)
    return await storage.jobs.progress(_token(scene), step, now=LATER, lease=scene.writer)


async def gives_back(storage: PgStorage, scene: Scene) -> object:
    return await storage.jobs.requeue(
        _token(scene), available_at=LATER, reason="later", count_failure=True, now=LATER, lease=scene.writer
    )


async def settles(storage: PgStorage, scene: Scene) -> object:
    return await storage.jobs.settle(_token(scene), {"found": scene.name}, now=LATER, lease=scene.writer)


async def fails(storage: PgStorage, scene: Scene) -> object:
    return await storage.jobs.fail(_token(scene), reason="no-luck", now=LATER, lease=scene.writer)


async def pauses(storage: PgStorage, scene: Scene) -> object:
    at = JobChannelRevision(2)
    return await storage.jobs.pause(scene.channel.id, _job(scene), reason="wait", expected=at, now=LATER, lease=scene.writer)


async def resumes(storage: PgStorage, scene: Scene) -> object:
    at = JobChannelRevision(3)
    return await storage.jobs.resume(
        scene.channel.id, _job(scene), available_at=LATER, expected=at, now=LATER, lease=scene.writer
    )


async def cancels(storage: PgStorage, scene: Scene) -> object:
    return await storage.jobs.cancel(scene.channel.id, _job(scene), now=LATER, lease=scene.writer)


async def supersedes(storage: PgStorage, scene: Scene) -> object:
    at = JobChannelRevision(2)
    return await storage.jobs.supersede(scene.channel.id, _job(scene), expected=at, now=LATER, lease=scene.writer)


async def a_job(storage: PgStorage, scene: Scene) -> None:
    await storage.jobs.enqueue(request(scene.channel, _job(scene), target_key="target", input={}), lease=scene.writer)


async def running(storage: PgStorage, scene: Scene) -> None:
    await a_job(storage, scene)
    await claims(storage, scene)


async def paused(storage: PgStorage, scene: Scene) -> None:
    await running(storage, scene)
    await pauses(storage, scene)


# Research requests


def _turn(scene: Scene, number: int = 1) -> TurnId:
    return TurnId(f"turn {number} of {scene.name}")


def _proposal(scene: Scene, origin: Origin = Origin.INLINE) -> Proposal:
    return Proposal(
        id=scene.workspace_id,
        channel_id=scene.channel.id,
        title="Research",
        question="What of it?",
        origin=origin,
        origin_message=MessageId("chat") if origin is Origin.PLANNER else None,
        created_by=scene.user.id,
        idempotency_key=f"key of {scene.name}",
        fingerprint="print",
        now=NOW,
    )


def _ask(scene: Scene, number: int) -> Ask:
    return Ask(
        channel_id=scene.channel.id,
        workspace_id=scene.workspace_id,
        kind=TurnKind.INITIAL if number == 1 else TurnKind.FOLLOW_UP,
        turn_id=_turn(scene, number),
        message_id=MessageId(f"message {number} of {scene.name}"),
        request_id=f"request {number} of {scene.name}",
        fingerprint=f"print {number}",
        question="What of it?",
        requested_by=scene.user.id,
        handle="ada",
        now=NOW,
    )


def _request(scene: Scene, role: JobRole) -> Request:
    return request(
        scene.channel,
        _job(scene),
        type=role.type,
        target_key=role.target(scene.workspace_id, _turn(scene)),
        origin=JobOrigin.PLANNER,
        input={},
    )


async def proposes(storage: PgStorage, scene: Scene) -> object:
    return await storage.research.create(_proposal(scene), lease=scene.writer)


async def starts(storage: PgStorage, scene: Scene) -> object:
    ask = _ask(scene, 1)
    start = Start(
        proposal=_proposal(scene, Origin.PLANNER),
        turn_id=ask.turn_id,
        message_id=ask.message_id,
        request_id=ask.request_id,
        handle=ask.handle,
        inline_reference=True,
    )
    return await storage.research.start(start, lease=scene.writer)


async def confirms(storage: PgStorage, scene: Scene) -> object:
    return await storage.research.confirm(_ask(scene, 1), lease=scene.writer)


async def asks_again(storage: PgStorage, scene: Scene) -> object:
    return await storage.research.append_turn(_ask(scene, 2), lease=scene.writer)


async def _links(storage: PgStorage, scene: Scene, role: JobRole) -> object:
    place = (scene.channel.id, scene.workspace_id, _turn(scene))
    return await storage.research.link_job(*place, role, _job(scene), now=NOW, lease=scene.writer)


async def links(storage: PgStorage, scene: Scene) -> object:
    return await _links(storage, scene, JobRole.EVIDENCE)


async def resets_a_request(storage: PgStorage, scene: Scene) -> object:
    place = (scene.channel.id, scene.workspace_id)
    return await storage.research.reset_initial(*place, evidence_job=_job(scene), answer_job=None, now=NOW, lease=scene.writer)


async def answers(storage: PgStorage, scene: Scene) -> object:
    said = AgentMessage(
        channel_id=scene.channel.id,
        workspace_id=scene.workspace_id,
        turn_id=_turn(scene),
        message_id=MessageId(f"answer of {scene.name}"),
        source_job=_job(scene),
        text="An answer.",
        now=NOW,
    )
    return await storage.research.append_agent_message(said, lease=scene.writer)


async def publishes(storage: PgStorage, scene: Scene) -> object:
    report = Report(
        channel_id=scene.channel.id,
        workspace_id=scene.workspace_id,
        answer_job=_job(scene),
        title=f"What was found of {scene.name}",
        initial=initial(),
        now=NOW,
    )
    return await storage.research.publish(report, lease=scene.writer)


async def places(storage: PgStorage, scene: Scene) -> None:
    await storage.research.mark_reference_placed(scene.channel.id, scene.workspace_id, now=NOW, lease=scene.writer)


async def _at_work(storage: PgStorage, scene: Scene, role: JobRole) -> None:
    await starts(storage, scene)
    await storage.jobs.enqueue(_request(scene, role), lease=scene.writer)


async def evidence_sought(storage: PgStorage, scene: Scene) -> None:
    await _at_work(storage, scene, JobRole.EVIDENCE)


async def evidence_failed(storage: PgStorage, scene: Scene) -> None:
    await evidence_sought(storage, scene)
    await links(storage, scene)
    await claims(storage, scene)
    await fails(storage, scene)


async def answer_linked(storage: PgStorage, scene: Scene) -> None:
    await _at_work(storage, scene, JobRole.ANSWER)
    await _links(storage, scene, JobRole.ANSWER)


async def answer_completed(storage: PgStorage, scene: Scene) -> None:
    await answer_linked(storage, scene)
    await claims(storage, scene)
    await settles(storage, scene)


WORK_CALLS: Final = (
    Call("jobs.enqueue", enqueues, AWAY, before=running),
    Call("jobs.claim", claims, AWAY, before=a_job),
    Call("jobs.renew", renews_a_claim, AWAY, before=running),
    Call("jobs.progress", tells, AWAY, before=running),
    Call("jobs.requeue", gives_back, AWAY, before=running),
    Call("jobs.settle", settles, AWAY, before=running),
    Call("jobs.fail", fails, AWAY, before=running),
    Call("jobs.pause", pauses, AWAY, before=running),
    Call("jobs.resume", resumes, AWAY, before=paused),
    Call("jobs.cancel", cancels, AWAY, before=running),
    Call("jobs.supersede", supersedes, AWAY, before=running),
    Call("research.create", proposes, AWAY),
    Call("research.start", starts, AWAY),
    Call("research.confirm", confirms, AWAY, before=proposes),
    Call("research.append_turn", asks_again, AWAY, before=starts),
    Call("research.link_job", links, AWAY, before=evidence_sought),
    Call("research.reset_initial", resets_a_request, AWAY, before=evidence_failed),
    Call("research.append_agent_message", answers, AWAY, before=answer_linked),
    Call("research.publish", publishes, AWAY, before=answer_completed),
    Call("research.mark_reference_placed", places, AWAY, before=starts),
)
