"""``chopin_migrations``: which files made this schema, so that one that changed afterwards is noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, insert, inspect, select

from chopin_core.errors import CorruptRecord
from chopin_storage_pg.tables import chopin_migrations

VERSIONS: Final = Path(__file__).parent / "migrations" / "versions"
"""The revisions of this version of Chopin. A file is named like the revision in it."""

_WHERE: Final = "schema"


def checksums() -> Mapping[str, str]:
    """The SHA-256 of each revision's file, by revision, in the order in which they apply."""
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(VERSIONS.glob("[0-9]*.py"))}


def applied(connection: Connection) -> Mapping[str, str]:
    """
    The revisions that made this database, and their checksums then; empty for a database without a ledger.

    Raises:
        CorruptRecord: one is unknown to this version, which is older than the database, or its file is not what was applied.
    """
    if not inspect(connection).has_table(chopin_migrations.name):
        return {}
    recorded = {row.id: row.checksum for row in connection.execute(select(chopin_migrations))}
    ours = checksums()
    for revision in sorted(recorded):
        if revision not in ours:
            raise CorruptRecord(_WHERE, f"revision {revision} is unknown to this version")
        if recorded[revision] != ours[revision]:
            raise CorruptRecord(_WHERE, f"revision {revision} was changed after it was applied")
    return recorded


def refuse_incomplete(connection: Connection) -> None:
    """
    Raises:
        CorruptRecord: the database is not exactly what this version's revisions make.
    """
    recorded = applied(connection)
    for revision in checksums():
        if revision not in recorded:
            raise CorruptRecord(_WHERE, f"revision {revision} is missing")


def record(connection: Connection, revision: str) -> None:
    """Note that a revision was applied, in the transaction that applies it."""
    connection.execute(insert(chopin_migrations).values(id=revision, file=f"{revision}.py", checksum=checksums()[revision]))
