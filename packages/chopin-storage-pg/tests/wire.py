"""A wire between an adapter and its server that can be cut at a chosen moment."""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import attrs
from psycopg.conninfo import conninfo_to_dict


class Cut(enum.Enum):
    """What is lost when the marked message passes; both sides then find the connection closed, unless it is said otherwise."""

    QUESTION = "the message never arrives"
    ANSWER = "the message arrives, its answer is lost"
    LATE = "the client finds the connection closed, and the message arrives when the test says so"
    SILENCE = "nothing arrives any more, and nobody is told"


@attrs.define(eq=False)
class Wire:
    """Passes everything through, until :meth:`cut` has marked a message."""

    url: str
    _server: dict[str, str]
    open: bool = True
    """Whether new connections are taken."""
    happened: asyncio.Event = attrs.field(factory=asyncio.Event)
    _marked: tuple[bytes, Cut] | None = None
    _late: list[tuple[asyncio.StreamWriter, bytes]] = attrs.field(factory=list)

    def cut(self, marker: bytes, cut: Cut) -> None:
        """Cut the connection on which the next message that holds the marker passes. Others, and later ones, are left alone."""
        self._marked = marker, cut
        self.happened.clear()

    def deliver_late(self) -> None:
        """What was held back arrives at the server now, which may have hung up meanwhile."""
        for server, message in self._late:
            server.write(message)
            server.close()
        self._late.clear()

    async def serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        if not self.open:
            client.close()
            return
        server_reader, server = await _dialled(self._server)
        answers = asyncio.create_task(_pass(server_reader, client))
        try:
            while message := await client_reader.read(2**16):
                match self._cut_by(message):
                    case None:
                        server.write(message)
                    case Cut.SILENCE:
                        answers.cancel()
                        self.happened.set()
                    case Cut.QUESTION:
                        self.happened.set()
                        break
                    case Cut.ANSWER:
                        answers.cancel()
                        await asyncio.wait({answers})
                        server.write(message)
                        await server_reader.read(1)  # so the server has done what it was asked
                        self.happened.set()
                        break
                    case Cut.LATE:
                        self._late.append((server, message))
                        self.happened.set()
                        break
        finally:
            answers.cancel()
            client.close()
            if all(server is not late for late, _ in self._late):
                server.close()

    def _cut_by(self, message: bytes) -> Cut | None:
        if self._marked is None or self._marked[0] not in message:
            return None
        cut = self._marked[1]
        self._marked = None
        return cut


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while message := await reader.read(2**16):
            writer.write(message)
    writer.close()


async def _dialled(server: dict[str, str]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if server["host"].startswith("/"):
        return await asyncio.open_unix_connection(f"{server['host']}/.s.PGSQL.{server['port']}")
    return await asyncio.open_connection(server["host"], int(server["port"]))


@asynccontextmanager
async def wire_to(url: str) -> AsyncIterator[Wire]:
    """A wire to the server behind a URL; ``wire.url`` leads through it."""
    server = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    user, password = quote(server["user"], safe=""), quote(server["password"], safe="")
    wire = Wire("", server)
    async with await asyncio.start_server(wire.serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        wire.url = f"postgresql://{user}:{password}@127.0.0.1:{port}/{server['dbname']}?sslmode=disable"
        yield wire
        wire.deliver_late()
