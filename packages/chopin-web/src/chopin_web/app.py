"""The web shell as a function from ports to an ASGI app; the route table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from chopin_core.documents import Documents
from chopin_core.errors import ChopinError
from chopin_core.ports.authority import Authority
from chopin_core.room.rooms import Rooms
from chopin_web.access import Access
from chopin_web.channels import ChannelRoutes
from chopin_web.client_files import ClientRoutes
from chopin_web.guards import ExactHost, SecurityHeaders
from chopin_web.health import HealthRoutes
from chopin_web.refusals import crash, domain_error, http_error
from chopin_web.session import SessionRoutes
from chopin_web.socket import SocketRoutes

MCP_PATH = "/mcp"


def create_app(
    *,
    documents: Documents,
    rooms: Rooms,
    authority: Authority,
    origin: str,
    cookie: str,
    mode: str,
    ready: Callable[[], Awaitable[None]],
    sign_in: Sequence[BaseRoute] = (),
    mcp: ASGIApp | None = None,
) -> ASGIApp:
    """
    The whole product behind one port.

    ``origin`` is the one address it answers at, ``cookie`` the name of the session's cookie, ``mode`` how people sign in,
    ``ready`` raises while the process may not write, ``sign_in`` are the routes by which an authority lets people in, and
    ``mcp`` serves agents under ``/mcp``.
    """
    access = Access(authority=authority, documents=documents, cookie=cookie)
    app: ASGIApp = Starlette(
        routes=[
            *SessionRoutes(access, mode).routes(),
            *ChannelRoutes(documents, access, origin).routes(),
            *sign_in,
            *HealthRoutes(ready).routes(),
            *SocketRoutes(rooms, access, origin).routes(),
            *([Route(MCP_PATH, mcp)] if mcp is not None else []),  # a mount would redirect to a path with a slash
            *ClientRoutes().routes(),
        ],
        exception_handlers={ChopinError: domain_error, HTTPException: http_error, Exception: crash},
    )
    for guard in reversed([Middleware(SecurityHeaders), Middleware(ExactHost, origin=origin)]):
        app = guard.cls(app, *guard.args, **guard.kwargs)
    return app
