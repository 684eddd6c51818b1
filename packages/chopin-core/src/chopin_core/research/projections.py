"""The block that shows a research request in its document: when a commit may add it, and when take it away."""

from __future__ import annotations

import enum

import attrs

from chopin_core.errors import ProjectionRefused
from chopin_core.ids import JobId, WorkspaceId
from chopin_core.jobs.job import OPEN, Job, JobState
from chopin_core.research.transcript import JobRole, Turn
from chopin_core.research.workspace import Origin, Workspace
from chopin_core.text import storable_field


class ProjectionAction(enum.Enum):
    ADD = "add"
    REMOVE = "remove"


@attrs.frozen(kw_only=True)
class ProjectionChange:
    """
    What a commit does to the block of a request of its channel.

    A block is added while the request is inline and unpublished and the job that works on it is open or completed. It is taken
    away when the request is published, or the job failed, was cancelled or superseded, or none is linked (storage spec
    §2.5, "Projection rule").
    """

    workspace_id: WorkspaceId = attrs.field(validator=storable_field)
    action: ProjectionAction

    def refuse_unfit(self, workspace: Workspace | None, turn: Turn | None, job: Job | None) -> None:
        """
        ``workspace`` is the channel's request of that id, ``turn`` its initial one, ``job`` the channel's job that
        :func:`working_on` names.

        Raises:
            ProjectionRefused: the request does not allow it now.
        """
        if workspace is None or not _fits(self.action, workspace, turn, job):
            raise ProjectionRefused(self.workspace_id)


def working_on(turn: Turn | None) -> tuple[JobRole, JobId] | None:
    """The job that the block stands for: the one that answers, or while there is none the one that gathers evidence."""
    if turn is None:
        return None
    for role in (JobRole.ANSWER, JobRole.EVIDENCE):
        if (job_id := turn.job(role)) is not None:
            return role, job_id
    return None


def _fits(action: ProjectionAction, workspace: Workspace, turn: Turn | None, job: Job | None) -> bool:
    linked = working_on(turn)
    if linked is not None and turn is not None:
        role, _ = linked
        if job is None or (job.type, job.target_key) != (role.type, role.target(workspace.id, turn.id)):
            return False
    if action is ProjectionAction.ADD:
        alive = job is not None and (job.state in OPEN or job.state is JobState.COMPLETED)
        return alive and workspace.origin is Origin.INLINE and workspace.published_channel is None
    ended = job is None or job.state in (JobState.FAILED, JobState.CANCELLED, JobState.SUPERSEDED)
    return ended or workspace.published_channel is not None
