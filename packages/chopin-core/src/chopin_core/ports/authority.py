"""Who is this, which repositories may they see, and with which right."""

from __future__ import annotations

from typing import Protocol

from chopin_core.people import Person, Repository, RepositoryAccess


class Authority(Protocol):
    """
    Answers about people. It never answers from a name alone: a repository's node id decides.

    Every method may raise ``Unavailable`` when the answer cannot be had now.
    """

    async def session(self, secret: str) -> Person | None:
        """The person whom a browser's session secret stands for, or None."""
        ...

    async def bearer(self, token: str) -> Person | None:
        """The person whom an agent's bearer token stands for, or None."""
        ...

    async def repositories(self, person: Person) -> tuple[RepositoryAccess, ...]:
        """Every repository the person may see, by owner and name."""
        ...

    async def locate(self, person: Person, owner: str, name: str) -> RepositoryAccess | None:
        """The repository now found under that name (case aside), or None if there is none or the person may not see it."""
        ...

    async def access(self, person: Person, repository: Repository) -> RepositoryAccess | None:
        """The person's access to exactly this repository; None also when another one has taken its name."""
        ...
