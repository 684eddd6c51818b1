"""The query string of a list: its bounds, and the cursor that only fits the search it came from."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import attrs
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from chopin_core.errors import InvalidField
from chopin_core.ids import parse_channel_id
from chopin_core.ports.channels import PAGE_LIMIT, Cursor
from chopin_core.text import storable

CURSOR_VERSION = 3
QUERY_LENGTH = 120
DEFAULT_LIMIT = 50
_NAMES = frozenset({"query", "cursor", "limit", "includeArchived"})


@attrs.frozen(kw_only=True)
class ListRequest:
    """What a list was asked for."""

    query: str
    after: Cursor | None
    limit: int
    include_archived: bool

    def cursor(self, last: Cursor) -> str:
        """The opaque cursor for the page after this one (protocol spec §10.3)."""
        value = {
            "v": CURSOR_VERSION,
            "updatedAt": last.at.astimezone(UTC).isoformat(),
            "id": last.id,
            "query": self.query,
            "includeArchived": self.include_archived,
        }
        text = json.dumps(value, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_list_request(params: QueryParams) -> ListRequest:
    """
    Raises:
        HTTPException: 400; a parameter is repeated or out of bounds, or the cursor belongs to another search.
    """
    given = dict(params.multi_items())
    if len(given) != len(params.multi_items()):
        raise HTTPException(400, "A parameter is repeated")
    if unknown := given.keys() - _NAMES:
        raise HTTPException(400, f"Unknown parameter: {min(unknown)[:40]}")
    query = _query(given.get("query", ""))
    include_archived = _flag(given.get("includeArchived", "false"))
    return ListRequest(
        query=query,
        after=_after(given["cursor"], query, include_archived) if "cursor" in given else None,
        limit=_limit(given.get("limit", str(DEFAULT_LIMIT))),
        include_archived=include_archived,
    )


def _query(value: str) -> str:
    try:
        query = storable(value, "query").strip().lower()
    except InvalidField as error:
        raise HTTPException(400, str(error)) from None
    if len(query) > QUERY_LENGTH:
        raise HTTPException(400, f"query has more than {QUERY_LENGTH} characters")
    return query


def _flag(value: str) -> bool:
    if value not in ("true", "false"):
        raise HTTPException(400, "includeArchived must be true or false")
    return value == "true"


def _limit(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= 3 and 1 <= int(value) <= PAGE_LIMIT):
        raise HTTPException(400, f"limit must be 1 to {PAGE_LIMIT}")
    return int(value)


def _after(text: str, query: str, include_archived: bool) -> Cursor:
    try:
        value: Any = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True))
        fields = {"v": CURSOR_VERSION, "query": query, "includeArchived": include_archived}
        if value.keys() != {*fields, "updatedAt", "id"} or any(value[name] != fields[name] for name in fields):
            raise ValueError
        at = datetime.fromisoformat(value["updatedAt"])
        if at.tzinfo is None:
            raise ValueError
        return Cursor(at=at, id=parse_channel_id(value["id"]))
    except (ValueError, TypeError, AttributeError, RecursionError, InvalidField, OverflowError):
        raise HTTPException(400, "The cursor does not belong to this search") from None
