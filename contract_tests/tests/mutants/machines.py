"""Machines that outlive their end, and favourites beside each other."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.ids import MachineId, UserId
from chopin_core.memory.machines import MemoryMachineStore
from chopin_core.ports.machines import Machine

from mutants import memory


class KeepsCredentials(MemoryMachineStore):
    """A machine that was revoked has still what lets it work."""

    async def revoke(self, machine_id: MachineId, *, owner: UserId, now: datetime) -> bool:
        machines = self._connection.tables.machines
        before = machines.get(machine_id)
        revoked = await super().revoke(machine_id, owner=owner, now=now)
        if revoked and before is not None:
            after = attrs.evolve(machines[machine_id].machine, credentials=before.machine.credentials)
            machines[machine_id] = attrs.evolve(machines[machine_id], machine=after)
        return revoked


class FindsTheRevoked(MemoryMachineStore):
    """A token goes on leading to its machine."""

    async def find(self, token_hash: bytes) -> Machine | None:
        await super().find(token_hash)
        kept = [kept for kept in self._connection.tables.machines.values() if kept.token_hash == token_hash]
        return kept[0].machine if kept else None


class LeavesChoices(MemoryMachineStore):
    """Documents go on choosing a machine that was revoked."""

    async def revoke(self, machine_id: MachineId, *, owner: UserId, now: datetime) -> bool:
        before = dict(self._connection.tables.machine_choices)
        revoked = await super().revoke(machine_id, owner=owner, now=now)
        self._connection.tables.machine_choices.update(before)
        return revoked


class FirstFavourite(MemoryMachineStore):
    """A second favourite stands beside the first, which is the one that is found."""

    async def favour(self, user_id: UserId, machine_id: MachineId | None) -> None:
        favourites = self._connection.tables.machine_favourites
        before = favourites.get(user_id)
        await super().favour(user_id, machine_id)
        if before is not None and machine_id is not None:
            favourites[user_id] = before


credentials_kept = memory.adapter(machines=KeepsCredentials)
revoked_found = memory.adapter(machines=FindsTheRevoked)
choices_left = memory.adapter(machines=LeavesChoices)
first_favourite = memory.adapter(machines=FirstFavourite)
