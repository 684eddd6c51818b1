"""Reading a small JSON body without ever holding more of it than it may have."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

LARGEST = 4096


async def json_object(request: Request, allowed: frozenset[str]) -> dict[str, Any]:
    """
    The body as an object with only the allowed keys; an empty body is an empty object.

    Raises:
        HTTPException: 413 for a body over 4096 bytes, 400 for one that is no such object.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise HTTPException(413, "The request is too large", headers={"connection": "close"})
    if not body:
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON") from None
    if not isinstance(value, dict) or value.keys() - allowed:
        raise HTTPException(400, f"The body must be an object with only: {', '.join(sorted(allowed))}")
    return value
