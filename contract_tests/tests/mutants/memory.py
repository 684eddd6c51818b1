"""The in-memory adapter with some of its stores exchanged for faulty ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

import attrs

from chopin_contract_tests.adapters import OpenAdapter
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Connection, Tables

Store: TypeAlias = Callable[[Connection], Any]


@attrs.frozen
class Stores:
    """The adapter of the suite: which stores take the place of sound ones, by the names that a storage has for them."""

    faulty: Mapping[str, Store]
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
        for name, store in stores.faulty.items():
            assert hasattr(self, name), f"a storage has no {name}"
            setattr(self, f"_{name}", store(self._connection))


def adapter(**faulty: Store) -> OpenAdapter:
    @contextmanager
    def open_adapter() -> Iterator[Stores]:
        yield Stores(faulty)

    return open_adapter


faultless = adapter()
