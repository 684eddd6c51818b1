"""The MCP endpoint as a plain ASGI app: bearer guard, body limit, and the SDK's transport without sessions."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Final
from urllib.parse import urlsplit

import attrs
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from chopin_core.documents import Documents
from chopin_core.ports.authority import Authority
from chopin_mcp.bearer import App, BearerGuard, Receive, Scope, Send
from chopin_mcp.server import create_server

BODY_LIMIT: Final = 3 * 256 * 1024
"""Bytes of a request, declared or counted: the largest document, escaped, and what goes with it."""


@attrs.frozen(kw_only=True)
class McpApp:
    """
    An ASGI app for one path, whatever it is called; HTTP only.

    Route it whole (with Starlette ``Route("/mcp", app)``, since ``Mount`` redirects to a trailing slash), and serve it within
    :meth:`running`, which can be entered once, and must be left by the task that entered it.
    """

    guarded: App
    manager: StreamableHTTPSessionManager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.guarded(scope, receive, send)

    def running(self) -> AbstractAsyncContextManager[None]:
        """The time in which requests are served; leaving it cancels those in flight."""
        return self.manager.run()


def create_app(*, documents: Documents, authority: Authority, origin: str) -> McpApp:
    """The endpoint of a server whose address, as people type it and without a path, is ``origin``."""
    manager = StreamableHTTPSessionManager(
        create_server(documents=documents, authority=authority, origin=origin),
        json_response=True,
        # A session dies with its process and clients do not start another one; without sessions there is none to lose.
        stateless=True,
        max_request_body_size=BODY_LIMIT,
        security_settings=TransportSecuritySettings(allowed_hosts=[urlsplit(origin).netloc], allowed_origins=[origin]),
    )
    guarded = BearerGuard(app=manager.handle_request, authority=authority, origin=origin)
    return McpApp(guarded=guarded, manager=manager)
