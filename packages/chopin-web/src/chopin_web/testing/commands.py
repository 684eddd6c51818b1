"""The ``chopin`` command as an operator types it, waited for."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping

import attrs

COMMAND_SECONDS = 90.0


@attrs.frozen
class Said:
    """How a command ended: its exit status and what it wrote."""

    status: int
    output: str
    errors: str


async def command(*words: str, environment: Mapping[str, str] | None = None) -> Said:
    """Run a command to its end, with no setting of ours but those given."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "PYTHONPYCACHEPREFIX", "TMPDIR") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chopin_web", *words),
        env={**kept, **(environment or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Said(process.returncode, output.decode(), errors.decode())
