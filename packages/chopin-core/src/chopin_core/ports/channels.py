"""Storage of channels: what they are called, where they are found, how they are listed."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.channel import Channel, Description, TitlePolicy
from chopin_core.counters import DescriptionRevision, Epoch, PlanRevision, StorageRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, JobId, RepositoryId, UserId
from chopin_core.instants import aware_field
from chopin_core.people import Repository
from chopin_core.ports.leases import Lease
from chopin_core.sidecar import SidecarRecord
from chopin_core.text import key_field, storable_field

PAGE_LIMIT = 100


@attrs.frozen(kw_only=True)
class Initial:
    """The document a channel is born with: its checkpoint at revision 0, covering sequence 0, and its sidecar."""

    generation: str = attrs.field(validator=storable_field)
    epoch: Epoch = attrs.field(validator=storable_field)
    source: str = attrs.field(validator=storable_field)
    source_hash: str = attrs.field(validator=storable_field)
    document: bytes
    sidecar: SidecarRecord


@attrs.frozen(kw_only=True)
class ChannelCreate:
    """A channel to be created. The title is kept as given; trimming and bounds are the caller's."""

    id: ChannelId = attrs.field(validator=key_field)
    repository: Repository
    title: str = attrs.field(validator=storable_field)
    created_by: UserId = attrs.field(validator=key_field)
    now: datetime = attrs.field(validator=aware_field)
    titles: TitlePolicy = TitlePolicy.REPEATABLE
    parent_id: ChannelId | None = attrs.field(default=None, validator=key_field)
    initial: Initial | None = None

    @parent_id.validator
    def _named(self, attribute: attrs.Attribute[ChannelId | None], value: ChannelId | None) -> None:
        if value == "":
            raise InvalidField("parent_id", "is empty")


@attrs.frozen(kw_only=True)
class Changed:
    """The channel after a rename, archive or restore; ``changed`` is False when it was exactly so before."""

    channel: Channel
    changed: bool


SOURCE_HASH = re.compile(r"sha256:[0-9a-f]{64}")
GENERATOR_VERSION = 1


@attrs.frozen(kw_only=True)
class DescriptionDraft:
    """
    Generated catalogue text to be published, with what it was made from. Untrusted: a model wrote it.

    Raises:
        InvalidField: the text or the job's id is empty or cannot be stored, the hash is no ``sha256:`` and 64 hex digits, or
            the generator is not of version 1.
    """

    value: str = attrs.field(validator=storable_field)
    plan_revision: PlanRevision
    source_hash: str = attrs.field()
    generator_version: int = attrs.field(default=GENERATOR_VERSION)
    job_id: JobId = attrs.field(validator=key_field)
    now: datetime = attrs.field(validator=aware_field)

    @value.validator
    @job_id.validator
    def _given(self, attribute: attrs.Attribute[str], value: str) -> None:
        if not value:
            raise InvalidField(attribute.name, "is empty")

    @source_hash.validator
    def _hashed(self, attribute: attrs.Attribute[str], value: str) -> None:
        if not SOURCE_HASH.fullmatch(value):
            raise InvalidField("source_hash", "is no sha256")

    @generator_version.validator
    def _known(self, attribute: attrs.Attribute[int], value: int) -> None:
        if value != GENERATOR_VERSION:
            raise InvalidField("generator_version", f"must be {GENERATOR_VERSION}")

    def supersedes(self, published: Description | None) -> bool:
        """Whether it is newer than what is published: of another job, and of a later plan revision."""
        if published is None:
            return True
        return published.job_id != self.job_id and published.plan_revision < self.plan_revision

    def published(self, before: Description | None) -> Description:
        return Description(
            value=self.value,
            revision=DescriptionRevision(1 if before is None else before.revision + 1),
            plan_revision=self.plan_revision,
            source_hash=self.source_hash,
            generator_version=self.generator_version,
            job_id=self.job_id,
            updated_at=self.now,
        )


@attrs.frozen(kw_only=True)
class DecisionCount:
    """How many decisions of a channel wait for an answer, as of a revision."""

    channel_id: ChannelId
    revision: StorageRevision
    unanswered: int


@attrs.frozen(kw_only=True)
class Cursor:
    """The last row of a page: its sorting instant (updated for ``list``, created for ``scan``) and its id."""

    at: datetime = attrs.field(validator=aware_field)
    id: ChannelId = attrs.field(validator=key_field)


