"""The calls of a storage that are interrupted by the tests, each with a channel and a lease of its own to act on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, Final

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId, WorkspaceId
from chopin_core.people import Person, Repository
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruning
from chopin_core.research.workspace import report_id
from chopin_core.sidecar import SidecarRecord
from chopin_storage_pg.storage import PgStorage

from interrupting import AT_A_WAIT, Kind
from made import NOW, commit, creation, event, initial, replacement
from made import checkpoint as checkpoint_of

SHORT: Final = timedelta(minutes=1)
LONG: Final = timedelta(hours=3)


@attrs.frozen(kw_only=True)
class Scene:
    """A channel with one edit in its journal, and a lease that guards nothing. All that belongs to it bears its name."""

    name: str
    channel: Channel
    own: Lease
    writer: Lease

    @property
    def operation_id(self) -> OperationId:
        return OperationId(self.name)

    @property
    def user(self) -> Person:
        return Person(id=UserId(f"user {self.name}"), login=self.name)

    @property
    def workspace_id(self) -> WorkspaceId:
        return WorkspaceId(f"workspace {self.name}")

    @property
    def report(self) -> ChannelId:
        """The id of the child that reports on its research request; it does not bear the name."""
        return report_id(self.channel.repository.id, self.workspace_id)


async def staged(storage: PgStorage, name: str, writer: Lease) -> Scene:
    repository = Repository(id=RepositoryId(f"R {name}"), owner="octo", name="notes")
    channel = await storage.channels.create(creation(name, repository=repository, initial=initial()))
    happened = attrs.evolve(event("first"), payload={"by": "ada"})
    first = commit(channel, operation_id=OperationId(f"first of {name}"), events=(happened,))
    await storage.collaboration.commit(first, lease=writer)
    await storage.users.put(Person(id=UserId(f"user {name}"), login=name), now=NOW)
    own = await storage.leases.acquire(name, "tests", SHORT)
    assert own is not None
    return Scene(name=name, channel=channel, own=own, writer=writer)


async def commits(storage: PgStorage, scene: Scene) -> object:
    wanted = commit(
        scene.channel, operation_id=scene.operation_id, expected=StorageRevision(1), update=b"second", events=(event("second"),)
    )
    return await storage.collaboration.commit(wanted, lease=scene.writer)


async def retitles(storage: PgStorage, scene: Scene) -> object:
    title = TitleChange(title=f"New title of {scene.name}")
    wanted = commit(scene.channel, operation_id=scene.operation_id, expected=StorageRevision(1), title=title)
    return await storage.collaboration.commit(wanted, lease=scene.writer)


async def replaces(storage: PgStorage, scene: Scene) -> object:
    wanted = replacement(scene.channel, operation_id=scene.operation_id, expected=StorageRevision(1))
    return await storage.collaboration.replace(wanted, lease=scene.writer)


async def checkpoints(storage: PgStorage, scene: Scene) -> object:
    wanted = checkpoint_of(scene.channel, revision=StorageRevision(1), through=StorageSequence(1))
    await storage.collaboration.checkpoint(wanted, lease=scene.writer)
    return True


async def prunes(storage: PgStorage, scene: Scene) -> object:
    step = Pruning(older_than=timedelta(0), limit=1, start=scene.channel.id)
    return await storage.collaboration.prune(step, lease=scene.writer)


async def loads(storage: PgStorage, scene: Scene) -> object:
    stored = await storage.collaboration.load(scene.channel.id)
    assert stored is not None
    assert (stored.channel.revision, stored.latest, len(stored.updates), len(stored.events)) == (1, 1, 1, 1)
    return stored


async def renews(storage: PgStorage, scene: Scene) -> object:
    renewed = await storage.leases.renew(scene.own, LONG)
    assert renewed is not None
    return renewed


async def acquires(storage: PgStorage, scene: Scene) -> object:
    acquired = await storage.leases.acquire(f"another of {scene.name}", "tests", LONG)
    assert acquired is not None
    return acquired


async def releases(storage: PgStorage, scene: Scene) -> object:
    released = await storage.leases.release(scene.own)
    assert released
    return released


async def creates(storage: PgStorage, scene: Scene) -> object:
    below = f"below {scene.name}"
    repository = scene.channel.repository
    return await storage.channels.create(creation(below, repository=repository, parent_id=scene.channel.id, initial=initial()))


async def a_child_with_a_chat(storage: PgStorage, scene: Scene) -> None:
    talkative = attrs.evolve(initial(), sidecar=SidecarRecord(head={"version": 1}, sections={"workflowRuns": [{"id": "run"}]}))
    below, repository = f"below {scene.name}", scene.channel.repository
    await storage.channels.create(creation(below, repository=repository, parent_id=scene.channel.id, initial=talkative))


async def drops_chats(storage: PgStorage, scene: Scene) -> object:
    return await storage.collaboration.drop_child_conversations(lease=scene.writer)


async def renames(storage: PgStorage, scene: Scene) -> object:
    return await storage.channels.rename(scene.channel.id, f"New name of {scene.name}", now=NOW)


async def archives(storage: PgStorage, scene: Scene) -> object:
    return await storage.channels.archive(scene.channel.id, now=NOW)


async def lists(storage: PgStorage, scene: Scene) -> object:
    return await storage.channels.list(scene.channel.repository.id)


async def looks_up(storage: PgStorage, scene: Scene) -> object:
    return await storage.collaboration.operation(scene.channel.id, scene.operation_id)


@attrs.frozen
class Call:
    """
    The method of a store as ``run`` makes it, by so many callers at once, each on a scene of its own.

    ``before``: what has to be there. ``operation``: its operation id tells whether it was kept. ``sweeps``: it goes through all
    that others left, one after the other, so that must be done beforehand.
    """

    method: str
    run: Callable[[PgStorage, Scene], Coroutine[Any, Any, object]]
    kinds: tuple[Kind, ...]
    before: Callable[[PgStorage, Scene], Awaitable[object]] | None = attrs.field(default=None, kw_only=True)
    operation: bool = attrs.field(default=False, kw_only=True)
    sweeps: bool = attrs.field(default=False, kw_only=True)
    callers: int = attrs.field(default=1, kw_only=True)

    def __str__(self) -> str:
        return self.run.__name__ if self.callers == 1 else f"{self.callers} {self.run.__name__} at once"


_ALL: Final = AT_A_WAIT
AWAY: Final = (Kind.CANCEL,)
"""For calls that go the way to the server that another one goes in all kinds; what COMMIT adds is cut for every call."""

_COMMITS: Final = Call("collaboration.commit", commits, _ALL, operation=True)
_TOGETHER: Final = attrs.evolve(_COMMITS, callers=3)
_RETITLES: Final = Call("collaboration.commit", retitles, _ALL, operation=True)
_REPLACES: Final = Call("collaboration.replace", replaces, _ALL, operation=True)
_CHECKPOINTS: Final = Call("collaboration.checkpoint", checkpoints, _ALL)
_PRUNES: Final = Call("collaboration.prune", prunes, _ALL)
_RENEWS: Final = Call("leases.renew", renews, _ALL)

JOURNAL_CALLS: Final = (
    _COMMITS,
    _TOGETHER,
    _RETITLES,
    _REPLACES,
    _CHECKPOINTS,
    _PRUNES,
    Call("collaboration.load", loads, _ALL),
    _RENEWS,
)
OTHER_CALLS: Final = (
    Call("leases.acquire", acquires, AWAY),
    Call("leases.release", releases, AWAY),
    Call("collaboration.drop_child_conversations", drops_chats, AWAY, before=a_child_with_a_chat, sweeps=True),
    Call("channels.create", creates, AWAY),
    Call("channels.rename", renames, AWAY),
    Call("channels.archive", archives, AWAY),
)
READ_CALLS: Final = (Call("channels.list", lists, AWAY), Call("collaboration.operation", looks_up, AWAY))
OPERATIONS: Final = tuple(call for call in JOURNAL_CALLS if call.operation)
GUARDED: Final = (_COMMITS, _RETITLES, _REPLACES, _CHECKPOINTS, _PRUNES)
"""The writes that need a lease."""

_CONNECTING: Final = (Kind.CANCEL, Kind.RESET, Kind.QUESTION_LOST, Kind.ANSWER_LOST)
"""Nothing was asked yet that could arrive late."""

WAYS_TO_CONNECT: Final = tuple(attrs.evolve(call, kinds=_CONNECTING) for call in (_COMMITS, _RETITLES, _RENEWS))
"""The session for commits, the pool, and the session for renewals; all other calls are the pool's."""
