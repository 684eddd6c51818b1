"""The cursor of ``list_documents``: opaque to clients, bound to the listing it came from."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta

from chopin_core.errors import InvalidField
from chopin_core.ids import RepositoryId, parse_channel_id
from chopin_core.ports.channels import Cursor

VERSION = 1


def encode(cursor: Cursor, repository: RepositoryId, *, include_archived: bool) -> str:
    """The cursor as text that clients hand back unread."""
    facts = [VERSION, repository, include_archived, cursor.at.isoformat(), cursor.id]
    return base64.urlsafe_b64encode(json.dumps(facts, separators=(",", ":")).encode()).rstrip(b"=").decode()


def decode(text: str, repository: RepositoryId, *, include_archived: bool) -> Cursor:
    """
    The cursor that :func:`encode` made for the same listing.

    Raises:
        InvalidField: it made no such text, or for another listing.
    """
    try:
        facts = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        version, of_repository, of_archived, at, channel = facts
        moment = datetime.fromisoformat(at)
        identity = parse_channel_id(channel)
    except (ValueError, TypeError, RecursionError, InvalidField) as error:
        raise InvalidField("cursor", "is not a next_cursor of this tool") from error
    if version != VERSION or moment.utcoffset() != timedelta(0):
        raise InvalidField("cursor", "is not a next_cursor of this tool")
    if (of_repository, of_archived) != (repository, include_archived):
        raise InvalidField("cursor", "belongs to a listing with another repository or includeArchived")
    return Cursor(at=moment, id=identity)
