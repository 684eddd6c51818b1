"""Storage of paired machines: local agents that somebody let work for them, and which of them works on what."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.counters import LARGEST, CredentialRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, MachineId, RepositoryId, UserId
from chopin_core.instants import aware_field
from chopin_core.text import LONGEST_KEY, key_field, storable_field


@attrs.frozen(kw_only=True)
class MachineCredentials:
    """Ciphertext that storage can neither read nor use; ``revision`` is 1 at first and one more with each change."""

    ciphertext: bytes = attrs.field(repr=False)
    revision: CredentialRevision = attrs.field(default=CredentialRevision(1))

    @revision.validator
    def _counted(self, attribute: attrs.Attribute[CredentialRevision], value: CredentialRevision) -> None:
        if not 1 <= value <= LARGEST:
            raise InvalidField("revision", "is no counter")


def refuse_long_hash(value: bytes) -> None:
    """
    Raises:
        InvalidField: it has more bytes than an index can hold, which no hash of a token has.
    """
    if len(value) > LONGEST_KEY:
        raise InvalidField("token_hash", f"has more than {LONGEST_KEY} bytes")


@attrs.frozen(kw_only=True)
class Pairing:
    """A machine to be paired. ``token_hash`` is what is kept of its token."""

    id: MachineId = attrs.field(validator=key_field)
    owner: UserId = attrs.field(validator=key_field)
    label: str = attrs.field(validator=storable_field)
    repositories: frozenset[RepositoryId] = frozenset()
    auto_run: bool = False
    token_hash: bytes = attrs.field(repr=False)
    ciphertext: bytes | None = attrs.field(default=None, repr=False)
    now: datetime = attrs.field(validator=aware_field)

    @token_hash.validator
    def _short(self, attribute: attrs.Attribute[bytes], value: bytes) -> None:
        refuse_long_hash(value)


@attrs.frozen(kw_only=True)
class Machine:
    """A machine as it is stored. One that was revoked has no credentials, and is found by id alone."""

    id: MachineId
    owner: UserId
    label: str
    repositories: frozenset[RepositoryId]
    auto_run: bool
    credentials: MachineCredentials | None
    last_contact_at: datetime | None
    created_at: datetime
    revoked_at: datetime | None

    @property
    def revoked(self) -> bool:
        return self.revoked_at is not None


class MachineStore(Protocol):
    """Machines, each person's favourite, and each person's choice for a document. No lease is needed."""

    async def pair(self, pairing: Pairing) -> Machine:
        """
        Keep a new machine, with its credentials at revision 1 if it brings any.

        Raises, the first that applies:
            UserMissing: there is no such owner.
            MachineExists: the id or the token hash is in use.
        """
        ...

    async def get(self, machine_id: MachineId) -> Machine | None:
        """The machine, revoked or not, or None."""
        ...

    async def find(self, token_hash: bytes) -> Machine | None:
        """The machine whose token hashes to this; None also if it was revoked."""
        ...

    async def of(self, owner: UserId) -> tuple[Machine, ...]:
        """The person's machines that are not revoked, the latest paired first, then ids in code-point order."""
        ...

    async def change(
        self, machine_id: MachineId, *, owner: UserId, label: str, repositories: frozenset[RepositoryId], auto_run: bool
    ) -> Machine:
        """
        Give it another label, other repositories, another habit.

        Raises:
            MachineMissing: the owner has no such machine, or it was revoked.
        """
        ...

    async def touch(self, machine_id: MachineId, *, now: datetime) -> bool:
        """Remember the contact; it never goes back in time. False if there is no such machine, or it was revoked."""
        ...

    async def rotate(self, machine_id: MachineId, credentials: MachineCredentials) -> bool:
        """Put credentials in the place of those with the revision just before theirs; False if these are not there."""
        ...

    async def authorize(self, machine_id: MachineId, *, owner: UserId, token_hash: bytes, ciphertext: bytes) -> Machine:
        """
        Replace token and credentials, whatever they were, under the next revision (1 if there were none); also by the same.

        Raises, the first that applies:
            InvalidField: the token hash has more than 1024 bytes.
            MachineMissing: the owner has no such machine, or it was revoked.
            MachineExists: another machine has that token hash.
        """
        ...

    async def revoke(self, machine_id: MachineId, *, owner: UserId, now: datetime) -> bool:
        """
        End it for good: its credentials are discarded, and nobody's choice or favourite names it any more.

        False, and nothing changes, if the owner has no such machine or it was revoked before.
        """
        ...

    async def choose(self, user_id: UserId, channel_id: ChannelId, machine_id: MachineId | None) -> None:
        """
        Let a machine work for the person on a document; None goes back to automatic. Also forgotten with the document.

        Raises, the first that applies:
            UserMissing, ChannelMissing.
            MachineMissing: the person has no such machine, or it was revoked.
        """
        ...

    async def chosen(self, user_id: UserId, channel_id: ChannelId) -> MachineId | None:
        """The person's choice for the document; None is automatic."""
        ...

    async def favour(self, user_id: UserId, machine_id: MachineId | None) -> None:
        """
        Make a machine the one that automatic prefers, instead of any other; None for none.

        Raises, the first that applies:
            UserMissing.
            MachineMissing: the person has no such machine, or it was revoked.
        """
        ...

    async def favourite(self, user_id: UserId) -> MachineId | None: ...
