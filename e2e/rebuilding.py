"""Rebuilding a document behind everybody's back: the same text under another epoch, while no server runs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from chopin_core.counters import Epoch
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId, OperationId, UuidV7
from chopin_core.ports.collaboration import Replacement
from chopin_core.ports.leases import WRITER
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage

from .server import Server


async def rebuild(server: Server, channel: ChannelId) -> None:
    """Give the document a new history that says what the old one said."""
    postgres = await asyncio.to_thread(EmbeddedPostgres.start, server.postgres)
    try:
        async with await open_storage(postgres.url) as storage:
            lease = await storage.leases.acquire(WRITER, "e2e", timedelta(seconds=30))
            stored = await storage.collaboration.load(channel)
            assert lease is not None
            assert stored is not None
            assert stored.snapshot is not None
            assert stored.sidecar is not None
            engine, new_id = PycrdtEngine(), UuidV7()
            before = engine.load([stored.snapshot.document, *(row.update for row in stored.updates)])
            rebuilt = engine.new()
            rebuilt.splice([Splice(0, 0, before.text)])
            source = canonical(before.text)
            await storage.collaboration.replace(
                Replacement(
                    channel_id=channel,
                    operation_id=OperationId(new_id()),
                    expected=stored.channel.revision,
                    epoch=Epoch(new_id()),
                    now=datetime.now(UTC),
                    generation=new_id(),
                    source=source,
                    source_hash=source_hash(source),
                    document=rebuilt.update(),
                    sidecar=stored.sidecar,
                ),
                lease=lease,
            )
            assert await storage.leases.release(lease)
    finally:
        await asyncio.to_thread(postgres.stop)
