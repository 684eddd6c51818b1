"""Images that change under their hash, or show where nobody put them."""

from __future__ import annotations

from chopin_core.ids import ChannelId
from chopin_core.memory.images import MemoryImageStore
from chopin_core.ports.images import Image

from mutants import memory


class SecondReplaces(MemoryImageStore):
    """The last upload of a hash is the one that is kept."""

    async def put(self, image: Image) -> None:
        await super().put(image)
        self._connection.tables.images[image.channel_id, image.sha256] = image


class ShownEverywhere(MemoryImageStore):
    """A hash is enough to see an image of another channel."""

    async def get(self, channel_id: ChannelId, sha256: str) -> Image | None:
        found = await super().get(channel_id, sha256)
        others = (image for image in self._connection.tables.images.values() if image.sha256 == sha256)
        return found or next(others, None)


second_replaces = memory.adapter(images=SecondReplaces)
shown_everywhere = memory.adapter(images=ShownEverywhere)
