"""Storage of where a person was: the repositories of their sidebar, and the last document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import NavigationRevision
from chopin_core.ids import ChannelId, RepositoryId, UserId
from chopin_core.people import Repository


@attrs.frozen(kw_only=True)
class Project:
    """A repository in somebody's sidebar. Positions count from 0 in the order of adding."""

    repository: Repository
    position: int
    added_at: datetime


@attrs.frozen(kw_only=True)
class AddedProject:
    """The project, and whether it is new."""

    project: Project
    added: bool


@attrs.frozen(kw_only=True)
class Navigation:
    """The last document, and a revision: 0 for the first write, one more for each later one, also of the same."""

    last_document: ChannelId | None
    revision: NavigationRevision
    updated_at: datetime


@attrs.frozen(kw_only=True)
class MovedNavigation:
    """The navigation as it is now, and whether the caller's write is what it shows."""

    navigation: Navigation
    updated: bool


@attrs.frozen(kw_only=True)
class Sidebar:
    """
    What a person comes back to, from one consistent read.

    ``navigation`` is None until it was written; ``repository_id`` is where the last document is, None if there is none or it
    is archived.
    """

    projects: tuple[Project, ...]
    navigation: Navigation | None
    repository_id: RepositoryId | None


class NavigationStore(Protocol):
    """
    The navigation of each user. No lease is needed.

    Every method raises ``UserMissing`` for somebody unknown. A document that is deleted is nobody's last one any more; that
    moves neither revision nor time. Setting the same document again moves the revision again.
    """

    async def sidebar(self, user_id: UserId) -> Sidebar: ...

    async def first_document(self, user_id: UserId, repositories: Sequence[RepositoryId]) -> Channel | None:
        """
        The document to start with: of the first project, in its order and among these repositories, that has an active one,
        the one with the latest activity (then the smallest id). Children count.
        """
        ...

    async def add_project(self, user_id: UserId, repository: Repository, *, now: datetime) -> AddedProject:
        """Put a repository last in the sidebar; one that is there stays as it was. The navigation does not move."""
        ...

    async def set_last_document(self, user_id: UserId, channel_id: ChannelId | None, *, now: datetime) -> Navigation:
        """
        Remember the document, or that there is none.

        Raises, the first that applies:
            ChannelMissing: there is no such channel.
            ChannelArchived: it is archived.
        """
        ...

    async def move_last_document(
        self, user_id: UserId, channel_id: ChannelId | None, *, expected: NavigationRevision | None, now: datetime
    ) -> MovedNavigation:
        """
        :meth:`set_last_document`, if the navigation is at ``expected`` (None: was never written); else it stays as it is.

        Raises: as there, and then
            NavigationMissing: a revision was expected, and nothing was ever written.
        """
        ...

    async def record_visit(
        self, user_id: UserId, channel_id: ChannelId, repository: Repository, *, now: datetime
    ) -> Navigation:
        """
        Add the project if it is new and remember the document, both or neither.

        Raises, the first that applies:
            ChannelMissing: there is no such channel in that repository.
            ChannelArchived: it is archived.
        """
        ...
