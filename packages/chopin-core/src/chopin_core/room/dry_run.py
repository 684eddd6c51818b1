"""Opening every channel as its room would, without becoming the writer: what recovers, where it stands, and what does not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import attrs

from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.errors import Corrupt, CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.ports.documents import DocumentEngine
from chopin_core.room.recovery import recover
from chopin_core.sidecar import unanswered_decisions


@attrs.frozen(kw_only=True)
class Standing:
    """
    Where a channel that recovers stands: its counters in storage, and the hash of the canonical source of its whole text, with
    the journal; None for a channel that was never opened.

    ``miscounted``: storage's count of unanswered decisions is not that of its sidecar. It misleads a list and nothing else.
    """

    channel_id: ChannelId
    revision: StorageRevision
    sequence: StorageSequence
    source_hash: str | None
    miscounted: bool = attrs.field(default=False, eq=False)


@attrs.frozen(kw_only=True)
class Unrecoverable:
    """A channel that no room would open, and why; the reason holds names and numbers, no text of a document."""

    channel_id: ChannelId
    reason: str


class Channels(Protocol):
    """All channels of a storage: archived ones and children too."""

    async def ids(self, *, after: ChannelId | None) -> Sequence[ChannelId]:
        """The next page of ids, in code-point order; empty when there are no more."""
        ...

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        """
        As ``CollaborationStore.load``.

        Raises:
            CorruptRecord: also when the channel's rows cannot be read at all, while the storage as such answers.
        """
        ...


def standing(stored: StoredChannel, engine: DocumentEngine) -> Standing:
    """
    Where a stored channel stands.

    Raises:
        CorruptRecord: it does not recover.
    """
    recovered = recover(stored, engine)
    sections = {} if stored.sidecar is None else stored.sidecar.sections
    return Standing(
        channel_id=stored.channel.id,
        revision=stored.channel.revision,
        sequence=stored.latest,
        source_hash=None if recovered is None else source_hash(canonical(recovered.live.text)),
        miscounted=unanswered_decisions(sections.get("questions")) != stored.channel.unanswered_decisions,
    )


async def dry_run(channels: Channels, engine: DocumentEngine) -> AsyncIterator[Standing | Unrecoverable]:
    """
    What became of each channel, by id in code-point order. Holds one of them in memory at a time.

    A channel that is deleted meanwhile is passed over.
    """
    after: ChannelId | None = None
    while page := await channels.ids(after=after):
        for channel_id in page:
            try:
                stored = await channels.load(channel_id)
                if stored is not None:
                    yield standing(stored, engine)
            except Corrupt as error:
                yield Unrecoverable(channel_id=channel_id, reason=_reason(error))
        after = page[-1]


def _reason(error: Corrupt) -> str:
    return str(error) if isinstance(error, CorruptRecord) else type(error).__name__
