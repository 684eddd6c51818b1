"""Who is asking and what they may do, for every route and socket; unknown, foreign and unreadable look alike."""

from __future__ import annotations

import attrs
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from chopin_core.channel import Channel
from chopin_core.documents import Documents
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, parse_channel_id
from chopin_core.people import Person, RepositoryAccess
from chopin_core.ports.authority import Authority


@attrs.frozen(kw_only=True)
class Access:
    """The authority behind the shell, and the cookie that carries a session's secret."""

    authority: Authority
    documents: Documents
    cookie: str

    async def person(self, connection: HTTPConnection) -> Person:
        """
        The signed-in person.

        Raises:
            HTTPException: 401; nobody is signed in.
        """
        secret = connection.cookies.get(self.cookie)
        person = await self.authority.session(secret) if secret else None
        if person is None:
            raise HTTPException(401, "Please sign in")
        return person

    async def repository(self, person: Person, owner: str, name: str) -> RepositoryAccess:
        """
        The repository under that name.

        Raises:
            HTTPException: 404; there is none, or the person may not see it.
        """
        access = await self.authority.locate(person, owner, name)
        if access is None:
            raise not_found()
        return access

    async def channel(self, person: Person, identity: object) -> tuple[Channel, RepositoryAccess]:
        """
        The channel with that id, and the person's access to its repository.

        Raises:
            HTTPException: 404; the id is none, there is no such channel, or the person may not see it.
        """
        channel = await self.documents.get(_id_or_not_found(identity))
        access = None if channel is None else await self.authority.access(person, channel.repository)
        if channel is None or access is None:
            raise not_found()
        return channel, access


def _id_or_not_found(identity: object) -> ChannelId:
    try:
        return parse_channel_id(identity)
    except InvalidField:
        raise not_found() from None


def not_found() -> HTTPException:
    """The one answer for whatever is not there, or not for the person who asks."""
    return HTTPException(404, "Not found")


def require_write(access: RepositoryAccess) -> None:
    """
    Raises:
        HTTPException: 403; the person may read this repository but not write to it.
    """
    if not access.role.writes:
        raise HTTPException(403, "You may read this repository but not write to it")
