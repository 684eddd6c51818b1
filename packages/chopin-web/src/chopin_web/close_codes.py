"""Why a socket was closed, as numbers (protocol spec §2.5); the client's ``wire/closeCodes.ts`` names the same."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    MESSAGE_TOO_BIG = 1009
    """Nothing in it was read; sending it again would not help."""
    INTERNAL_ERROR = 1011
    """The document could not be opened after the upgrade."""
    RESTART = 1012
    """The room or the server went away; reconnect."""
    TOO_SLOW = 1013
    """The reader did not keep up; reconnect and catch up."""
    REJECTED_TOO_OFTEN = 4003
    ACCESS_LOST = 4403
    DELETED = 4404
    """Terminal: do not reconnect."""
    RATE_EXCEEDED = 4429
