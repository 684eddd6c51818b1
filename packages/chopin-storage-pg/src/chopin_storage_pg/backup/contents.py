"""What stands in a database: a restoration may begin only where nothing does, and leaves nothing where it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import ChopinError
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.engine import Connections

_OURS: Final = """
    n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = o.oid AND d.classid = o.tableoid AND d.deptype = 'e')
"""
"""Of objects ``o`` in schemas ``n``: neither the server's own nor an extension's."""

_RELATIONS: Final = text(f"""
SELECT format('%I.%I', n.nspname, o.relname) FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
WHERE o.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OURS} ORDER BY 1
""")
_FUNCTIONS: Final = text(f"""
SELECT o.oid::regprocedure::text FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace WHERE {_OURS} ORDER BY 1
""")
_EXTENSIONS: Final = text("SELECT extname FROM pg_extension")

_DROPPED: Final = text(f"""
DO $do$
DECLARE
    found text;
BEGIN
    FOR found IN
        SELECT format('%I.%I', n.nspname, o.relname) FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace
        WHERE o.relkind IN ('r', 'p') AND {_OURS}
    LOOP
        EXECUTE 'DROP TABLE IF EXISTS ' || found || ' CASCADE';
    END LOOP;
    FOR found IN
        SELECT o.oid::regprocedure FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace WHERE {_OURS}
    LOOP
        EXECUTE 'DROP ROUTINE ' || found;
    END LOOP;
END
$do$
""")


async def refuse_occupied(connection: AsyncConnection) -> None:
    """
    Raises:
        BackupFailed: the database holds a table, a view or a function of anybody's.
    """
    for kind, asked in (("table", _RELATIONS), ("function", _FUNCTIONS)):
        found = list(await connection.scalars(asked))
        if found:
            raise BackupFailed("the database", f"is not empty, it has the {kind} {found[0]}; name an empty one")


@asynccontextmanager
async def removed(connections: Connections) -> AsyncIterator[None]:
    """
    A database that was empty, and is again if the block fails.

    Everything in it then came from the block: nothing was there before, and nobody else makes tables in a database that is
    being restored.
    """
    async with connections.single() as connection:
        before = set(await connection.scalars(_EXTENSIONS))
    try:
        yield
    except BaseException as error:
        try:
            async with connections.writing() as connection:
                await connection.execute(_DROPPED)
                for extension in set(await connection.scalars(_EXTENSIONS)) - before:
                    await connection.execute(text(f'DROP EXTENSION IF EXISTS "{extension}"'))
        except ChopinError:
            raise BackupFailed("the database", f"could not be emptied again; drop it ({error})") from error
        raise
