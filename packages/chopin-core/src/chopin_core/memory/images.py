"""Images in memory."""

from __future__ import annotations

import attrs

from chopin_core.errors import UserMissing
from chopin_core.ids import ChannelId
from chopin_core.memory.channels import channel_of
from chopin_core.memory.tables import Connection, utc
from chopin_core.ports.images import Image


@attrs.frozen
class MemoryImageStore:
    _connection: Connection

    async def put(self, image: Image) -> None:
        tables = await self._connection.turn()
        channel_of(tables, image.channel_id)
        if image.uploaded_by not in tables.users:
            raise UserMissing(image.uploaded_by)
        kept = attrs.evolve(image, content=bytes(image.content), created_at=utc(image.created_at))
        tables.images.setdefault((image.channel_id, image.sha256), kept)

    async def get(self, channel_id: ChannelId, sha256: str) -> Image | None:
        tables = await self._connection.turn()
        return tables.images.get((channel_id, sha256))

    async def channels(self, sha256: str) -> tuple[ChannelId, ...]:
        tables = await self._connection.turn()
        found = sorted((image.created_at, image.channel_id) for image in tables.images.values() if image.sha256 == sha256)
        return tuple(channel_id for _, channel_id in found)
