"""What a server says about itself in ``postmaster.pid``, and whether that is still true."""

from __future__ import annotations

import os
from pathlib import Path

import attrs


@attrs.frozen(kw_only=True)
class Postmaster:
    """The server process as its file describes it; ``socket_directory`` is empty when it listens on TCP alone."""

    pid: int
    port: int = 0
    socket_directory: str = ""
    ready: bool = False

    def alive(self, cluster: Path) -> bool:
        """
        Whether the process is there and is the server of this cluster.

        After a restart of the machine or its container the number in a left-over file may be another program's, so where
        the system tells (Linux) the process' working directory has to be the cluster.
        """
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        if not Path("/proc/self/cwd").exists():
            return True
        try:
            return os.path.samefile(f"/proc/{self.pid}/cwd", cluster)
        except OSError:
            return False  # gone, a zombie, or of another user and so none of ours


def read(cluster: Path) -> Postmaster | None:
    """The server that has, or had, the cluster; None if the file is absent or not even a process number is written yet."""
    try:
        lines = (cluster / "postmaster.pid").read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return None
    try:
        if len(lines) < 8:  # the file grows line by line while the server starts
            return Postmaster(pid=int(lines[0]))
        return Postmaster(
            pid=int(lines[0]), port=int(lines[3]), socket_directory=lines[4].strip(), ready=lines[7].startswith("ready")
        )
    except (IndexError, ValueError):
        return None
