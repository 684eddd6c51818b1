"""A house with rooms on the in-memory storage, closed after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chopin_core.ids import ChannelId
from chopin_core.memory.storage import MemoryStorage

from .house import FAST, House, house_on, lease_on


@pytest.fixture
async def house() -> AsyncIterator[House]:
    storage = MemoryStorage()
    house = house_on(storage, await lease_on(storage), FAST)
    yield house
    await house.rooms.close()


@pytest.fixture
async def channel(house: House) -> ChannelId:
    return (await house.channel()).id
