"""Navigation that goes where somebody else had gone meanwhile, or half the way."""

from __future__ import annotations

from datetime import datetime

from chopin_core.counters import NavigationRevision
from chopin_core.errors import ChopinError
from chopin_core.ids import ChannelId, UserId
from chopin_core.memory.navigation import MemoryNavigationStore
from chopin_core.people import Repository
from chopin_core.ports.navigation import MovedNavigation, Navigation

from mutants import memory


class MovesWhatever(MemoryNavigationStore):
    """Whichever revision is expected, the one that is found will do."""

    async def move_last_document(
        self, user_id: UserId, channel_id: ChannelId | None, *, expected: NavigationRevision | None, now: datetime
    ) -> MovedNavigation:
        found = self._connection.tables.navigations.get(user_id)
        at = expected if found is None else found.revision
        return await super().move_last_document(user_id, channel_id, expected=at, now=now)


class HalfAVisit(MemoryNavigationStore):
    """The project is added before anybody asks whether the document can be visited."""

    async def record_visit(
        self, user_id: UserId, channel_id: ChannelId, repository: Repository, *, now: datetime
    ) -> Navigation:
        try:
            return await super().record_visit(user_id, channel_id, repository, now=now)
        except ChopinError:
            if user_id in self._connection.tables.users:
                await self.add_project(user_id, repository, now=now)
            raise


class VisitInTwoSteps(MemoryNavigationStore):
    """The project is there before the document is remembered."""

    async def record_visit(
        self, user_id: UserId, channel_id: ChannelId, repository: Repository, *, now: datetime
    ) -> Navigation:
        visited = await super().record_visit(user_id, channel_id, repository, now=now)
        navigations = self._connection.tables.navigations
        before = None if visited.revision == 0 else navigations[user_id]
        del navigations[user_id]
        await self._connection.turn()
        navigations[user_id] = before or visited
        return visited


moved_whatever = memory.adapter(navigation=MovesWhatever)
half_a_visit = memory.adapter(navigation=HalfAVisit)
visit_in_two_steps = memory.adapter(navigation=VisitInTwoSteps)
