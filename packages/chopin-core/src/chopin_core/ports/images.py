"""Storage of images: bytes that a document shows, found by what they hash to."""

from __future__ import annotations

import enum
import hashlib
from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, UserId
from chopin_core.instants import aware_field

LARGEST_IMAGE = 1024 * 1024


class ImageType(enum.Enum):
    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"
    GIF = "image/gif"


@attrs.frozen(kw_only=True)
class Image:
    """
    An image of a channel. Its hash is computed from its bytes, never believed.

    Raises:
        InvalidField: it is empty, or larger than 1 MiB.
    """

    channel_id: ChannelId
    type: ImageType
    content: bytes = attrs.field(repr=False)
    uploaded_by: UserId
    created_at: datetime = attrs.field(validator=aware_field)
    sha256: str = attrs.field(init=False)

    @content.validator
    def _bounded(self, attribute: attrs.Attribute[bytes], value: bytes) -> None:
        if not 1 <= len(value) <= LARGEST_IMAGE:
            raise InvalidField("content", f"must have 1 to {LARGEST_IMAGE} bytes")

    @sha256.default
    def _hashed(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


class ImageStore(Protocol):
    """Images by channel and hash. No lease is needed, and an archived channel takes and shows them too."""

    async def put(self, image: Image) -> None:
        """
        Keep the image. One of the same hash in the same channel stays as it was first: bytes, type, time and uploader.

        Raises, the first that applies:
            ChannelMissing: there is no such channel.
            UserMissing: there is no such uploader.
        """
        ...

    async def get(self, channel_id: ChannelId, sha256: str) -> Image | None:
        """
        The image, or None.

        Raises:
            CorruptRecord: the stored bytes do not hash to it.
        """
        ...

    async def channels(self, sha256: str) -> tuple[ChannelId, ...]:
        """The channels that have an image of that hash, the earliest upload first, then ids in code-point order."""
        ...
