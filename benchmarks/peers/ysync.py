"""The messages of the Yjs sync protocol, as the two other systems speak it."""

from __future__ import annotations

from typing import Final

from pycrdt import Decoder, Doc, YMessageType, YSyncMessageType, create_sync_message, create_update_message

ASK: Final = create_sync_message(Doc())
"""The first sync step of somebody who has nothing yet."""

edit = create_update_message


def state(message: bytes) -> bytes | None:
    """What a second sync step brings: all that the asker lacked."""
    return _update(message) if _is(message, YSyncMessageType.SYNC_STEP2) else None


def brought(message: bytes) -> bytes:
    """The update in an update message; empty for any other."""
    return _update(message) if _is(message, YSyncMessageType.SYNC_UPDATE) else b""


def _is(message: bytes, kind: YSyncMessageType) -> bool:
    return message[:2] == bytes((YMessageType.SYNC, kind))


def _update(message: bytes) -> bytes:
    return Decoder(message[2:]).read_message() or b""
