"""What can be asked about documents, whether they are open or not; writes go through the open room."""

from __future__ import annotations

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import PlanRevision
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import Cursor, Page


@attrs.frozen(kw_only=True)
class Brief:
    """Why a document was written, as the agent that created it put it."""

    goal: str
    constraints: tuple[str, ...] = ()
    settled_decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    repository_findings: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Written:
    """A document and what it says: canonical source, at the plan revision an update of it must name."""

    channel: Channel
    source: str
    revision: PlanRevision
    brief: Brief | None = None


@attrs.frozen(kw_only=True)
class AgentClient:
    """The program that an agent speaks through, as it names itself."""

    name: str
    version: str


@attrs.frozen(kw_only=True)
class CreateDocument:
    """A document as an agent wants it. The same key with the same request is the same document."""

    idempotency_key: str
    repository: Repository
    base_branch: str
    base_commit: str
    title: str
    brief: Brief
    source: str
    by: Person


@attrs.frozen(kw_only=True)
class UpdateDocument:
    """A whole new source for a document read at ``revision``. The same key with the same request is kept once."""

    channel_id: ChannelId
    revision: PlanRevision
    source: str
    idempotency_key: str
    by: Person
    client: AgentClient | None = None


class Documents:
    """The documents of one storage, for the shells. Whether a person may ask is the shells' question, not asked here."""

    async def get(self, channel_id: ChannelId) -> Channel | None:
        """The channel, archived or not, or None."""
        raise NotImplementedError

    async def resolve(self, repository_id: RepositoryId, address: str) -> Channel | None:
        """The channel found under what somebody typed as its address, historical ones included, or None."""
        raise NotImplementedError

    async def list(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        query: str = "",
        include_archived: bool = False,
    ) -> Page:
        """One page of a repository's catalogue; see ``ChannelStore.list``."""
        raise NotImplementedError

    async def create_blank(self, repository: Repository, title: str | None, *, by: Person) -> Channel:
        """
        A new, empty document; without a title it gets two words.

        Raises:
            InvalidField: the title is none.
            TitleTaken: the repository has it already, case aside.
        """
        raise NotImplementedError

    async def create(self, request: CreateDocument) -> Written:
        """
        The document an agent asked for: made now, or the one made when it asked before.

        Raises:
            InvalidField: a field is out of bounds.
            SourceRefused: the source has issues.
            TitleTaken: the repository has the title already, case aside.
            IdempotencyConflict: the key was used before with another request.
        """
        raise NotImplementedError

    async def read(self, channel_id: ChannelId) -> Written:
        """
        What the document says now, open or not.

        Raises:
            ChannelMissing: there is no such channel.
        """
        raise NotImplementedError

    async def update(self, request: UpdateDocument) -> Written:
        """
        Give the document a new source; people who have it open see what changed. A repeat gets the first answer.

        Raises, the first that applies:
            ChannelMissing: there is no such channel.
            IdempotencyConflict: the key was used before on this document with another request.
            ChannelArchived: it is archived.
            SourceRefused: the source has issues.
            StalePlan: the document is not at ``request.revision``.
            ProjectionProtected: a Questionnaire, Decision or Research block would change.
        """
        raise NotImplementedError

    async def rename(self, channel_id: ChannelId, title: str) -> Channel:
        """
        Give the document another title and address; people who have it open are told.

        Raises:
            ChannelMissing, ChannelArchived, TitleTaken, InvalidField.
        """
        raise NotImplementedError
