"""A database that holds something, an empty one, and a backup of the first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from .database import backed_up, fill


@pytest.fixture
async def empty(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    async with server.blank() as database:
        yield database


@pytest.fixture
async def held(storage: PgStorage) -> Lease:
    """The lease of whoever wrote what the database holds."""
    return await fill(storage)


@pytest.fixture
async def backup(database: ScratchDatabase, held: Lease, tmp_path: Path) -> Path:
    target = tmp_path / "one.chopin"
    await backed_up(database.url, target)
    return target
