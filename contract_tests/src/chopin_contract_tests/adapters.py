"""
What an adapter offers so that the suite can run on it: a way to get empty databases, each reachable more than once.

The whole of it, for an adapter whose databases are cheap to make::

    @attrs.frozen
    class Mine:
        name: str = "mine"

        @asynccontextmanager
        async def fresh(self) -> AsyncIterator[MyDatabase]:
            async with make_an_empty_database() as database:
                yield database      # has ``async def connect(self) -> Storage``

    @contextmanager
    def open_adapter() -> Iterator[Mine]:
        yield Mine()

Run it with ``--adapter mypackage.testing:open_adapter``, or register that same text as an entry point of the group
:data:`GROUP`; a run without ``--adapter`` takes every registered adapter besides the memory one.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:  # the plugin reads this module in every pytest run of a workspace, which need not load the core
    from chopin_core.ports.storage import Storage

GROUP: Final = "chopin.contract_adapters"
"""The entry points of this group name adapters: ``postgres = "chopin_storage_pg.testing:open_adapter"``."""


class Database(Protocol):
    """One set of stored data. It belongs to one test, which may reach it from several sides at once."""

    async def connect(self) -> Storage:
        """
        A storage on this data, as another process would have it: nothing in common with earlier ones but the data.

        The suite closes it, before it leaves the context that the database came from.
        """
        ...


class Databases(Protocol):
    """Where databases come from, for a whole session. Every test runs its own event loop: keep nothing bound to one."""

    @property
    def name(self) -> str:
        """What the report calls the adapter, such as ``postgres 18.6``."""
        ...

    def fresh(self) -> AbstractAsyncContextManager[Database]:
        """A new database without a single row, ready for use (schema and all), gone when the context is left."""
        ...


class OpenAdapter(Protocol):
    """
    What ``--adapter`` names: called once per session, without arguments.

    Enter it to start what is expensive (a server, a template with the schema), leave it to stop that. An adapter that
    cannot be opened raises: the suite then fails, it never skips.
    """

    def __call__(self) -> AbstractContextManager[Databases]: ...
