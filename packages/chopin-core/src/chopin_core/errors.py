"""
Every failure Chopin tells apart, on one page.

::

    ChopinError
    ├── Missing       the thing named does not exist; asking again will not help
    ├── Conflict      it exists, but not as you expected; read again, then decide
    ├── Invalid       what you gave is refused before anything was asked of storage
    ├── Unavailable   it could not be done now; the same request may succeed later
    │   ├── CommitRejected   storage rolled everything back; retrying at once is safe
    │   └── OutcomeUnknown   nobody can say whether it was kept; the same call again is safe
    │       └── OperationUnknown   of a commit: its operation can be looked up too
    └── Corrupt       what storage returned breaks an invariant; nothing was repaired

Branches are named by what the caller can do next. Leaves carry fields, never a sentence, and never document prose.
"""

from __future__ import annotations

import attrs


class ChopinError(Exception):
    """Any failure that Chopin itself reports."""


class Missing(ChopinError):
    """The thing named does not exist."""


class Conflict(ChopinError):
    """The thing exists, but its state does not allow this."""


class Invalid(ChopinError):
    """The input is refused; nothing was stored."""


class Unavailable(ChopinError):
    """It could not be done now."""


class Corrupt(ChopinError):
    """Storage returned something that breaks an invariant."""


# Missing


@attrs.frozen
class ChannelMissing(Missing):
    channel_id: str

    def __str__(self) -> str:
        return f"there is no channel {self.channel_id}"


@attrs.frozen
class UserMissing(Missing):
    user_id: str

    def __str__(self) -> str:
        return f"there is no user {self.user_id}"


@attrs.frozen
class SessionMissing(Missing):
    def __str__(self) -> str:  # its id is half of what signs somebody in
        return "there is no such session"


@attrs.frozen
class MachineMissing(Missing):
    machine_id: str

    def __str__(self) -> str:
        return f"there is no machine {self.machine_id} of that owner"


@attrs.frozen
class NavigationMissing(Missing):
    user_id: str

    def __str__(self) -> str:
        return f"no navigation of user {self.user_id} was ever written"


@attrs.frozen
class JobMissing(Missing):
    job_id: str

    def __str__(self) -> str:
        return f"there is no job {self.job_id} in that channel"


@attrs.frozen
class WorkspaceMissing(Missing):
    workspace_id: str

    def __str__(self) -> str:
        return f"there is no research workspace {self.workspace_id} in that channel"


@attrs.frozen
class TurnMissing(Missing):
    turn_id: str

    def __str__(self) -> str:
        return f"there is no turn {self.turn_id} in that workspace"


# Conflict


@attrs.frozen
class LeaseLost(Conflict):
    """The lease named is not held (any more) by the caller; another process may be writing."""

    name: str
    fencing: int

    def __str__(self) -> str:
        return f"lease {self.name} is not held under fencing token {self.fencing}"


@attrs.frozen
class StaleWrite(Conflict):
    expected: int
    actual: int

    def __str__(self) -> str:
        return f"storage is at revision {self.actual}, not {self.expected}"


@attrs.frozen
class StaleCheckpoint(Conflict):
    """A checkpoint covers less than the stored one, or more than was ever committed."""

    through: int
    stored: int
    latest: int

    def __str__(self) -> str:
        return f"a checkpoint through {self.through} fits neither the stored {self.stored} nor the latest {self.latest}"


@attrs.frozen
class ChannelExists(Conflict):
    channel_id: str

    def __str__(self) -> str:
        return f"channel {self.channel_id} exists already"


@attrs.frozen
class ChannelArchived(Conflict):
    channel_id: str

    def __str__(self) -> str:
        return f"channel {self.channel_id} is archived"


@attrs.frozen
class TitleTaken(Conflict):
    title: str

    def __str__(self) -> str:
        return "another document of this repository has that title"


@attrs.frozen
class ParentUnfit(Conflict):
    """The parent is in another repository, or is itself a child."""

    parent_id: str

    def __str__(self) -> str:
        return f"channel {self.parent_id} cannot be the parent of this one"


@attrs.frozen
class EventRepeated(Conflict):
    channel_id: str
    event_id: str

    def __str__(self) -> str:
        return f"channel {self.channel_id} has an event {self.event_id} already"


@attrs.frozen
class StalePlan(Conflict):
    """The document moved on since it was read."""

    expected: int
    actual: int

    def __str__(self) -> str:
        return f"the document is at plan revision {self.actual}, not {self.expected}"


@attrs.frozen
class IdempotencyConflict(Conflict):
    """The idempotency key was used before, with another request."""

    key: str

    def __str__(self) -> str:
        return "this idempotency key belongs to another request"


@attrs.frozen
class ProjectionProtected(Conflict):
    """A rewrite would change, add or drop a block that is the projection of a record."""

    def __str__(self) -> str:
        return "Questionnaire, Decision and Research blocks must stay as they are"


@attrs.frozen
class ChannelActive(Conflict):
    """Only an archived channel is deleted."""

    channel_id: str

    def __str__(self) -> str:
        return f"channel {self.channel_id} is not archived"


