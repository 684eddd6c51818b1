"""A dry run opens what a room would open, and names what none would."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import Snapshot, StoredChannel, StoredUpdate
from chopin_core.room.dry_run import Standing, Unrecoverable, dry_run
from chopin_core.sidecar import Sidecar

from .house import NOW, REPOSITORY

ENGINE = PycrdtEngine()


@attrs.frozen
class Shelf:
    """Channels to be walked, two a page; None is one that was deleted after its id was read, an error one that is spoilt."""

    stored: dict[str, StoredChannel | CorruptRecord | None]

    async def ids(self, *, after: ChannelId | None) -> Sequence[ChannelId]:
        return [ChannelId(id) for id in sorted(self.stored) if id > (after or "")][:2]

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        found = self.stored[channel_id]
        if isinstance(found, CorruptRecord):
            raise found
        return found


def stored(id: str, text: str, *more: str, unanswered: int = 0) -> StoredChannel:
    replica = ENGINE.new()
    replica.splice([Splice(0, 0, text)])
    snapshot = Snapshot(
        generation="g",
        revision=StorageRevision(1),
        through=StorageSequence(1),
        epoch="e",  # type: ignore[arg-type]  # any text
        source=canonical(text),
        source_hash=source_hash(canonical(text)),
        document=replica.update(),
        sidecar=Sidecar().record(),
        created_at=NOW,
    )
    updates = tuple(
        StoredUpdate(
            sequence=StorageSequence(number),
            revision=StorageRevision(number),
            epoch=snapshot.epoch,
            update=replica.splice([Splice(0, 0, word)]),
        )
        for number, word in enumerate(more, start=2)
    )
    return StoredChannel(
        channel=attrs.evolve(fresh(id).channel, revision=StorageRevision(1 + len(more)), unanswered_decisions=unanswered),
        latest=StorageSequence(1 + len(more)),
        snapshot=snapshot,
        updates=updates,
        events=(),
        sidecar=Sidecar().record(),
    )


def fresh(id: str) -> StoredChannel:
    channel = Channel(
        id=ChannelId(id),
        repository=REPOSITORY,
        title=id,
        slug=id,
        created_by="ada",  # type: ignore[arg-type]  # any text
        revision=StorageRevision(0),
        created_at=NOW,
        updated_at=NOW,
    )
    return StoredChannel(channel=channel, latest=StorageSequence(0), snapshot=None, updates=(), events=(), sidecar=None)


async def walked(**channels: StoredChannel | CorruptRecord | None) -> list[Standing | Unrecoverable]:
    return [found async for found in dry_run(Shelf(channels), ENGINE)]


async def test_a_channel_stands_where_its_journal_ends_and_not_where_its_checkpoint_does() -> None:
    [found] = await walked(a=stored("a", "world", "dear ", "hello "))
    assert found == Standing(
        channel_id=ChannelId("a"),
        revision=StorageRevision(3),
        sequence=StorageSequence(3),
        source_hash=source_hash("hello dear world\n"),
    )


async def test_a_channel_that_was_never_opened_stands_without_a_text() -> None:
    [found] = await walked(a=fresh("a"))
    assert isinstance(found, Standing)
    assert (found.revision, found.source_hash) == (0, None)


async def test_what_does_not_recover_is_named_and_the_rest_goes_on() -> None:
    good = stored("c", "secret words")
    assert good.snapshot is not None
    spoilt = attrs.evolve(stored("b", "secret"), snapshot=attrs.evolve(good.snapshot, source_hash="sha256:0"))
    torn = attrs.evolve(stored("d", "secret", "more"), updates=(attrs.evolve(stored("d", "", "x").updates[0], update=b"\xff"),))
    found = await walked(
        a=CorruptRecord("channel a", "has no state row"), b=spoilt, c=good, d=torn, e=None, f=stored("f", "the last")
    )
    assert [type(one) for one in found] == [Unrecoverable, Unrecoverable, Standing, Unrecoverable, Standing]
    reasons = [one.reason for one in found if isinstance(one, Unrecoverable)]
    assert reasons[:2] == ["channel a: has no state row", "channel b, snapshot: its hash is not that of its source"]
    assert reasons[2].startswith("channel d, journal at 2:")
    assert "secret" not in str(found)


async def test_a_wrong_count_of_decisions_is_noticed_and_no_obstacle() -> None:
    right, wrong = await walked(a=stored("a", "x"), b=stored("b", "x", unanswered=2))
    assert isinstance(right, Standing) and not right.miscounted
    assert isinstance(wrong, Standing) and wrong.miscounted
