"""What can be asked about documents, whether they are open or not; writes go through the open room."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import attrs

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
    CorruptRecord,
    IdempotencyConflict,
    InvalidField,
    ProjectionProtected,
    SourceRefused,
    StalePlan,
    TitleTaken,
)
from chopin_core.ids import ChannelId, RepositoryId, channel_id
from chopin_core.jsonvalue import Json, encode
from chopin_core.people import Person, Repository
from chopin_core.placeholder_titles import placeholder_title
from chopin_core.ports.channels import ChannelCreate, Cursor, Initial, Page
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.room.room import Edit, RoomView
from chopin_core.room.rooms import Rooms
from chopin_core.sidecar import Sidecar
from chopin_core.text import storable

KEY_LENGTH: Final = 128
TITLE_TRIES: Final = 50


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
        creation = _creation(request)
        identity = channel_id(request.repository.id, _key(request.idempotency_key))
        if await self._storage.channels.get(identity) is not None:
            return await self._created_before(identity, request, creation)
        title, source = parse_title(request.title), _admitted(request.source)
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
            ChannelMissing: there is no such channel.
            IdempotencyConflict: the key was used before on this document with another request.
            ChannelArchived: it is archived.
            SourceRefused: the source has issues.
            StalePlan: the document is not at ``request.revision``.
            ProjectionProtected: a Questionnaire, Decision or Research block would change.
        """
        section = f"mcpUpdates.{hashlib.sha256(_key(request.idempotency_key).encode()).hexdigest()}"
        fingerprint = _fingerprint({"revision": request.revision, "source": request.source})
        before: list[Written] = []

        def rewrite(view: RoomView) -> Edit | None:
            record = view.sidecar.sections.get(section)
            if record is not None:
                before.append(_updated_before(record, fingerprint, request.idempotency_key, view))
                return None
            if view.channel.archived:
                raise ChannelArchived(view.channel.id)
            source = _admitted(request.source)
            if view.sidecar.counters.plan != request.revision:
                raise StalePlan(request.revision, view.sidecar.counters.plan)
            if protected_blocks(source) != protected_blocks(view.text):
                raise ProjectionProtected()
            splices = splices_between(view.text, source)
            after = PlanRevision(request.revision + bool(splices))
            return Edit(splices=splices, sections={section: _update_record(request, fingerprint, view.channel, source, after)})

        async with self._rooms.hold(request.channel_id) as room:
            view = await room.edit(rewrite, by=request.by.login)
            return before[0] if before else _written(view)

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
        if _asked(view.sidecar.sections.get("creation")) != _asked(creation):
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
            sidecar=Sidecar(sections={"creation": creation}).record(),
        )


def _admitted(source: str) -> str:
    """A source from an agent with plain line ends, once it is known to be a document."""
    storable(source, "source")
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    if issues := issues_of(text):
        raise SourceRefused(issues)
    return text


def _key(key: str) -> str:
    if not 1 <= len(storable(key, "idempotency key")) <= KEY_LENGTH or not key.strip():
        raise InvalidField("idempotency key", f"must have 1 to {KEY_LENGTH} characters and not be blank")
    return key


def _fingerprint(fields: Mapping[str, Json]) -> str:
    return hashlib.sha256(encode(fields).encode()).hexdigest()


def _written(view: RoomView) -> Written:
    return Written(
        channel=view.channel,
        source=canonical(view.text),
        revision=view.sidecar.counters.plan,
        brief=_brief(view.sidecar.sections.get("creation")),
    )


# What the sidecar keeps of an agent's requests (domain spec §4, "creation" and "mcpUpdates")


def _creation(request: CreateDocument) -> Json:
    brief = request.brief
    content: dict[str, Json] = {
        "goal": brief.goal,
        "constraints": list(brief.constraints),
        "settledDecisions": list(brief.settled_decisions),
        "openQuestions": list(brief.open_questions),
        "repositoryFindings": list(brief.repository_findings),
    }
    origin: dict[str, Json] = {
        "idempotencyKey": request.idempotency_key,
        "repository": f"{request.repository.owner}/{request.repository.name}",
        "baseBranch": request.base_branch,
        "baseCommit": request.base_commit,
        "title": request.title,
    }
    # The node id stands for the repository: its name may change between two tries.
    asked = {**origin, "repository": request.repository.id, "brief": content, "source": request.source}
    fingerprint = _fingerprint(asked)
    return {"brief": content, "origin": {**origin, "fingerprint": fingerprint}}


def _asked(creation: Json) -> Json:
    """The fingerprint of the request that a document came from; None for one that people made."""
    origin = creation.get("origin") if isinstance(creation, Mapping) else None
    return origin.get("fingerprint") if isinstance(origin, Mapping) else None


def _brief(creation: Json) -> Brief | None:
    if not isinstance(creation, Mapping) or not isinstance(content := creation.get("brief"), Mapping):
        return None
    goal = content.get("goal")
    if not isinstance(goal, str):
        raise CorruptRecord("sidecar section creation", "its brief has no goal")
    return Brief(
        goal=goal,
        constraints=_lines(content, "constraints"),
        settled_decisions=_lines(content, "settledDecisions"),
        open_questions=_lines(content, "openQuestions"),
        repository_findings=_lines(content, "repositoryFindings"),
    )


def _lines(content: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = content.get(name)
    if not isinstance(value, list | tuple):
        raise CorruptRecord("sidecar section creation", f"its brief has no {name}")
    return tuple(line for line in value if isinstance(line, str))


def _update_record(request: UpdateDocument, fingerprint: str, channel: Channel, source: str, revision: PlanRevision) -> Json:
    client = request.client
    return {
        "fingerprint": fingerprint,
        "fromRevision": request.revision,
        "client": None if client is None else {"name": client.name, "version": client.version},
        "document": {"source": canonical(source), "revision": revision, "title": channel.title, "slug": channel.slug},
    }


def _updated_before(record: Json, fingerprint: str, key: str, view: RoomView) -> Written:
    """The answer that the same request got first, whatever became of the document since."""
    document = record.get("document") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(document, Mapping):
        raise CorruptRecord("sidecar section mcpUpdates", "has the wrong shape")
    if record.get("fingerprint") != fingerprint:
        raise IdempotencyConflict(key)
    source, revision, title, slug = (document.get(name) for name in ("source", "revision", "title", "slug"))
    if not (isinstance(source, str) and isinstance(revision, int) and isinstance(title, str) and isinstance(slug, str)):
        raise CorruptRecord("sidecar section mcpUpdates", "has the wrong shape")
    return Written(
        channel=attrs.evolve(view.channel, title=title, slug=slug),
        source=source,
        revision=PlanRevision(revision),
        brief=_brief(view.sidecar.sections.get("creation")),
    )
