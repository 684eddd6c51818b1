"""The composition root: the one place that knows every package and puts them together."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import attrs
import click
import structlog
from rich.console import Console

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.people import RepositoryAccess
from chopin_core.retention import Retention
from chopin_core.running import Chopin
from chopin_mcp.app import create_app as create_mcp_app
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage
from chopin_web.app import create_app
from chopin_web.local.authority import LocalAuthority, operator
from chopin_web.local.secrets import LocalSecrets
from chopin_web.local.sign_in import PATH as SIGN_IN_PATH
from chopin_web.local.sign_in import LocalSignIn
from chopin_web.serving import Ready, Shell, serve_until_stopped

_log = structlog.get_logger("chopin")

console = Console(stderr=True, highlight=False)


@attrs.frozen(kw_only=True)
class LocalMode:
    """Everything the local authority needs, whichever database stands behind it."""

    data: Path
    secrets: LocalSecrets
    repositories: tuple[RepositoryAccess, ...]
    origin: str

    @property
    def cookie(self) -> str:
        # Cookies do not know ports: two servers on one machine must not sign each other's people out.
        return f"chopin_session_{self.origin.rpartition(':')[2]}"

    def shell(self, chopin: Chopin, ready: Ready) -> Shell:
        authority = LocalAuthority(self.secrets, self.repositories, operator())
        sign_in = LocalSignIn(authority, origin=self.origin, cookie=self.cookie)
        mcp = create_mcp_app(documents=chopin.documents, authority=authority, origin=self.origin)
        app = create_app(
            documents=chopin.documents,
            rooms=chopin.rooms,
            authority=authority,
            origin=self.origin,
            cookie=self.cookie,
            mode="local",
            ready=ready,
            sign_in=sign_in.routes(),
            mcp=mcp,
        )
        return Shell(app=app, running=mcp.running())

    def announce(self) -> None:
        link = f"{self.origin}{SIGN_IN_PATH}?token={self.secrets.token}"
        names = ", ".join(f"{access.repository.owner}/{access.repository.name}" for access in self.repositories)
        click.echo(f"\n  Chopin is running for {names}")
        click.echo(f"\n  Sign in:          {link}")
        click.echo(f"  As somebody else: {link}&as=ben   (in another browser profile)")
        click.echo(f"  For agents:       {self.origin}/mcp   (bearer token: chopin token --data {self.data})")
        click.echo("\n  Stop with Ctrl-C.\n")


def serve_embedded(directory: Path, owner: str, listener: socket.socket, mode: LocalMode) -> int:
    """Serve from a PostgreSQL of our own in a directory; the exit status."""
    with console.status("Starting PostgreSQL …"):
        server = EmbeddedPostgres.start(directory)
    with server:
        return serve_database(server.url, owner, listener, mode, Retention())


def serve_database(database_url: str, owner: str, listener: socket.socket, mode: LocalMode, retention: Retention) -> int:
    """Serve from a database; the exit status."""
    return asyncio.run(_serve(database_url, owner, listener, mode, retention))


def migrate_database(database_url: str) -> None:
    """Bring a database's schema up to date."""
    with console.status("Migrating …"):
        asyncio.run(_migrate(database_url))


async def _serve(database_url: str, owner: str, listener: socket.socket, mode: LocalMode, retention: Retention) -> int:
    async with await open_storage(database_url) as storage:
        with console.status("Bringing the schema up to date …"):
            await storage.migrate()
            await storage.health()
        for hazard in await storage.hazards():
            _log.warning("what is acknowledged can be lost in a crash of the database's machine", hazard=hazard)
        return await serve_until_stopped(
            storage=storage,
            engine=PycrdtEngine(),
            owner=owner,
            listener=listener,
            make_shell=mode.shell,
            serving=mode.announce,
            retention=retention,
        )


async def _migrate(database_url: str) -> None:
    async with await open_storage(database_url) as storage:
        await storage.migrate()
