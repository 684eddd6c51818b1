"""The ``chopin`` command: what to serve, from where, and one clear line when it cannot be done."""

from __future__ import annotations

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

import click
import platformdirs

from chopin_core.errors import ChopinError
from chopin_core.people import RepositoryAccess
from chopin_core.retention import Retention
from chopin_web.local.checkouts import current_checkout, open_checkouts
from chopin_web.local.secrets import keep_secrets, read_token
from chopin_web.logs import configure_logs
from chopin_web.settings import SettingsRefused, load_settings, removed_settings

# The packages behind ``chopin_web.main`` take a second to import, which printing a token or a refusal need not wait for.


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
        directory = _made(data)
        with _only_process(directory):
            from chopin_web.main import LocalMode, serve_embedded
            from chopin_web.serving import listen

            listener = listen("127.0.0.1", port)
            mode = LocalMode(
                data=data,
                secrets=keep_secrets(directory),
                repositories=_repositories(repos),
                origin=f"http://127.0.0.1:{listener.getsockname()[1]}",
            )
            # The same for every process on this directory, of which the lock lets only one live: a restart after a crash
            # goes on under its predecessor's lease instead of waiting for it to expire.
            owner = f"local:{hashlib.sha256(mode.secrets.cookie_key.encode()).hexdigest()[:12]}"
            sys.exit(serve_embedded(directory / "postgres", owner, listener, mode))


@command.command()
@_data
@_repo
def serve(data: Path, repos: tuple[Path, ...]) -> None:
    """Serve from the environment's settings: DATABASE_URL, APP_ORIGIN, SERVER_HOST, PORT, AUTH_MODE, IDEMPOTENCY_DAYS."""
    configure_logs(machine=True)
    with _one_clear_line():
        settings = load_settings(os.environ)
        if settings.auth_mode != "local":
            _fail("signing in with GitHub is not part of this version; set AUTH_MODE=local to serve loopback", status=2)
        directory = _made(data)

        from chopin_web.main import LocalMode, serve_database
        from chopin_web.serving import listen

        listener = listen(settings.host, settings.port)
        mode = LocalMode(data=data, secrets=keep_secrets(directory), repositories=_repositories(repos), origin=settings.origin)
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        retention = Retention(window=settings.idempotency_window)
        sys.exit(serve_database(settings.database_url, owner, listener, mode, retention))


@command.command("migrate")
def migrate_command() -> None:
    """Bring the schema of DATABASE_URL up to date and stop."""
    configure_logs(machine=False)
    with _one_clear_line():
        settings = load_settings(os.environ)
        from chopin_web.main import migrate_database

        migrate_database(settings.database_url)
        click.echo("The schema is up to date.")


@command.command()
@_data
def token(data: Path) -> None:
    """Print the token that signs people in and that agents send."""
    found = read_token(data.expanduser().absolute())
    if found is None:
        _fail(f"nothing was ever served from {data}")
    click.echo(found)


def _made(data: Path) -> Path:
    directory = data.expanduser().absolute()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory


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
