"""Where a server listens, and the URL that leads there."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Final
from urllib.parse import quote

from chopin_storage_pg.embedded.directory import USER
from chopin_storage_pg.embedded.postmaster import Postmaster

_SOCKET_PATH_BYTES: Final = 103
"""The longest path of a Unix socket that every system allows."""


def address(cluster: Path) -> dict[str, str]:
    """
    Where to listen: on a socket in the cluster, which nobody else may enter, or on loopback if its path does not fit.

    A comma separates folders for the server, and hosts for a client. The port only names the socket file there; a new one
    each time keeps a dying server from taking away its successor's.
    """
    port = secrets.choice(range(1024, 2**16))
    if len(os.fsencode(cluster / f".s.PGSQL.{port}")) <= _SOCKET_PATH_BYTES and "," not in str(cluster):
        quoted = str(cluster).replace('"', '""')
        return {
            "listen_addresses": "",
            "unix_socket_directories": f'"{quoted}"',
            "unix_socket_permissions": "0700",
            "port": str(port),
        }
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    return {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(free)}


def url(running: Postmaster, password: str) -> str:
    if running.socket_directory:
        return f"postgresql://{USER}:{password}@/postgres?host={quote(running.socket_directory, safe='')}&port={running.port}"
    return f"postgresql://{USER}:{password}@127.0.0.1:{running.port}/postgres"