@attrs.frozen
class ChannelReferred(Conflict):
    """The channel has a child, or is the published report of a research request."""

    channel_id: str

    def __str__(self) -> str:
        return f"channel {self.channel_id} is still referred to"


@attrs.frozen
class SessionExists(Conflict):
    def __str__(self) -> str:
        return "the session id is in use"


@attrs.frozen
class MachineExists(Conflict):
    machine_id: str

    def __str__(self) -> str:
        return f"machine {self.machine_id}, or one with its token, exists already"


@attrs.frozen
class AgentNotOwned(Conflict):
    """The Planner of the channel is not owned by that session under that generation."""

    channel_id: str
    generation: int

    def __str__(self) -> str:
        return f"the agent of channel {self.channel_id} is not owned under generation {self.generation}"


@attrs.frozen
class JobExists(Conflict):
    job_id: str

    def __str__(self) -> str:
        return f"job {self.job_id} exists already"


@attrs.frozen
class JobMoved(Conflict):
    """The job is in a state that does not allow this, or a later one has taken its target over."""

    job_id: str
    state: str

    def __str__(self) -> str:
        return f"job {self.job_id} is {self.state} or superseded"


@attrs.frozen
class StaleJob(Conflict):
    """The job changed since it was read, or an instant lies before its last change."""

    job_id: str
    expected: int
    actual: int

    def __str__(self) -> str:
        return f"job {self.job_id} is at revision {self.actual}, not {self.expected}, or changed later"


@attrs.frozen
class ClaimLost(Conflict):
    """The claim has expired, was given to another worker, or its job is not running any more."""

    job_id: str
    generation: int

    def __str__(self) -> str:
        return f"claim {self.generation} on job {self.job_id} is not held"


@attrs.frozen
class ResearchRefused(Conflict):
    """The request is in a state that does not allow this; ``reason`` is a code (see ``ports/research.py``)."""

    workspace_id: str
    reason: str

    def __str__(self) -> str:
        return f"research workspace {self.workspace_id}: {self.reason}"


@attrs.frozen
class ProjectionRefused(Conflict):
    """A commit would add or remove the block of a research request that does not allow that now."""

    workspace_id: str

    def __str__(self) -> str:
        return f"the block of research workspace {self.workspace_id} may not be added or removed now"


# Invalid


@attrs.frozen
class InvalidField(Invalid):
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field} {self.reason}"


@attrs.frozen(kw_only=True)
class SourceIssue:
    """
    One thing a source may not contain. ``code`` is of domain spec §2.6, ``path`` like ``root > Tabs[0] > Tab[1]``.

    The message names kinds, counts and limits, never prose, so it may be logged. ``offset`` is a string index.
    """

    code: str
    message: str
    path: str = "root"
    offset: int | None = None


@attrs.frozen
class SourceRefused(Invalid):
    """A source from an agent that is no document; all its issues, in the order of the text."""

    issues: tuple[SourceIssue, ...]

    def __str__(self) -> str:
        return f"the source has {len(self.issues)} issues: {', '.join(sorted({issue.code for issue in self.issues}))}"


@attrs.frozen
class UpdateMalformed(Invalid):
    """The bytes are no update of the shared text, or their dependencies are missing (``incomplete``)."""

    incomplete: bool = False

    def __str__(self) -> str:
        return "the update misses earlier ones" if self.incomplete else "the update cannot be read"


@attrs.frozen
class UpdateRefused(Invalid):
    """The update can be read, but what it leads to is no valid document; ``reason`` is a code of the room."""

    reason: str

    def __str__(self) -> str:
        return f"the update is refused: {self.reason}"


# Unavailable


class CommitRejected(Unavailable):
    """Storage rolled the whole transaction back; a retry is safe."""


@attrs.frozen
class OutcomeUnknown(Unavailable):
    """
    The connection went away after storage was asked to keep a write: it was kept wholly or not at all, or still will be.

    Make the same call again, which waits until that is settled (see ``Storage`` for what it answers). What is only read
    meanwhile may not show it yet.
    ``cause`` as in :class:`StorageUnavailable`.
    """

    cause: str

    def __str__(self) -> str:
        return f"whether this was kept is not known ({self.cause})"


@attrs.frozen
class OperationUnknown(OutcomeUnknown):
    """So it is with a commit or a replacement, and its operation could not be looked up either."""

    channel_id: str
    operation_id: str

    def __str__(self) -> str:
        return f"whether operation {self.operation_id} of channel {self.channel_id} was kept is not known"


@attrs.frozen
class StorageUnavailable(Unavailable):
    """``cause`` names a kind of fault (a class, an SQLSTATE), never a statement, a value or an address."""

    cause: str

    def __str__(self) -> str:
        return f"storage is unavailable ({self.cause})"


@attrs.frozen
class LeaseHeld(Unavailable):
    """Another process holds the lease; ``holder`` is the name it gave."""

    name: str
    holder: str

    def __str__(self) -> str:
        return f"lease {self.name} is held by {self.holder}"


class Closing(Unavailable):
    """The process is draining and takes no more work."""

    def __str__(self) -> str:
        return "the server is closing"


# Corrupt


@attrs.frozen
class CorruptRecord(Corrupt):
    """``where`` names the record and, for a journal, the sequence; ``reason`` holds names and numbers only."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"
