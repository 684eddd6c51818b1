"""Every channel of a database, one page of ids and one channel at a time, as a dry run of the recovery walks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import CorruptRecord, StorageUnavailable
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import StoredChannel
from chopin_storage_pg import loading
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.faults import ConnectionLost, translated
from chopin_storage_pg.tables import channels

_PAGE: Final = 500
_OF_THE_ROWS: Final = ("22", "42", "58", "XX")
"""Classes of SQLSTATE: values that cannot be, columns that are not there, files that cannot be read, pages that are torn."""


class InOneTransaction:
    """The channels that one transaction sees, whatever happens to them meanwhile."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def count(self) -> int:
        return await self._connection.scalar(select(func.count()).select_from(channels)) or 0

    async def ids(self, *, after: ChannelId | None) -> Sequence[ChannelId]:
        page = select(channels.c.id).order_by(channels.c.id).limit(_PAGE)
        if after is not None:
            page = page.where(channels.c.id > after)
        return list(await self._connection.scalars(page))

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        with _unreadable_is_corrupt(channel_id), translated():
            async with self._connection.begin_nested():  # rows that cannot be read must not cost the other channels
                return await loading.load(self._connection, channel_id)


class AsTheyAreNow:
    """
    The channels as they are when they are asked for, each in a short transaction of its own.

    A long one would keep the server from clearing away what is deleted meanwhile.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def count(self) -> int:
        async with self._connections.reading() as connection:
            return await InOneTransaction(connection).count()

    async def ids(self, *, after: ChannelId | None) -> Sequence[ChannelId]:
        async with self._connections.reading() as connection:
            return await InOneTransaction(connection).ids(after=after)

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        with _unreadable_is_corrupt(channel_id):
            async with self._connections.reading() as connection:
                return await loading.load(connection, channel_id)


@contextmanager
def _unreadable_is_corrupt(channel_id: ChannelId) -> Iterator[None]:
    """A fault of a channel's rows is the channel's; one of the connection is everybody's."""
    try:
        yield
    except ConnectionLost:
        raise
    except StorageUnavailable as fault:
        if not fault.cause.startswith(_OF_THE_ROWS):
            raise
        raise CorruptRecord(f"channel {channel_id}", f"its rows cannot be read ({fault.cause})") from fault
