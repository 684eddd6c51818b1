"""The composition root: the one place that knows every package, and the ``chopin`` command."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import socket
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import attrs
import click
import platformdirs
from rich.console import Console

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import ChopinError
from chopin_core.people import RepositoryAccess
from chopin_core.ports.authority import Authority
from chopin_core.running import Chopin
from chopin_mcp.app import create_app as create_mcp_app
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage
from chopin_web.app import create_app
from chopin_web.local.authority import LocalAuthority, operator
from chopin_web.local.checkouts import current_checkout, open_checkouts
from chopin_web.local.secrets import LocalSecrets, keep_secrets, read_token
from chopin_web.local.sign_in import PATH as SIGN_IN_PATH
from chopin_web.local.sign_in import LocalSignIn
from chopin_web.logs import configure_logs
from chopin_web.serving import Ready, Shell, listen, serve_until_stopped
from chopin_web.settings import SettingsRefused, load_settings, removed_settings

console = Console(stderr=True, highlight=False)


@attrs.frozen(kw_only=True)
class LocalMode:
    """Everything the local authority needs, whichever database stands behind it."""

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
        return _shell(chopin, ready, authority, origin=self.origin, cookie=self.cookie, mode="local", sign_in=sign_in)

    def announce(self) -> None:
        link = f"{self.origin}{SIGN_IN_PATH}?token={self.secrets.token}"
        names = ", ".join(f"{access.repository.owner}/{access.repository.name}" for access in self.repositories)
        click.echo(f"\n  Chopin is running for {names}")
        click.echo(f"\n  Sign in:          {link}")
        click.echo(f"  As somebody else: {link}&as=ben   (in another browser profile)")
        click.echo(f"  For agents:       {self.origin}/mcp   (bearer: the token; `chopin token` prints it)")
        click.echo("\n  Stop with Ctrl-C.\n")


def _shell(
    chopin: Chopin, ready: Ready, authority: Authority, *, origin: str, cookie: str, mode: str, sign_in: LocalSignIn
) -> Shell:
    mcp = create_mcp_app(documents=chopin.documents, authority=authority, origin=origin)
    app = create_app(
        documents=chopin.documents,
        rooms=chopin.rooms,
        authority=authority,
        origin=origin,
        cookie=cookie,
        mode=mode,
        ready=ready,
        sign_in=sign_in.routes(),
        mcp=mcp,
    )
    return Shell(app=app, running=mcp.running())


async def _serve(database_url: str, owner: str, listener: socket.socket, mode: LocalMode) -> int:
    async with await open_storage(database_url) as storage:
        with console.status("Bringing the schema up to date …"):
            await storage.migrate()
            await storage.health()
        return await serve_until_stopped(
            storage=storage,
            engine=PycrdtEngine(),
            owner=owner,
            listener=listener,
            make_shell=mode.shell,
            serving=mode.announce,
        )


async def _migrate(database_url: str) -> None:
    async with await open_storage(database_url) as storage:
        await storage.migrate()


# The command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="chopin-web", prog_name="chopin")
def command() -> None:
    """Chopin keeps durable documents that people and coding agents write together."""


def _data_directory() -> Path:
    return platformdirs.user_data_path("chopin", appauthor=False)


_data = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=_data_directory,
    show_default="the platform's data directory",
    help="Where documents and secrets are kept.",
)
_repo = click.option(
    "--repo",
    "repos",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="A git checkout to keep documents for; may be repeated. Default: the current one.",
)
_json_logs = click.option("--json-logs", is_flag=True, help="Log one JSON object a line.")


@command.command()
@_data
@_repo
@_json_logs
@click.option("--port", type=click.IntRange(0, 65_535), default=8787, show_default=True, help="0 takes a free one.")
def local(data: Path, repos: tuple[Path, ...], json_logs: bool, port: int) -> None:
    """Serve this machine's owner: own database, no GitHub, loopback only."""
    configure_logs(machine=json_logs)
    with _one_clear_line():
        if faults := removed_settings(os.environ):
            raise SettingsRefused("settings", "cannot be used: " + "; ".join(faults))
        directory = data.expanduser().absolute()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _only_process(directory):
            listener = listen("127.0.0.1", port)
            mode = LocalMode(
                secrets=keep_secrets(directory),
                repositories=_repositories(repos),
                origin=f"http://127.0.0.1:{listener.getsockname()[1]}",
            )
            # The same for every process on this directory, of which the lock lets only one live: a restart after a crash
            # goes on under its predecessor's lease instead of waiting for it to expire.
            owner = f"local:{hashlib.sha256(mode.secrets.cookie_key.encode()).hexdigest()[:12]}"
            with console.status("Starting PostgreSQL …"):
                server = EmbeddedPostgres.start(directory / "postgres")
            with server:
                sys.exit(asyncio.run(_serve(server.url, owner, listener, mode)))


@command.command()
@_data
@_repo
def serve(data: Path, repos: tuple[Path, ...]) -> None:
    """Serve from the environment's settings: DATABASE_URL, APP_ORIGIN, SERVER_HOST, PORT, AUTH_MODE."""
    configure_logs(machine=True)
    with _one_clear_line():
        settings = load_settings(os.environ)
        if settings.auth_mode != "local":
            _fail("signing in with GitHub is not part of this version; set AUTH_MODE=local to serve loopback", status=2)
        directory = data.expanduser().absolute()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        listener = listen(settings.host, settings.port)
        mode = LocalMode(secrets=keep_secrets(directory), repositories=_repositories(repos), origin=settings.origin)
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        sys.exit(asyncio.run(_serve(settings.database_url, owner, listener, mode)))


@command.command("migrate")
def migrate_command() -> None:
    """Bring the schema of DATABASE_URL up to date and stop."""
    configure_logs(machine=False)
    with _one_clear_line():
        settings = load_settings(os.environ)
        with console.status("Migrating …"):
            asyncio.run(_migrate(settings.database_url))
        click.echo("The schema is up to date.")


@command.command()
@_data
def token(data: Path) -> None:
    """Print the token that signs people in and that agents send."""
    found = read_token(data.expanduser().absolute())
    if found is None:
        _fail(f"nothing was ever served from {data}")
    click.echo(found)


def _repositories(paths: tuple[Path, ...]) -> tuple[RepositoryAccess, ...]:
    return open_checkouts(paths) if paths else (current_checkout(Path.cwd()),)


@contextmanager
def _only_process(directory: Path) -> Iterator[None]:
    """Hold the directory; a second process on it is told at once. The system lets go when we die, however we die."""
    with open(directory / "lock", "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _fail(f"another Chopin is running on {directory}")
        yield


@contextmanager
def _one_clear_line() -> Iterator[None]:
    """What went wrong as a line for a person, and a status that is not zero."""
    try:
        yield
    except (ChopinError, OSError) as error:
        _fail(str(error))


def _fail(sentence: str, status: int = 1) -> NoReturn:
    click.echo(f"chopin: {sentence}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    command()
