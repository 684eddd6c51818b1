"""A process beside ours that brings a database to the current schema."""

from __future__ import annotations

import asyncio
import subprocess
import sys

MIGRATE = """
import asyncio, sys
from chopin_storage_pg.storage import open_storage

async def main():
    async with await open_storage(sys.argv[1]) as storage:
        await storage.migrate()

asyncio.run(main())
"""


async def migrating(url: str) -> asyncio.subprocess.Process:
    """Another process that migrates the database."""
    return await asyncio.create_subprocess_exec(sys.executable, "-c", MIGRATE, url, stderr=subprocess.PIPE)
