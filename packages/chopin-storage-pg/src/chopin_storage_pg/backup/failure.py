"""The one way in which a backup or its restoration fails."""

from __future__ import annotations

import attrs

from chopin_core.errors import Unavailable


@attrs.frozen
class BackupFailed(Unavailable):
    """``what`` (a file, a program, a database) and ``reason`` make a line for the person at the keyboard."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what} {self.reason}"
