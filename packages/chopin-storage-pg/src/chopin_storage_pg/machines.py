"""The store of paired machines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import CredentialRevision
from chopin_core.errors import ChannelMissing, CorruptRecord, MachineExists, MachineMissing
from chopin_core.ids import ChannelId, MachineId, RepositoryId, UserId
from chopin_core.jsonvalue import decode, encode
from chopin_core.ports.machines import Machine, MachineCredentials, Pairing, refuse_long_hash
from chopin_core.text import storable
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import channels, machine_choices, machine_favourites, machines
from chopin_storage_pg.users import refuse_unknown


class PgMachineStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def pair(self, pairing: Pairing) -> Machine:
        exists = MachineExists(pairing.id)
        async with self._connections.writing({"machines_pkey": exists, "machines_token_hash_key": exists}) as connection:
            await refuse_unknown(connection, pairing.owner)
            made = await connection.execute(
                insert(machines)
                .values(
                    id=pairing.id,
                    owner_id=pairing.owner,
                    label=pairing.label,
                    repositories=_text(pairing.repositories),
                    auto_run=pairing.auto_run,
                    token_hash=pairing.token_hash,
                    ciphertext=pairing.ciphertext,
                    credential_revision=None if pairing.ciphertext is None else 1,
                    created_at=pairing.now,
                )
                .returning(machines)
            )
            return _machine(made.one())

    async def get(self, machine_id: MachineId) -> Machine | None:
        if not rows.can_exist(machine_id):
            return None
        return await self._first(select(machines).where(machines.c.id == machine_id))

    async def find(self, token_hash: bytes) -> Machine | None:
        return await self._first(select(machines).where(machines.c.token_hash == token_hash, machines.c.revoked_at.is_(None)))

    async def of(self, owner: UserId) -> tuple[Machine, ...]:
        if not rows.can_exist(owner):
            return ()
        async with self._connections.single() as connection:
            found = await connection.execute(
                select(machines)
                .where(machines.c.owner_id == owner, machines.c.revoked_at.is_(None))
                .order_by(machines.c.created_at.desc(), machines.c.id)
            )
            return tuple(_machine(row) for row in found)

    async def change(
        self, machine_id: MachineId, *, owner: UserId, label: str, repositories: frozenset[RepositoryId], auto_run: bool
    ) -> Machine:
        changes = {"label": storable(label, "label"), "repositories": _text(repositories), "auto_run": auto_run}
        return await self._owners(machine_id, owner, **changes)

    async def touch(self, machine_id: MachineId, *, now: datetime) -> bool:
        if not rows.can_exist(machine_id):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(machines)
                .where(machines.c.id == machine_id, machines.c.revoked_at.is_(None))
                .values(last_contact_at=func.greatest(machines.c.last_contact_at, now))
            )
            return result.rowcount == 1

    async def rotate(self, machine_id: MachineId, credentials: MachineCredentials) -> bool:
        if not rows.can_exist(machine_id):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(machines)
                .where(machines.c.id == machine_id, machines.c.credential_revision == credentials.revision - 1)
                .values(ciphertext=credentials.ciphertext, credential_revision=credentials.revision)
            )
            return result.rowcount == 1

    async def authorize(self, machine_id: MachineId, *, owner: UserId, token_hash: bytes, ciphertext: bytes) -> Machine:
        refuse_long_hash(token_hash)
        return await self._owners(
            machine_id,
            owner,
            token_hash=token_hash,
            ciphertext=ciphertext,
            credential_revision=func.coalesce(machines.c.credential_revision, 0) + 1,
        )

    async def revoke(self, machine_id: MachineId, *, owner: UserId, now: datetime) -> bool:
        if not rows.can_exist(machine_id, owner):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(machines)
                .where(machines.c.id == machine_id, machines.c.owner_id == owner, machines.c.revoked_at.is_(None))
                .values(ciphertext=None, credential_revision=None, revoked_at=now)
            )
            if result.rowcount == 0:
                return False
            await connection.execute(delete(machine_choices).where(machine_choices.c.machine_id == machine_id))
            await connection.execute(delete(machine_favourites).where(machine_favourites.c.machine_id == machine_id))
            return True

    async def choose(self, user_id: UserId, channel_id: ChannelId, machine_id: MachineId | None) -> None:
        async with self._connections.writing() as connection:
            await refuse_unknown(connection, user_id)
            known = select(channels.c.id).where(channels.c.id == channel_id).with_for_update(read=True, key_share=True)
            if not rows.can_exist(channel_id) or await connection.scalar(known) is None:
                raise ChannelMissing(channel_id)
            if machine_id is None:
                theirs = (machine_choices.c.user_id == user_id, machine_choices.c.channel_id == channel_id)
                await connection.execute(delete(machine_choices).where(*theirs))
                return
            await _refuse_foreign(connection, machine_id, user_id)
            chosen = insert(machine_choices).values(user_id=user_id, channel_id=channel_id, machine_id=machine_id)
            await connection.execute(
                chosen.on_conflict_do_update(
                    index_elements=[machine_choices.c.user_id, machine_choices.c.channel_id], set_={"machine_id": machine_id}
                )
            )

    async def chosen(self, user_id: UserId, channel_id: ChannelId) -> MachineId | None:
        if not rows.can_exist(user_id, channel_id):
            return None
        async with self._connections.single() as connection:
            found = await connection.scalar(
                select(machine_choices.c.machine_id).where(
                    machine_choices.c.user_id == user_id, machine_choices.c.channel_id == channel_id
                )
            )
        return None if found is None else MachineId(found)

    async def favour(self, user_id: UserId, machine_id: MachineId | None) -> None:
        async with self._connections.writing() as connection:
            await refuse_unknown(connection, user_id)
            if machine_id is None:
                await connection.execute(delete(machine_favourites).where(machine_favourites.c.user_id == user_id))
                return
            await _refuse_foreign(connection, machine_id, user_id)
            favoured = insert(machine_favourites).values(user_id=user_id, machine_id=machine_id)
            await connection.execute(
                favoured.on_conflict_do_update(index_elements=[machine_favourites.c.user_id], set_={"machine_id": machine_id})
            )

    async def favourite(self, user_id: UserId) -> MachineId | None:
        if not rows.can_exist(user_id):
            return None
        async with self._connections.single() as connection:
            found = await connection.scalar(
                select(machine_favourites.c.machine_id).where(machine_favourites.c.user_id == user_id)
            )
        return None if found is None else MachineId(found)

    async def _first(self, query: Select[Any]) -> Machine | None:
        async with self._connections.single() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else _machine(row)

    async def _owners(self, machine_id: MachineId, owner: UserId, **changes: Any) -> Machine:
        """The machine after its owner changed it."""
        if not rows.can_exist(machine_id, owner):
            raise MachineMissing(machine_id)
        async with self._connections.writing({"machines_token_hash_key": MachineExists(machine_id)}) as connection:
            changed = await connection.execute(
                update(machines)
                .where(machines.c.id == machine_id, machines.c.owner_id == owner, machines.c.revoked_at.is_(None))
                .values(**changes)
                .returning(machines)
            )
            row = changed.one_or_none()
        if row is None:
            raise MachineMissing(machine_id)
        return _machine(row)


async def _refuse_foreign(connection: AsyncConnection, machine_id: MachineId, owner: UserId) -> None:
    """Refuse what is not the owner's, or was revoked; and let nobody revoke it until the transaction ends."""
    theirs = (
        select(machines.c.id)
        .where(machines.c.id == machine_id, machines.c.owner_id == owner, machines.c.revoked_at.is_(None))
        .with_for_update(read=True)
    )
    if not rows.can_exist(machine_id) or await connection.scalar(theirs) is None:
        raise MachineMissing(machine_id)


def _text(repositories: frozenset[RepositoryId]) -> str:
    return encode(sorted(repositories))


def _repositories(text: str, where: str) -> frozenset[RepositoryId]:
    value = decode(text, where)
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(id, str) for id in value):
        raise CorruptRecord(where, "repositories are no list of ids")
    return frozenset(RepositoryId(str(id)) for id in value)


def _machine(row: Row[Any]) -> Machine:
    where = f"machine {row.id}"
    credentials = None
    if row.ciphertext is not None:
        revision = rows.count(row.credential_revision, where, "credential_revision", least=1)
        credentials = MachineCredentials(ciphertext=row.ciphertext, revision=CredentialRevision(revision))
    return Machine(
        id=MachineId(row.id),
        owner=UserId(row.owner_id),
        label=row.label,
        repositories=_repositories(row.repositories, where),
        auto_run=row.auto_run,
        credentials=credentials,
        last_contact_at=None if row.last_contact_at is None else rows.utc(row.last_contact_at),
        created_at=rows.utc(row.created_at),
        revoked_at=None if row.revoked_at is None else rows.utc(row.revoked_at),
    )
