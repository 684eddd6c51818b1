"""Paired machines in memory."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.counters import CredentialRevision
from chopin_core.errors import MachineExists, MachineMissing, UserMissing
from chopin_core.ids import ChannelId, MachineId, RepositoryId, UserId
from chopin_core.memory.channels import channel_of
from chopin_core.memory.tables import Connection, KeptMachine, Tables, utc
from chopin_core.ports.machines import Machine, MachineCredentials, Pairing, refuse_long_hash
from chopin_core.text import storable


@attrs.frozen
class MemoryMachineStore:
    _connection: Connection

    async def pair(self, pairing: Pairing) -> Machine:
        tables = await self._connection.turn()
        _refuse_unknown(tables, pairing.owner)
        if pairing.id in tables.machines or _with_token(tables, pairing.token_hash) is not None:
            raise MachineExists(pairing.id)
        machine = Machine(
            id=pairing.id,
            owner=pairing.owner,
            label=pairing.label,
            repositories=pairing.repositories,
            auto_run=pairing.auto_run,
            credentials=None if pairing.ciphertext is None else MachineCredentials(ciphertext=bytes(pairing.ciphertext)),
            last_contact_at=None,
            created_at=utc(pairing.now),
            revoked_at=None,
        )
        tables.machines[machine.id] = KeptMachine(machine=machine, token_hash=bytes(pairing.token_hash))
        return machine

    async def get(self, machine_id: MachineId) -> Machine | None:
        tables = await self._connection.turn()
        kept = tables.machines.get(machine_id)
        return None if kept is None else kept.machine

    async def find(self, token_hash: bytes) -> Machine | None:
        tables = await self._connection.turn()
        kept = _with_token(tables, token_hash)
        return None if kept is None or kept.machine.revoked else kept.machine

    async def of(self, owner: UserId) -> tuple[Machine, ...]:
        tables = await self._connection.turn()
        theirs = [kept.machine for kept in tables.machines.values() if kept.machine.owner == owner and not kept.machine.revoked]
        theirs.sort(key=lambda machine: machine.id)
        theirs.sort(key=lambda machine: machine.created_at, reverse=True)
        return tuple(theirs)

    async def change(
        self, machine_id: MachineId, *, owner: UserId, label: str, repositories: frozenset[RepositoryId], auto_run: bool
    ) -> Machine:
        storable(label, "label")
        tables = await self._connection.turn()
        kept = _owned(tables, machine_id, owner)
        return _kept(tables, kept, label=label, repositories=repositories, auto_run=auto_run)

    async def touch(self, machine_id: MachineId, *, now: datetime) -> bool:
        tables = await self._connection.turn()
        kept = tables.machines.get(machine_id)
        if kept is None or kept.machine.revoked:
            return False
        before = kept.machine.last_contact_at
        _kept(tables, kept, last_contact_at=utc(now) if before is None else max(before, utc(now)))
        return True

    async def rotate(self, machine_id: MachineId, credentials: MachineCredentials) -> bool:
        tables = await self._connection.turn()
        kept = tables.machines.get(machine_id)
        before = None if kept is None else kept.machine.credentials
        if kept is None or before is None or before.revision + 1 != credentials.revision:
            return False
        _kept(tables, kept, credentials=credentials)
        return True

    async def authorize(self, machine_id: MachineId, *, owner: UserId, token_hash: bytes, ciphertext: bytes) -> Machine:
        refuse_long_hash(token_hash)
        tables = await self._connection.turn()
        kept = _owned(tables, machine_id, owner)
        other = _with_token(tables, token_hash)
        if other is not None and other.machine.id != machine_id:
            raise MachineExists(machine_id)
        before = kept.machine.credentials
        revision = CredentialRevision(1 if before is None else before.revision + 1)
        fresh = MachineCredentials(ciphertext=bytes(ciphertext), revision=revision)
        return _kept(tables, attrs.evolve(kept, token_hash=bytes(token_hash)), credentials=fresh)

    async def revoke(self, machine_id: MachineId, *, owner: UserId, now: datetime) -> bool:
        tables = await self._connection.turn()
        try:
            kept = _owned(tables, machine_id, owner)
        except MachineMissing:
            return False
        _kept(tables, kept, credentials=None, revoked_at=utc(now))
        for place in [place for place, chosen in tables.machine_choices.items() if chosen == machine_id]:
            del tables.machine_choices[place]
        for user_id in [user_id for user_id, favourite in tables.machine_favourites.items() if favourite == machine_id]:
            del tables.machine_favourites[user_id]
        return True

    async def choose(self, user_id: UserId, channel_id: ChannelId, machine_id: MachineId | None) -> None:
        tables = await self._connection.turn()
        _refuse_unknown(tables, user_id)
        channel_of(tables, channel_id)
        if machine_id is None:
            tables.machine_choices.pop((user_id, channel_id), None)
        else:
            _owned(tables, machine_id, user_id)
            tables.machine_choices[user_id, channel_id] = machine_id

    async def chosen(self, user_id: UserId, channel_id: ChannelId) -> MachineId | None:
        tables = await self._connection.turn()
        return tables.machine_choices.get((user_id, channel_id))

    async def favour(self, user_id: UserId, machine_id: MachineId | None) -> None:
        tables = await self._connection.turn()
        _refuse_unknown(tables, user_id)
        if machine_id is None:
            tables.machine_favourites.pop(user_id, None)
        else:
            _owned(tables, machine_id, user_id)
            tables.machine_favourites[user_id] = machine_id

    async def favourite(self, user_id: UserId) -> MachineId | None:
        tables = await self._connection.turn()
        return tables.machine_favourites.get(user_id)


def _refuse_unknown(tables: Tables, user_id: UserId) -> None:
    if user_id not in tables.users:
        raise UserMissing(user_id)


def _with_token(tables: Tables, token_hash: bytes) -> KeptMachine | None:
    return next((kept for kept in tables.machines.values() if kept.token_hash == token_hash), None)


def _owned(tables: Tables, machine_id: MachineId, owner: UserId) -> KeptMachine:
    kept = tables.machines.get(machine_id)
    if kept is None or kept.machine.owner != owner or kept.machine.revoked:
        raise MachineMissing(machine_id)
    return kept


def _kept(tables: Tables, kept: KeptMachine, **changes: object) -> Machine:
    machine = attrs.evolve(kept.machine, **changes)  # type: ignore[arg-type]  # because the callers above name fields of Machine
    tables.machines[machine.id] = attrs.evolve(kept, machine=machine)
    return machine
