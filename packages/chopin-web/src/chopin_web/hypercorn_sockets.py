"""What carries HTTP/1.1 and one WebSocket in Hypercorn, made fit for clients that mean no good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from h11 import Request
from hypercorn.protocol.events import Body, Data, Event, StreamClosed
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream
from hypercorn.typing import ASGIReceiveEvent, ASGISendEvent, WebsocketAcceptEvent
from wsproto.frame_protocol import CloseReason

Put: TypeAlias = Callable[[ASGIReceiveEvent], Awaitable[None]]

GOODBYE_SECONDS = 2.0
"""How long a client has to take the close and to close on its side."""


class PlainProtocol(H11Protocol):
    """
    HTTP/1.1 and nothing else. Proxies speak HTTP/2 to browsers; to us it would only mean that a connection which began like
    one is never asked again whether it still has something to say.
    """

    async def _check_protocol(self, event: Request) -> None:
        """An offer to change over to HTTP/2 may be left unanswered."""


class GuardedStream(WSStream):
    """
    Hypercorn 0.18 with its gaps closed. There:

    - a frame of 64 KiB may inflate to 64 MiB before its size is looked at, so nothing is compressed here: our frames are
      small, and a socket without it costs a third of a megabyte less;
    - a client that goes on sending after its message was found too large is listened to, and all of it is kept;
    - bytes that come before the upgrade is answered are refused, but the app is told neither that nor the end of the
      connection, which stays open;
    - a connection is dropped with the close frame, and a client in the middle of sending never sees that frame;
    - what else came in the same packet is handed to the app after it was told of the end, and waits there for ever.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._deaf = False
        self._gone = asyncio.Event()

    async def handle(self, event: Event) -> None:
        if isinstance(event, StreamClosed):
            self._gone.set()
        if not isinstance(event, (Body, Data)) or self.closed or self.handshake.accepted:
            if not (self._deaf and isinstance(event, (Body, Data))):
                await super().handle(event)
        elif self.state is ASGIWebsocketState.HANDSHAKE:
            await super().handle(event)  # answers 400
            await self._tell_app(CloseReason.ABNORMAL_CLOSURE)
            await self.send(StreamClosed(stream_id=self.stream_id))

    async def app_send(self, message: ASGISendEvent | None) -> None:
        if message is None and not self.closed and (self._deaf or self.state is ASGIWebsocketState.CLOSED):
            with suppress(TimeoutError):
                async with asyncio.timeout(GOODBYE_SECONDS):
                    await self._gone.wait()
        await super().app_send(message)

    async def _accept(self, message: WebsocketAcceptEvent) -> None:
        self.handshake.extensions = None
        assert self.app_put is not None, "there is an app that accepts"
        self.app_put = _until_the_end(self.app_put)
        await super()._accept(message)

    async def _handle_events(self) -> None:
        await super()._handle_events()
        if self.buffer.length > self.buffer.max_length:
            self._deaf = True
            self.buffer.clear()
            await self._tell_app(CloseReason.MESSAGE_TOO_BIG)

    async def _tell_app(self, code: CloseReason) -> None:
        if self.app_put is not None:
            await self.app_put({"type": "websocket.disconnect", "code": code.value})


def _until_the_end(put: Put) -> Put:
    told = False

    async def putting(message: ASGIReceiveEvent) -> None:
        nonlocal told
        if not told:
            told = message["type"] == "websocket.disconnect"
            await put(message)

    return putting
