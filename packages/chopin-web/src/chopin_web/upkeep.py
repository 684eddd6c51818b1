"""The commands of whoever looks after a database: migrate, doctor, backup, restore."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from chopin_core.errors import ChopinError
from chopin_web.doctor import Check, Examination
from chopin_web.logs import configure_logs
from chopin_web.settings import SettingsRefused, load_settings, removed_settings
from chopin_web.terminal import console, fail, one_clear_line, only_process, progress

# The packages behind ``chopin_web.main`` take a second to import, which a refusal need not wait for.

_data = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory of chopin local, instead of DATABASE_URL.",
)
_pg_bin = click.option(
    "--pg-bin",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where pg_dump, pg_restore and psql are. Default: those that came with Chopin.",
)
_file = click.argument("file", type=click.Path(path_type=Path))


@click.command()
def migrate() -> None:
    """Bring the schema of DATABASE_URL up to date and stop."""
    configure_logs(machine=False)
    with one_clear_line():
        url = load_settings(os.environ).database_url
        from chopin_web.main import migrate_database

        with console.status("Migrating …"):
            done = migrate_database(url)
        if not done.applied:
            click.echo(f"The schema is up to date at {done.after}; there was nothing to do.")
        elif done.before is None:
            click.echo(f"The schema was made, up to {done.after}.")
        else:
            click.echo(f"The schema went from {done.before} to {done.after}: {', '.join(done.applied)}.")


@click.command()
@_data
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
def doctor(data: Path | None, as_json: bool) -> None:
    """
    Look a database over, also beside a running server, and change nothing.

    Exit status: 0 healthy, 1 something is wrong, 2 it could not be looked at.
    """
    configure_logs(machine=False)

    def told(check: Check) -> None:
        if not as_json:
            click.echo(str(check))

    checks: list[Check] = []
    try:
        settings = _settings(data)
        checks.append(settings)
        told(settings)
        with _database(data) as url, progress() as bar:
            from chopin_web.main import examine_database

            checks += examine_database(url, told=bar, found=told).checks
    except (ChopinError, OSError) as error:
        name = "connection" if checks else "settings"
        unseen = Check(name=name, outcome="wrong", says=str(error))
        if as_json:
            click.echo(Examination((*checks, unseen)).as_json())
        fail(str(error), status=2)
    examination = Examination(tuple(checks))
    if as_json:
        click.echo(examination.as_json())
    sys.exit(0 if examination.healthy else 1)


@click.command()
@_file
@_data
@_pg_bin
def backup(file: Path, data: Path | None, pg_bin: Path | None) -> None:
    """
    Write the whole database to FILE, also beside a running server.

    FILE must not exist. Exit status: 0 when every channel in it was seen to recover.
    """
    configure_logs(machine=False)
    with one_clear_line(), _database(data) as url:
        from chopin_web.main import back_up_database

        with progress() as told:
            manifest = back_up_database(url, file.absolute(), pg_bin, told)
        total = len(manifest.channels) + len(manifest.unrecoverable)
        click.echo(f"{file} holds {total} channels as of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC.")
        for fault in manifest.unrecoverable:
            click.echo(f"  {fault.channel_id} does not recover: {fault.reason}")
        if manifest.unrecoverable:
            fail(f"{len(manifest.unrecoverable)} of them do not recover; they are in the backup as they are")


@click.command()
@_file
@_data
@_pg_bin
def restore(file: Path, data: Path | None, pg_bin: Path | None) -> None:
    """
    Fill an empty database from FILE, and see every channel recover.

    Everybody has to sign in again, and open browsers start over. Exit status: 0 when everything came back; otherwise the
    database is as empty as before.
    """
    configure_logs(machine=False)
    with one_clear_line(), _database(data, made=True) as url:
        from chopin_web.main import restore_database

        with progress() as told:
            done = restore_database(url, file.absolute(), pg_bin, told)
        click.echo(f"{len(done.manifest.channels)} channels are back as of {done.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC.")
        if done.upgrade.applied:
            click.echo(f"The schema went from {done.upgrade.before} to {done.upgrade.after}.")
        for fault in done.manifest.unrecoverable:
            click.echo(f"  {fault.channel_id} did not recover when the backup was taken: {fault.reason}")
        click.echo("Everybody has to sign in again; machines have to be paired again.")


def _settings(data: Path | None) -> Check:
    if data is not None:
        _refuse_removed()
        return Check(name="settings", outcome="ok", says=f"chopin local on {data}")
    settings = load_settings(os.environ)
    return Check(name="settings", outcome="ok", says=f"{settings.origin}, AUTH_MODE {settings.auth_mode}")


def _refuse_removed() -> None:
    if faults := removed_settings(os.environ):
        raise SettingsRefused("settings", "cannot be used: " + "; ".join(faults))


@contextmanager
def _database(data: Path | None, *, made: bool = False) -> Iterator[str]:
    """The URL of the database that is meant; of a data directory, its own server runs meanwhile, beside its other users."""
    if data is None:
        yield load_settings(os.environ).database_url
        return
    _refuse_removed()
    directory = data.expanduser().absolute()
    from chopin_web.main import embedded_database

    if not made:
        if not (directory / "postgres" / "cluster").exists():
            raise FileNotFoundError(f"nothing was ever served from {data}")
        with embedded_database(directory / "postgres") as url:
            yield url
        return
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_process(directory), embedded_database(directory / "postgres") as url:
        yield url
