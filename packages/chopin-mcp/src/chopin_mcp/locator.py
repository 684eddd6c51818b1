"""Where a document is found and what it is called in public: ids, readable paths and URLs, in both directions."""

from __future__ import annotations

from urllib.parse import SplitResult, quote, unquote, urlsplit

import attrs

from chopin_core.channel import Channel
from chopin_core.documents import Documents
from chopin_core.errors import InvalidField
from chopin_core.ids import CHANNEL_ID, ChannelId
from chopin_core.people import Person, Repository
from chopin_core.ports.authority import Authority
from chopin_core.text import storable


class DocumentUnavailable(Exception):
    """No document, or none that this person may know of: the two must look alike."""


class RepositoryForbidden(Exception):
    """No such repository, or this person lacks the right; which of the two is not told either."""


@attrs.frozen(kw_only=True)
class Locator:
    """Finds what a person may see. ``origin`` is the address of this server as people type it, without a path."""

    documents: Documents
    authority: Authority
    origin: str

    async def repository(self, person: Person, full_name: str, *, write: bool = False) -> Repository:
        """
        The repository now found under ``owner/name``.

        Raises:
            RepositoryForbidden: there is none in which this person may read, or ``write``.
        """
        owner, _, name = full_name.partition("/")
        access = await self.authority.locate(person, owner, name)
        if access is None or (write and not access.role.writes):
            raise RepositoryForbidden
        return access.repository

    async def document(self, person: Person, address: str, *, write: bool = False) -> tuple[Channel, Repository]:
        """
        The document found under an id, a readable path or a URL of this server, and its repository as it is called now.

        Raises:
            DocumentUnavailable: it is no address, leads nowhere, or leads to what this person may not see.
            RepositoryForbidden: this person may read it but not ``write``.
        """
        channel = await self._channel(person, address)
        access = None if channel is None else await self.authority.access(person, channel.repository)
        if channel is None or access is None or access.repository.id != channel.repository.id:
            raise DocumentUnavailable
        if write and not access.role.writes:
            raise RepositoryForbidden
        return channel, access.repository

    async def url(self, channel: Channel, repository: Repository) -> str:
        """The readable URL of a channel, below its parent's if it has one, under the repository's present name."""
        parent = None if channel.parent_id is None else await self.documents.get(channel.parent_id)
        slugs = (channel.slug,) if parent is None else (parent.slug, "children", channel.slug)
        steps = ("documents", repository.owner, repository.name, *slugs)
        return "/".join((self.origin, *(quote(step, safe="") for step in steps)))

    async def _channel(self, person: Person, address: str) -> Channel | None:
        if CHANNEL_ID.fullmatch(address):
            return await self.documents.get(ChannelId(address))
        steps = _steps(address, self.origin)
        match steps:
            case ["documents", owner, name, slug]:
                return await self._resolve(person, owner, name, slug)
            case ["documents", owner, name, parent_slug, "children", slug]:
                parent = await self._resolve(person, owner, name, parent_slug)
                child = await self._resolve(person, owner, name, slug)
                return child if parent is not None and child is not None and child.parent_id == parent.id else None
            case _:
                return None

    async def _resolve(self, person: Person, owner: str, name: str, slug: str) -> Channel | None:
        access = await self.authority.locate(person, owner, name)
        return None if access is None else await self.documents.resolve(access.repository.id, slug)


def _steps(address: str, origin: str) -> list[str]:
    """The decoded steps of a path, or of a URL's path if it is on ``origin``; none at all for anything else."""
    try:
        parts = urlsplit(address)
        if (parts.scheme or parts.netloc) and _site(parts) != _site(urlsplit(origin)):
            return []
        if not parts.path.startswith("/"):
            return []
        return [storable(unquote(step, errors="strict"), "address") for step in parts.path.strip("/").split("/")]
    except (ValueError, InvalidField):
        return []


def _site(parts: SplitResult) -> tuple[str, str, int | None]:
    """Scheme, host and port, the last also when the scheme implies it; a user before an ``@`` makes it another site."""
    user, at, _ = parts.netloc.rpartition("@")
    return parts.scheme, f"{user}{at}{parts.hostname}", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
