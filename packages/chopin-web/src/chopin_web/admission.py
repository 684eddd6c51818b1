"""Whether the person behind an open socket may still be there: asked again every minute and before guarded frames."""

from __future__ import annotations

import enum
import time

from starlette.requests import HTTPConnection

from chopin_core.channel import Channel
from chopin_core.errors import Unavailable
from chopin_core.people import Person, RepositoryAccess
from chopin_web.access import Access

MEMORY = 60.0
"""How long an answer of the authority counts, in seconds (operations spec §6)."""


class Verdict(enum.Enum):
    ALLOWED = "allowed"
    UNAVAILABLE = "unavailable"
    DENIED = "denied"


class Admission:
    """One connection's right to one channel's repository."""

    def __init__(
        self, access: Access, connection: HTTPConnection, person: Person, channel: Channel, granted: RepositoryAccess
    ) -> None:
        self._access = access
        self._secret = connection.cookies.get(access.cookie, "")
        self._person = person
        self._repository = channel.repository
        self._granted = granted
        self._asked = time.monotonic()

    @property
    def can_manage(self) -> bool:
        return self._granted.role.writes

    async def renewed(self, *, now: bool = False) -> Verdict:
        """The verdict as of at most a minute ago; with ``now``, as of now. An outage leaves things as they were."""
        if not now and time.monotonic() - self._asked < MEMORY:
            return Verdict.ALLOWED
        try:
            person = await self._access.authority.session(self._secret)
            if person is None or person.id != self._person.id:
                return Verdict.DENIED
            granted = await self._access.authority.access(person, self._repository)
        except Unavailable:
            return Verdict.UNAVAILABLE
        if granted is None:
            return Verdict.DENIED
        self._granted = granted
        self._asked = time.monotonic()
        return Verdict.ALLOWED
