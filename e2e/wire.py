"""The network between a browser and the server, so that tests can hold it up and cut it."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from types import TracebackType
from typing import Self

from playwright.async_api import ProxySettings

PIECE = 65_536


class Wire:
    """
    A SOCKS5 proxy on the loopback interface that passes bytes on as they are.

    The browser still asks for the server's own address, so that its exact checks of Host and Origin hold.
    """

    def __init__(self) -> None:
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._whole = True
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.thaw()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def proxy(self) -> ProxySettings:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return ProxySettings(server=f"socks5://127.0.0.1:{port}")

    def freeze(self, *, up: bool = True, down: bool = True) -> None:
        """Hold back every byte from now on, without ending a connection: nobody is told that nothing arrives."""
        if up:
            self._up.clear()
        if down:
            self._down.clear()

    def thaw(self) -> None:
        """Let go what was held back, in its order."""
        self._up.set()
        self._down.set()

    def cut(self) -> None:
        """End every connection at once, and each new one, until :meth:`mend`."""
        self._whole = False
        for connection in self._connections:
            connection.cancel()

    def mend(self) -> None:
        self._whole = True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            if self._whole:
                await self._up.wait()
                await self._connected(reader, writer)
        writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = await _asked(reader, writer)
        far_reader, far_writer = await asyncio.open_connection(host, port)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        ways = [
            asyncio.ensure_future(_passed_on(reader, far_writer, self._up)),
            asyncio.ensure_future(_passed_on(far_reader, writer, self._down)),
        ]
        try:
            await asyncio.gather(*ways)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            far_writer.transport.abort()


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Shake hands without authentication; where the browser wants to go (RFC 1928)."""
    _, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    writer.write(b"\x05\x00")
    _, _, _, kind = await reader.readexactly(4)
    if kind == 1:
        host = ".".join(str(part) for part in await reader.readexactly(4))
    else:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode()
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    return host, port


async def _passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: asyncio.Event) -> None:
    while piece := await reader.read(PIECE):
        await gate.wait()
        writer.write(piece)
        await writer.drain()
    await gate.wait()
    if writer.can_write_eof():
        writer.write_eof()
