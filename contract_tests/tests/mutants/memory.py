"""The in-memory adapter with one of its stores exchanged for a faulty one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import attrs

from chopin_contract_tests.adapters import OpenAdapter
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.leases import MemoryLeaseStore
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Tables


@attrs.frozen(kw_only=True)
class Stores:
    """Which stores a storage is put together from; it is the adapter of the suite too."""

    channels: type[MemoryChannelStore] = MemoryChannelStore
    collaboration: type[MemoryCollaborationStore] = MemoryCollaborationStore
    leases: type[MemoryLeaseStore] = MemoryLeaseStore
    name: str = "memory, mutated"

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Database]:
        yield Database(self)


@attrs.frozen
class Database:
    stores: Stores
    tables: Tables = attrs.field(factory=Tables)

    async def connect(self) -> MemoryStorage:
        return Mutated(self.stores, self.tables)


class Mutated(MemoryStorage):
    def __init__(self, stores: Stores, tables: Tables) -> None:
        super().__init__(tables)
        self._channels = stores.channels(self._connection)
        self._collaboration = stores.collaboration(self._connection)
        self._leases = stores.leases(self._connection)


def adapter(
    *,
    channels: type[MemoryChannelStore] = MemoryChannelStore,
    collaboration: type[MemoryCollaborationStore] = MemoryCollaborationStore,
    leases: type[MemoryLeaseStore] = MemoryLeaseStore,
) -> OpenAdapter:
    @contextmanager
    def open_adapter() -> Iterator[Stores]:
        yield Stores(channels=channels, collaboration=collaboration, leases=leases)

    return open_adapter


faultless = adapter()
