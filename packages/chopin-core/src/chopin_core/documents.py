"""What can be asked about documents, whether they are open or not; writes go through the open room."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Final

import attrs

from chopin_core.agent_requests import (
    CREATION,
    Brief,
    CreateDocument,
    UpdateAnswer,
    UpdateDocument,
    brief_of,
    checked_key,
    creation_record,
    first_answer,
    same_creation,
    update_record,
    update_section,
)
from chopin_core.channel import Channel, TitlePolicy, parse_title, slug_of
from chopin_core.counters import Epoch, PlanRevision
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.dialect.source import issues_of
from chopin_core.document.protected import protected_blocks
from chopin_core.document.rewriting import splices_between
from chopin_core.document.splice import Splice
from chopin_core.errors import (
    ChannelArchived,
    ChannelExists,
    IdempotencyConflict,
    ProjectionProtected,
    SourceRefused,
    StalePlan,
    TitleTaken,
)
from chopin_core.ids import ChannelId, RepositoryId, channel_id
from chopin_core.jsonvalue import Json
from chopin_core.people import Person, Repository
from chopin_core.placeholder_titles import placeholder_title
from chopin_core.ports.channels import ChannelCreate, Cursor, Initial, Page
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.room.room import Edit, RoomView
from chopin_core.room.rooms import Rooms
from chopin_core.sidecar import Sidecar
from chopin_core.text import storable

TITLE_TRIES: Final = 50


@attrs.frozen(kw_only=True)
class Written:
    """A document and what it says: canonical source, at the plan revision an update of it must name."""

    channel: Channel
    source: str
    revision: PlanRevision
    brief: Brief | None = None


class Documents:
    """
    The documents of one storage, for the shells. Whether a person may ask is the shells' question, not asked here.
    :func:`chopin_core.running.running` makes one.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        rooms: Rooms,
        engine: DocumentEngine,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._storage = storage
        self._rooms = rooms
        self._engine = engine
        self._now = now
        self._new_id = new_id

    async def get(self, channel_id: ChannelId) -> Channel | None:
        """The channel, archived or not, or None."""
        return await self._storage.channels.get(channel_id)

    async def resolve(self, repository_id: RepositoryId, address: str) -> Channel | None:
        """The channel found under what somebody typed as its address, historical ones included, or None."""
        return await self._storage.channels.resolve(repository_id, slug_of(storable(address, "address")))

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
        return await self._storage.channels.list(
            repository_id, limit=limit, after=after, query=query, include_archived=include_archived
        )

    async def create_blank(self, repository: Repository, title: str | None, *, by: Person) -> Channel:
        """
        A new, empty document; without a title it gets two words.

        Raises:
            InvalidField: the title is none.
            TitleTaken: the repository has it already, case aside.
        """
        given = None if title is None else parse_title(title)
        await self._storage.users.put(by, now=self._now())
        for _ in range(1 if given else TITLE_TRIES):
            try:
                return await self._storage.channels.create(
                    ChannelCreate(
                        id=channel_id(repository.id, str(uuid.uuid4())),
                        repository=repository,
                        title=given or placeholder_title(),
                        created_by=by.id,
                        now=self._now(),
                        titles=TitlePolicy.UNIQUE,
                    )
                )
            except TitleTaken:
                if given:
                    raise
        return await self.create_blank(repository, f"{placeholder_title()}-{uuid.uuid4().hex[:8]}", by=by)

    async def create(self, request: CreateDocument) -> Written:
        """
        The document an agent asked for: made now, or the one made when it asked before.

        Raises:
            InvalidField: a field is out of bounds.
            SourceRefused: the source has issues.
            ProjectionProtected: it holds a Questionnaire, Decision or Research block, which only records bring about.
            TitleTaken: the repository has the title already, case aside.
            IdempotencyConflict: the key was used before with another request.
        """
        creation = creation_record(request)
        identity = channel_id(request.repository.id, checked_key(request.idempotency_key))
        if await self._storage.channels.get(identity) is not None:
            return await self._created_before(identity, request, creation)
        title, source = parse_title(request.title), _plain(request.source)
        if issues := await asyncio.to_thread(issues_of, source):
            raise SourceRefused(issues)
        if protected_blocks(source):
            raise ProjectionProtected()
        await self._storage.users.put(request.by, now=self._now())
        try:
            channel = await self._storage.channels.create(
                ChannelCreate(
                    id=identity,
                    repository=request.repository,
                    title=title,
                    created_by=request.by.id,
                    now=self._now(),
                    titles=TitlePolicy.UNIQUE,
                    initial=self._initial(source, creation),
                )
            )
        except (ChannelExists, TitleTaken):
            # The same request may have won the race; then its title is the one that is taken.
            if await self._storage.channels.get(identity) is None:
                raise
            return await self._created_before(identity, request, creation)
        return Written(channel=channel, source=canonical(source), revision=PlanRevision(0), brief=request.brief)

    async def read(self, channel_id: ChannelId) -> Written:
        """
        What the document says now, open or not.

        Raises:
            ChannelMissing: there is no such channel.
        """
        async with self._rooms.hold(channel_id) as room:
            return _written(room.view())

    async def update(self, request: UpdateDocument) -> Written:
        """
        Give the document a new source; people who have it open see what changed. A repeat gets the first answer.

        Raises, the first that applies:
            InvalidField: the key or the source cannot be stored.
            ChannelMissing: there is no such channel.
            IdempotencyConflict: the key was used before on this document with another request.
            ChannelArchived: it is archived.
            SourceRefused: the source has issues.
            StalePlan: the document is not at ``request.revision``.
            ProjectionProtected: a Questionnaire, Decision or Research block would change.
        """
        section = update_section(request.idempotency_key)
        source = _plain(request.source)
        # Off the event loop: the one check whose cost an agent can drive up.
        issues = await asyncio.to_thread(issues_of, source)
        before: list[UpdateAnswer] = []

        def rewrite(view: RoomView) -> Edit | None:
            record = view.sidecar.sections.get(section)
            if record is not None:
                before.append(first_answer(record, request))
                return None
            if view.channel.archived:
                raise ChannelArchived(view.channel.id)
            if issues:
                raise SourceRefused(issues)
            if view.sidecar.counters.plan != request.revision:
                raise StalePlan(request.revision, view.sidecar.counters.plan)
            if protected_blocks(source) != protected_blocks(view.text):
                raise ProjectionProtected()
            splices = splices_between(view.text, source)
            answer = UpdateAnswer(
                source=canonical(source),
                revision=PlanRevision(request.revision + bool(splices)),
                title=view.channel.title,
                slug=view.channel.slug,
            )
            return Edit(splices=splices, sections={section: update_record(request, answer)})

        async with self._rooms.hold(request.channel_id) as room:
            view = await room.edit(rewrite, by=request.by.login)
        if not before:
            return _written(view)
        [answer] = before
        return Written(
            channel=attrs.evolve(view.channel, title=answer.title, slug=answer.slug),
            source=answer.source,
            revision=answer.revision,
            brief=brief_of(view.sidecar.sections.get(CREATION)),
        )

    async def rename(self, channel_id: ChannelId, title: str) -> Channel:
        """
        Give the document another title and address; people who have it open are told. The same title changes nothing.

        Raises:
            InvalidField: the title is none.
            ChannelMissing: there is no such channel.
            ChannelArchived: it is archived.
            TitleTaken: another document of the repository has it, case aside.
        """
        wanted = parse_title(title)
        async with self._rooms.hold(channel_id) as room:
            if room.channel.title == wanted and not room.channel.archived:
                return room.channel
            return await room.rename(wanted, TitlePolicy.UNIQUE)

    async def _created_before(self, identity: ChannelId, request: CreateDocument, creation: Json) -> Written:
        async with self._rooms.hold(identity) as room:
            view = room.view()
        if not same_creation(view.sidecar.sections.get(CREATION), creation):
            raise IdempotencyConflict(request.idempotency_key)
        return _written(view)

    def _initial(self, source: str, creation: Json) -> Initial:
        replica = self._engine.new()
        if source:
            replica.splice([Splice(0, 0, source)])
        projection = canonical(source)
        return Initial(
            generation=self._new_id(),
            epoch=Epoch(self._new_id()),
            source=projection,
            source_hash=source_hash(projection),
            document=replica.update(),
            sidecar=Sidecar(sections={CREATION: creation}).record(),
        )


def _plain(source: str) -> str:
    """A source from an agent with plain line ends."""
    return storable(source, "source").replace("\r\n", "\n").replace("\r", "\n")


def _written(view: RoomView) -> Written:
    return Written(
        channel=view.channel,
        source=canonical(view.text),
        revision=view.sidecar.counters.plan,
        brief=brief_of(view.sidecar.sections.get(CREATION)),
    )
