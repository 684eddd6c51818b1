"""What most tests start from."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent_world import Server, World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def server(world: World) -> AsyncIterator[Server]:
    async with world.server() as server:
        yield server
