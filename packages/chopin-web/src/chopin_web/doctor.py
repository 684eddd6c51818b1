"""Looking a database over from end to end, without a trace: what is asked, in which order, and what the answers come to."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import attrs

from chopin_core.errors import Corrupt
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.leases import Lease
from chopin_core.room.dry_run import Channels, Unrecoverable, dry_run

Outcome: TypeAlias = Literal["ok", "wrong", "skipped"]
Told: TypeAlias = Callable[[str, int, int], None]

_MISCOUNTED = "its count of unanswered decisions is not that of its sidecar"


class EveryChannel(Channels, Protocol):
    async def count(self) -> int: ...


class Patient(Protocol):
    """What the doctor asks a database; ``schema`` raises ``Corrupt`` when it is not this version's."""

    async def server(self) -> str: ...
    async def hazards(self) -> tuple[str, ...]: ...
    async def schema(self) -> str: ...
    async def lease(self) -> tuple[Lease | None, datetime]: ...
    async def orphans(self) -> tuple[str, ...]: ...
    @property
    def channels(self) -> EveryChannel: ...


@attrs.frozen(kw_only=True)
class Check:
    """One thing that was looked at. ``details`` are the single faults, a sentence each."""

    name: str
    outcome: Outcome
    says: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.outcome:<8}{self.name}: {self.says}", *(f"{'':8}- {detail}" for detail in self.details)])


@attrs.frozen
class Examination:
    """What was found, in the order in which it was looked at."""

    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        return all(check.outcome == "ok" for check in self.checks)

    def as_json(self) -> str:
        return json.dumps({"healthy": self.healthy, "checks": [attrs.asdict(check) for check in self.checks]})


async def examine(patient: Patient, engine: DocumentEngine, told: Told, found: Callable[[Check], None]) -> Examination:
    """
    Ask everything, and tell of each answer when it is there; what makes no sense on a foreign schema is left out.

    Raises:
        Unavailable: the database stopped answering.
    """
    checks: list[Check] = []

    async def ask(answer: Awaitable[Check]) -> Outcome:
        checks.append(await answer)
        found(checks[-1])
        return checks[-1].outcome

    await ask(_connection(patient))
    await ask(_hazards(patient))
    known = await ask(_schema(patient)) == "ok"
    await ask(_lease(patient) if known else _skipped("lease"))
    await ask(_orphans(patient) if known else _skipped("orphans"))
    await ask(_recovery(patient.channels, engine, told) if known else _skipped("recovery"))
    return Examination(tuple(checks))


async def _connection(patient: Patient) -> Check:
    return Check(name="connection", outcome="ok", says=await patient.server())


async def _hazards(patient: Patient) -> Check:
    hazards = await patient.hazards()
    if hazards:
        return Check(name="hazards", outcome="wrong", says="what is acknowledged can be lost in a crash", details=hazards)
    return Check(name="hazards", outcome="ok", says="what is committed is forced to disk")


async def _schema(patient: Patient) -> Check:
    try:
        return Check(name="schema", outcome="ok", says=f"{await patient.schema()}, as its ledger has it")
    except Corrupt as error:
        return Check(name="schema", outcome="wrong", says=str(error))


async def _lease(patient: Patient) -> Check:
    lease, now = await patient.lease()
    if lease is None:
        says = "never taken"
    elif (left := (lease.expires_at - now).total_seconds()) <= 0:
        says = f"free; {lease.owner} had it last, fencing token {lease.fencing}"
    else:
        says = f"held by {lease.owner}, fencing token {lease.fencing}, for another {left:.0f} s unless it is renewed"
    return Check(name="lease", outcome="ok", says=says)


async def _orphans(patient: Patient) -> Check:
    orphans = await patient.orphans()
    if orphans:
        return Check(name="orphans", outcome="wrong", says=f"rows of {len(orphans)} kinds are out of place", details=orphans)
    return Check(name="orphans", outcome="ok", says="no row is out of place")


async def _recovery(channels: EveryChannel, engine: DocumentEngine, told: Told) -> Check:
    total, seen, faults = await channels.count(), 0, []
    async for one in dry_run(channels, engine):
        seen += 1
        told("opening channels", seen, max(seen, total))
        if isinstance(one, Unrecoverable):
            faults.append(f"{one.channel_id}: {one.reason}")
        elif one.miscounted:
            faults.append(f"{one.channel_id}: {_MISCOUNTED}")
    if faults:
        says = f"{len(faults)} of {seen} channels are not in order"
        return Check(name="recovery", outcome="wrong", says=says, details=tuple(faults))
    return Check(name="recovery", outcome="ok", says=f"all {seen} channels recover, and their text is that of its hash")


async def _skipped(name: str) -> Check:
    return Check(name=name, outcome="skipped", says="the schema is not this version's")