@attrs.frozen(kw_only=True)
class Page:
    """Channels in order, and the cursor of the last one if there are more."""

    channels: tuple[Channel, ...]
    next: Cursor | None


class ChannelStore(Protocol):
    """Channels by id, by address and by repository. None of these writes needs a lease."""

    async def create(self, creation: ChannelCreate) -> Channel:
        """
        Keep a new channel at revision 0, with its canonical slug and, if given, its initial document.

        Wholly or not at all. Activity and creation times are ``now``. An archived parent is accepted.

        Raises, the first that applies:
            ChannelMissing: there is no such parent.
            ParentUnfit: the parent belongs to another repository, or is a child itself.
            UserMissing: there is no such creator.
            ChannelExists: the id is in use.
            TitleTaken: under ``TitlePolicy.UNIQUE``, the repository has the title already, case aside.
        """
        ...

    async def get(self, channel_id: ChannelId) -> Channel | None:
        """The channel, archived or not, or None."""
        ...

    async def resolve(self, repository_id: RepositoryId, slug: str) -> Channel | None:
        """
        The channel whose slug this is or once was, archived or not, or None.

        A slug is matched as given (see ``slug_of`` for what people type). A slug once given is never another channel's
        while its owner exists.
        """
        ...

    async def rename(
        self, channel_id: ChannelId, title: str, *, now: datetime, titles: TitlePolicy = TitlePolicy.REPEATABLE
    ) -> Changed:
        """
        Give the channel another title and the slug that belongs to it; the former slug stays an alias.

        The same title again changes nothing, whatever the policy. Going back to an earlier title gives back its slug. The
        activity time moves by at least 1 ms; the storage revision does not move. An open document is renamed through its
        room instead, as a commit.

        Raises, the first that applies:
            InvalidField: the title holds NUL or an unpaired surrogate.
            ChannelMissing: there is no such channel.
            ChannelArchived: it is archived, whatever the title.
            TitleTaken: under ``TitlePolicy.UNIQUE``, *another* channel of the repository has it, case aside.
        """
        ...

    async def archive(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        """
        Put the channel away: it can be read, but no longer changed, and it keeps its title, slugs and children.

        ``archived_at`` and the activity time become ``now``, at least 1 ms after the stored activity. An archived channel
        is left as it is. No counter moves.

        Raises:
            ChannelMissing: there is no such channel.
        """
        ...

    async def restore(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        """Undo :meth:`archive`, with the same promises."""
        ...

    async def delete(self, channel_id: ChannelId) -> bool:
        """
        Remove an archived channel and all it owns: addresses, history, records, jobs, requests, images, choices of machines.

        Its id, title, slugs and idempotency keys are free again. Whoever was there last was nowhere. False if there is no
        such channel.

        Raises, the first that applies:
            ChannelActive: it is not archived.
            ChannelReferred: it has a child, or a research request published it.
        """
        ...

    async def publish_description(self, channel_id: ChannelId, draft: DescriptionDraft, *, lease: Lease) -> Changed:
        """
        Show a generated description, if it is newer than the one that is shown (see :meth:`DescriptionDraft.supersedes`).

        Guarded by a lease. Its own revision rises by one; neither the storage revision nor the activity moves, and an
        archived channel is accepted.

        Raises, the first that applies:
            LeaseLost: the lease is not held.
            ChannelMissing: there is no such channel.
        """
        ...

    async def unanswered_decisions(self, repository_id: RepositoryId) -> int:
        """The sum over exactly what :meth:`list` shows without archived ones."""
        ...

    async def unanswered_counts(
        self, repository_id: RepositoryId, channel_ids: Collection[ChannelId]
    ) -> tuple[DecisionCount, ...]:
        """The count of each of these channels that is in the repository, archived or not, by id in code-point order."""
        ...

    async def list(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        query: str = "",
        include_archived: bool = False,
    ) -> Page:
        """
        One page of the repository's catalogue, the latest activity first, then ids in code-point order.

        ``limit`` is clamped to 1…100. ``query`` is a literal, case-insensitive part of title or description; empty means no
        filter. Without ``include_archived`` neither an archived channel nor a child of an archived parent is shown. The
        cursor is exclusive and keeps full precision, so no row is shown twice or left out while nothing changes.
        """
        ...

    async def scan(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        include_archived: bool = False,
    ) -> Page:
        """
        One page in order of creation, the latest first, then ids in code-point order; stable under edits and renames.

        ``limit`` as in :meth:`list`. Without ``include_archived`` a channel's own archive flag counts, not its parent's.
        """
        ...
