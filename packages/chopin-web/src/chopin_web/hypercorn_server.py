"""Serving an ASGI app on Hypercorn, and what has to be done around it there."""

from __future__ import annotations

import asyncio
import logging
import socket

from hypercorn import protocol
from hypercorn.asyncio import serve
from hypercorn.config import Config
from hypercorn.protocol import h11
from starlette.types import ASGIApp, Receive, Scope, Send

from chopin_web.frames.envelope import LARGEST_FRAME
from chopin_web.hypercorn_sockets import GuardedStream, PlainProtocol

READ_ON_SECONDS = 30.0

# Hypercorn has no setting for what it speaks with.
protocol.H11Protocol = PlainProtocol  # type: ignore[attr-defined]  # because it is not exported
h11.WSStream = GuardedStream  # type: ignore[attr-defined]  # because it is not exported


async def serve_on_hypercorn(app: ASGIApp, listener: socket.socket, closing: asyncio.Event) -> None:
    """Serve on the listener, which is Hypercorn's from then on, until ``closing`` is set."""
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.errorlog = logging.getLogger("hypercorn.error")
    config.accesslog = None
    config.include_server_header = False
    config.websocket_max_message_size = LARGEST_FRAME
    config.graceful_timeout = 2.0
    # Hypercorn's own pings keep a finished connection's task until the next one is due; clients ping us instead.
    config.websocket_ping_interval = None
    await serve(ReadsOn(app), config, shutdown_trigger=closing.wait)  # type: ignore[arg-type]  # because Hypercorn types ASGI with dicts of its own


class ReadsOn:
    """
    Goes on reading what a client sends after the app has answered, and throws it away.

    Hypercorn 0.18 hands messages to an app through a short queue and says goodbye through it too. When the app returns while
    the queue is full, the goodbye waits for ever and the connection is never closed: a client that keeps on sending after
    it was shut out would cost a task and a socket each time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._reading: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        left = False

        async def noting() -> dict[str, object]:
            nonlocal left
            message = await receive()
            left = message["type"] in ("http.disconnect", "websocket.disconnect")
            return dict(message)

        try:
            await self._app(scope, noting, send)
        finally:
            if not left:
                task = asyncio.get_running_loop().create_task(_read_on(receive))
                self._reading.add(task)
                task.add_done_callback(self._reading.discard)


async def _read_on(receive: Receive) -> None:
    try:
        async with asyncio.timeout(READ_ON_SECONDS):
            while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
                pass
    except TimeoutError:
        pass
