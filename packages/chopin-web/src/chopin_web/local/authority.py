"""The local authority: whoever holds the token is who they say they are, and may do everything."""

from __future__ import annotations

import getpass
import hmac
import re
from collections.abc import Iterable

from itsdangerous import BadSignature, URLSafeTimedSerializer

from chopin_core.errors import InvalidField
from chopin_core.ids import UserId
from chopin_core.people import Person, Repository, RepositoryAccess
from chopin_web.local.secrets import LocalSecrets

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
SESSION_SECONDS = 30 * 24 * 3600


def local_person(name: str) -> Person:
    """
    The person of that name on this machine.

    Raises:
        InvalidField: the name is not letters, digits and inner hyphens, at most 39.
    """
    if not NAME.fullmatch(name):
        raise InvalidField("as", "must be 1 to 39 letters, digits or inner hyphens")
    return Person(id=UserId(f"local:{name}"), login=name)


def operator() -> Person:
    """The person who started the process, as the system calls them."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = ""
    fitting = re.sub(r"[^A-Za-z0-9-]+", "-", name)[:39].strip("-")
    return local_person(fitting or "me")


class LocalAuthority:
    """
    Answers for the repositories given at the start.

    A session is a signed name, so it outlives a restart without being stored anywhere; the key never leaves the machine.
    """

    def __init__(self, secrets: LocalSecrets, repositories: Iterable[RepositoryAccess], owner: Person) -> None:
        self._token = secrets.token
        self._signer = URLSafeTimedSerializer(secrets.cookie_key, salt="chopin local session")
        self._repositories = tuple(sorted(repositories, key=lambda access: (access.repository.owner, access.repository.name)))
        self._owner = owner

    def sign_in(self, token: str, name: str | None) -> str | None:
        """
        The session secret for the holder of the token, under a name of their choice or the operator's; None without it.

        Raises:
            InvalidField: the name is none.
        """
        person = self._owner if name is None else local_person(name)
        return str(self._signer.dumps(person.login)) if self._is_token(token) else None

    async def session(self, secret: str) -> Person | None:
        try:
            name = self._signer.loads(secret, max_age=SESSION_SECONDS)
        except BadSignature:
            return None
        return local_person(name) if isinstance(name, str) and NAME.fullmatch(name) else None

    async def bearer(self, token: str) -> Person | None:
        return self._owner if self._is_token(token) else None

    async def repositories(self, person: Person) -> tuple[RepositoryAccess, ...]:
        return self._repositories

    async def locate(self, person: Person, owner: str, name: str) -> RepositoryAccess | None:
        wanted = (owner.lower(), name.lower())
        for access in self._repositories:
            if (access.repository.owner.lower(), access.repository.name.lower()) == wanted:
                return access
        return None

    async def access(self, person: Person, repository: Repository) -> RepositoryAccess | None:
        return next((access for access in self._repositories if access.repository.id == repository.id), None)

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token.encode())
