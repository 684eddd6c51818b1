"""Renewable leases whose fencing tokens guard every durable write."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

import attrs

from chopin_core.counters import FencingToken

WRITER = "chopin:writer"
"""The lease of the one process that writes to a database."""


@attrs.frozen(kw_only=True)
class Lease:
    """A lease as it was last granted. ``expires_at`` is on the clock of storage, never on the caller's."""

    name: str
    owner: str
    fencing: FencingToken
    expires_at: datetime


class LeaseStore(Protocol):
    """Leases by name. Fencing tokens of a name start at 1 and never fall. All times are those of storage's clock."""

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> Lease | None:
        """
        Take the lease, or None while another owner's has not expired.

        An unexpired lease of the same owner is extended under the same fencing token. An expired or released one is taken
        under the next token, by whomever. Waits for a guarded write in flight under the lease being taken over.

        Raises:
            InvalidField: the name is no key, or the owner cannot be stored (see ``text``).
        """
        ...

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        """
        Extend the lease under the same token; None if name, owner and token do not match or it has expired.

        Never waits for a guarded write in flight.
        """
        ...

    async def release(self, lease: Lease) -> bool:
        """
        Let go of the lease, also an expired one; True if name, owner and token matched.

        The name keeps its fencing token, so the next taker gets a higher one. Releasing twice is True until somebody else
        has taken it.
        """
        ...

    async def holder(self, name: str) -> Lease | None:
        """The lease as it is held now, or None when it is free or has expired; for a message to people, not for a decision."""
        ...
