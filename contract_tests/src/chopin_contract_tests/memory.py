"""The in-memory adapter, opened for the suite; also the shortest example of how to open one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import attrs

from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Tables


@attrs.frozen
class MemoryDatabase:
    tables: Tables = attrs.field(factory=Tables)

    async def connect(self) -> MemoryStorage:
        return MemoryStorage(self.tables)


@attrs.frozen
class MemoryDatabases:
    name: str = "memory"

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[MemoryDatabase]:
        yield MemoryDatabase()


@contextmanager
def open_adapter() -> Iterator[MemoryDatabases]:
    yield MemoryDatabases()
