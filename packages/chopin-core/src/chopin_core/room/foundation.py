"""What a room stands on: the library, the store and the rules it was given."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from chopin_core.ports.channels import ChannelStore
from chopin_core.ports.documents import DocumentEngine
from chopin_core.room.batch import Check
from chopin_core.room.timings import Timings


@attrs.frozen(kw_only=True)
class Foundation:
    engine: DocumentEngine
    channels: ChannelStore
    check: Check
    timings: Timings
    new_id: Callable[[], str]
    failed: Callable[[BaseException], None]
    """Told once when the room cannot go on: storage failed, or the channel was archived or removed under it."""
