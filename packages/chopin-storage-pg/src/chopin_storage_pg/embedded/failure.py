"""The one way in which an embedded server fails."""

from __future__ import annotations

import attrs

from chopin_core.errors import Unavailable


@attrs.frozen
class ServerFailed(Unavailable):
    """The server of a directory could not be started, used or stopped; ``reason`` is a line for the person at the keyboard."""

    directory: str
    reason: str

    def __str__(self) -> str:
        return f"the PostgreSQL server in {self.directory} {self.reason}"
