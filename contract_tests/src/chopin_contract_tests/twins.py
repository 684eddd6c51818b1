"""One history, told to the memory adapter and to the adapter under test, which must answer alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, ClassVar, Final

import attrs
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from chopin_contract_tests.adapters import Databases
from chopin_contract_tests.builders import AUTHOR, T0, creation, initial
from chopin_core.errors import ChopinError
from chopin_core.ids import ChannelId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.ports.storage import Storage

HOUR: Final = timedelta(hours=1)
"""How long leases are granted for here: none runs out by itself, so that the hour of the run plays no part."""

sides = st.sampled_from([0, 1])


async def outcome(call: Awaitable[Any]) -> Any:
    """The answer, or which refusal with which fields; a lease without its expiry, which depends on the hour."""
    try:
        answer = await call
    except ChopinError as refusal:
        return type(refusal), refusal.args
    return attrs.evolve(answer, expires_at=T0) if isinstance(answer, Lease) else answer


class Twins(RuleBasedStateMachine):
    """One history, told to the model and to the adapter under test, the latter through one of two storages."""

    databases: ClassVar[Databases]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.fresh = self.databases.fresh()
        database = self.runner.run(self.fresh.__aenter__())
        self.storages = [self.runner.run(database.connect()) for _ in range(2)]
        self.model = MemoryStorage()
        self.leases: list[Lease] = []

    def teardown(self) -> None:
        for storage in self.storages:
            self.runner.run(storage.close())
        self.runner.run(self.fresh.__aexit__(None, None, None))
        self.runner.close()

    def told(self, side: int, call: Callable[[Storage], Awaitable[Any]]) -> Any:
        """What both answered; they must agree."""
        expected = self.runner.run(outcome(call(self.model)))
        assert self.runner.run(outcome(call(self.storages[side]))) == expected
        return expected

    def near(self, id: ChannelId) -> StoredChannel:
        """The stored channel, or for an unknown one another, so that a write to it can be made up."""
        stored = self.runner.run(self.model.collaboration.load(id))
        return stored if stored is not None else self.near(ChannelId("a"))

    def lease(self, choice: int) -> Lease:
        return self.leases[choice] if choice < len(self.leases) else self.leases[-1]

    @initialize()
    def begin(self) -> None:
        self.told(0, lambda storage: storage.users.put(AUTHOR, now=T0))
        self.told(1, lambda storage: storage.channels.create(creation("a", title="Plan", initial=initial())))
        self.told(0, lambda storage: storage.channels.create(creation("B", title="Plan")))
        for name in ("steady", WRITER):
            self.granted(0, name, "begin")

    def granted(self, side: int, name: str, owner: str) -> None:
        lease = self.told(side, lambda storage: storage.leases.acquire(name, owner, HOUR))
        if lease is not None:
            self.leases.append(lease)
