"""A house with rooms on the in-memory storage, closed after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from chopin_core.ids import ChannelId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.ports.leases import WRITER

from .house import FAST, House, house_on


@pytest.fixture
async def house() -> AsyncIterator[House]:
    storage = MemoryStorage()
    lease = await storage.leases.acquire(WRITER, "test", timedelta(minutes=5))
    assert lease is not None
    house = house_on(storage, lease, FAST)
    yield house
    await house.rooms.close()


@pytest.fixture
async def channel(house: House) -> ChannelId:
    return (await house.channel()).id
