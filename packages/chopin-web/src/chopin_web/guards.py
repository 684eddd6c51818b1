"""What every request must pass before anything else looks at it, and the headers that every answer carries."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Set where the answer does not say otherwise; the page of the client brings its own policy."""


class ExactHost:
    """
    Refuses requests that reached us under another name (403), so that no other site's name can be made to point here.

    Pure ASGI: anything that wraps the call in a task of its own would break cancellation around storage.
    """

    def __init__(self, app: ASGIApp, *, origin: str) -> None:
        self._app = app
        self._host = urlsplit(origin).netloc.lower()
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._named(scope):
            await self._app(scope, receive, send)
            return
        refusal = JSONResponse({"error": f"This server answers at {self._origin} only"}, status_code=403)
        await refuse(refusal, scope, receive, send)

    def _named(self, scope: Scope) -> bool:
        hosts = Headers(scope=scope).getlist("host")
        return len(hosts) == 1 and hosts[0].lower() == self._host


class SecurityHeaders:
    """Adds :data:`SECURITY_HEADERS`, and forbids storing of whatever does not ask to be cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in {**SECURITY_HEADERS, "cache-control": "no-store"}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, guarded)


async def refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or an upgrade that is not accepted, with an ordinary response."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    await response(scope, receive, send)


def require_origin(connection: HTTPConnection, origin: str, *, missing_is_fine: bool = False) -> None:
    """
    Let only our own pages pass. Browsers leave the header out of a same-origin GET, which changes nothing.

    Raises:
        HTTPException: 403; the Origin header is missing, repeated, or not exactly the configured origin.
    """
    given = connection.headers.getlist("origin")
    if given != [origin] and not (missing_is_fine and not given):
        raise HTTPException(403, "Wrong origin")
