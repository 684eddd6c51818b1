"""The image store."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from chopin_core.errors import ChannelMissing, CorruptRecord, Invalid
from chopin_core.ids import ChannelId, UserId
from chopin_core.ports.images import Image, ImageType
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import channels, plan_images
from chopin_storage_pg.users import refuse_unknown


class PgImageStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def put(self, image: Image) -> None:
        if not rows.can_exist(image.channel_id):
            raise ChannelMissing(image.channel_id)
        async with self._connections.writing() as connection:
            known = select(channels.c.id).where(channels.c.id == image.channel_id).with_for_update(read=True, key_share=True)
            if await connection.scalar(known) is None:
                raise ChannelMissing(image.channel_id)
            await refuse_unknown(connection, image.uploaded_by)
            kept = insert(plan_images).values(
                channel_id=image.channel_id,
                sha256=image.sha256,
                type=image.type.value,
                content=image.content,
                uploaded_by=image.uploaded_by,
                created_at=image.created_at,
            )
            await connection.execute(kept.on_conflict_do_nothing())

    async def get(self, channel_id: ChannelId, sha256: str) -> Image | None:
        if not rows.can_exist(channel_id, sha256):
            return None
        async with self._connections.single() as connection:
            found = await connection.execute(
                select(plan_images).where(plan_images.c.channel_id == channel_id, plan_images.c.sha256 == sha256)
            )
            row = found.one_or_none()
        if row is None:
            return None
        where = f"image {sha256} of channel {channel_id}"
        try:
            image = Image(
                channel_id=ChannelId(row.channel_id),
                type=ImageType(row.type),
                content=row.content,
                uploaded_by=UserId(row.uploaded_by),
                created_at=rows.utc(row.created_at),
            )
        except (ValueError, Invalid):
            raise CorruptRecord(where, "is of no type or size of ours") from None
        if image.sha256 != sha256:
            raise CorruptRecord(where, "does not hash to its name")
        return image

    async def channels(self, sha256: str) -> tuple[ChannelId, ...]:
        if not rows.can_exist(sha256):
            return ()
        async with self._connections.single() as connection:
            found = await connection.scalars(
                select(plan_images.c.channel_id)
                .where(plan_images.c.sha256 == sha256)
                .order_by(plan_images.c.created_at, plan_images.c.channel_id)
            )
            return tuple(ChannelId(channel_id) for channel_id in found)
