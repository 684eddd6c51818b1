"""What a backup says of itself: who made it, when, of which schema, and where every channel stood."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import attrs

from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.ids import ChannelId
from chopin_core.room.dry_run import Standing, Unrecoverable

FORMAT: Final = "chopin backup"
VERSION: Final = 1


@attrs.frozen(kw_only=True)
class Applied:
    """A row of the ledger ``chopin_migrations``."""

    id: str
    file: str
    checksum: str
    applied_at: datetime


@attrs.frozen(kw_only=True)
class Manifest:
    """
    Everything in it is of one instant of the database, ``taken_at`` by the server's clock.

    ``channels`` recovered, in that state; ``unrecoverable`` did not. Both together are all.
    """

    chopin: str
    server: str
    taken_at: datetime
    ledger: tuple[Applied, ...]
    channels: tuple[Standing, ...]
    unrecoverable: tuple[Unrecoverable, ...]

    @property
    def revision(self) -> str:
        """The newest of the schema."""
        return max(applied.id for applied in self.ledger)

    def encoded(self) -> bytes:
        written = {
            "format": FORMAT,
            "version": VERSION,
            "chopin": self.chopin,
            "server": self.server,
            "taken_at": self.taken_at.isoformat(),
            "schema": self.revision,
            "ledger": [{**attrs.asdict(row), "applied_at": row.applied_at.isoformat()} for row in self.ledger],
            "channels": [
                {"id": one.channel_id, "revision": one.revision, "sequence": one.sequence, "hash": one.source_hash}
                for one in self.channels
            ],
            "unrecoverable": [{"id": one.channel_id, "reason": one.reason} for one in self.unrecoverable],
        }
        return json.dumps(written, indent=1).encode() + b"\n"


def decoded(content: bytes) -> Manifest:
    """
    The manifest in a file.

    Raises:
        ValueError: it is none of this version; the text says why.
    """
    given = _read(content)
    try:
        return Manifest(
            chopin=str(given["chopin"]),
            server=str(given["server"]),
            taken_at=datetime.fromisoformat(given["taken_at"]),
            ledger=tuple(_applied(row) for row in given["ledger"]),
            channels=tuple(
                Standing(
                    channel_id=ChannelId(one["id"]),
                    revision=StorageRevision(one["revision"]),
                    sequence=StorageSequence(one["sequence"]),
                    source_hash=one["hash"],
                )
                for one in given["channels"]
            ),
            unrecoverable=tuple(
                Unrecoverable(channel_id=ChannelId(one["id"]), reason=str(one["reason"])) for one in given["unrecoverable"]
            ),
        )
    except (KeyError, TypeError, ValueError):
        raise ValueError("has a manifest that cannot be understood") from None


def _read(content: bytes) -> Mapping[str, Any]:
    try:
        given = json.loads(content)
    except ValueError:
        given = None
    if not isinstance(given, Mapping) or given.get("format") != FORMAT:
        raise ValueError("is no backup of Chopin")
    if given.get("version") != VERSION:
        raise ValueError("was made by a newer version of Chopin")
    if not given.get("ledger"):
        raise ValueError("has a manifest that cannot be understood")
    return given


def _applied(row: Mapping[str, str]) -> Applied:
    return Applied(
        id=row["id"], file=row["file"], checksum=row["checksum"], applied_at=datetime.fromisoformat(row["applied_at"])
    )
