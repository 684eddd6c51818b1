"""Storage of web sessions: who is signed in until when, and the ciphertext that lets them act at GitHub."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

import attrs

from chopin_core.counters import LARGEST, CredentialRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import SessionId, UserId
from chopin_core.instants import aware_field
from chopin_core.ports.leases import Lease
from chopin_core.text import key_field

FIRST_CREDENTIALS = CredentialRevision(1)


@attrs.frozen(kw_only=True)
class Credentials:
    """
    What storage keeps for somebody without being able to read or use it: both values are opaque bytes.

    ``revision`` is 1 at first and one more with each rotation.
    """

    secret_hash: bytes = attrs.field(repr=False)
    ciphertext: bytes = attrs.field(repr=False)
    revision: CredentialRevision = attrs.field(default=FIRST_CREDENTIALS)

    @revision.validator
    def _counted(self, attribute: attrs.Attribute[CredentialRevision], value: CredentialRevision) -> None:
        if not 1 <= value <= LARGEST:
            raise InvalidField("revision", "is no counter")


@attrs.frozen(kw_only=True)
class WebSession:
    """Somebody signed in, until ``expires_at`` exclusively. One without credentials only says who it was."""

    id: SessionId = attrs.field(validator=key_field)
    user_id: UserId = attrs.field(validator=key_field)
    expires_at: datetime = attrs.field(validator=aware_field)
    created_at: datetime = attrs.field(validator=aware_field)
    credentials: Credentials | None = None


@attrs.frozen(kw_only=True)
class SessionsReset:
    """How many sessions a start removed, and the lease as it was extended with that."""

    deleted: int
    lease: Lease


class WebSessionStore(Protocol):
    """
    Sessions by id. Where a session ends, the Planner ownership it holds ends in the same step: the owner goes, the status
    becomes unavailable, and generation, summary and cursor stay.
    """

    async def create(self, session: WebSession) -> None:
        """
        Keep a new session.

        Raises, the first that applies:
            UserMissing: there is no such user.
            SessionExists: the id is in use.
        """
        ...

    async def get(self, session_id: SessionId, *, now: datetime) -> WebSession | None:
        """The session if it ends strictly after ``now``, else None."""
        ...

    async def rotate(self, session_id: SessionId, credentials: Credentials) -> bool:
        """
        Put credentials in the place of those with the revision just before theirs; False if these are not there.

        Never brings back a session that was deleted, and never gives credentials to one without. The expiry is not asked.
        """
        ...

    async def delete(self, session_id: SessionId, *, now: datetime) -> bool:
        """Remove the session; whether there was one."""
        ...

    async def delete_expired(self, *, now: datetime) -> int:
        """Remove every session that ends at or before ``now``; how many."""
        ...

    async def reset(self, *, now: datetime, lease: Lease, ttl: timedelta) -> SessionsReset:
        """
        What a start does, in one step: no session owns a Planner any more, those that expired and those without credentials
        are gone, and the lease is extended under its fencing token.

        Raises:
            LeaseLost: the lease is not held; nothing was changed.
        """
        ...
