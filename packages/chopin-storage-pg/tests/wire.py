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


class Way(enum.Enum):
    TO_SERVER = "from client to server"
    TO_CLIENT = "from server to client"

    def __str__(self) -> str:
        return self.value


@attrs.define(eq=False)
class Wire:
    """Passes everything through, until :meth:`cut` or :meth:`cut_after` has marked a message."""

    url: str
    _server: dict[str, str]
    open: bool = True
    """Whether new connections are taken."""
    happened: asyncio.Event = attrs.field(factory=asyncio.Event)
    _marked: tuple[bytes, Cut, bool] | None = None
    _last: Way | None = None
    _left: int = 0
    _lines: set[_Line] = attrs.field(factory=set)
    _late: list[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]] = attrs.field(factory=list)

    def cut(self, marker: bytes, cut: Cut, *, all_connections: bool = False) -> None:
        """
        Cut the connection on which the client's next message that holds the marker passes. Later ones are left alone, and
        others too, unless all are to end with it.
        """
        self._marked = marker, cut, all_connections
        self.happened.clear()

    def cut_after(self, messages: int, way: Way) -> None:
        """Cut all connections once so many messages of the protocol, on whichever of them, have gone that way."""
        self._last, self._left = way, messages
        self.happened.clear()

    def mend(self) -> None:
        """Nothing is marked any more; what was cut stays cut."""
        self._marked = self._last = None

    def hang_up(self) -> None:
        """End all connections now, whatever they are doing."""
        for line in list(self._lines):
            line.close()

    async def deliver_late(self) -> None:
        """
        What was held back arrives at the server now, which may have hung up meanwhile, and has done with it when this returns.
        """
        late, self._late = self._late, []
        for answers, server, message in late:
            with contextlib.suppress(ConnectionError):
                server.write(message)
                server.write_eof()
                while await answers.read(2**16):
                    pass
            server.close()

    async def serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        if not self.open:
            client.close()
            return
        server_reader, server = await _dialled(self._server)
        line = _Line(client, server)
        self._lines.add(line)
        answers = asyncio.create_task(self._pass_answers(server_reader, line))
        asked = _Messages(typed=False)
        try:
            while chunk := await client_reader.read(2**16):
                cut, all_connections = self._cut_by(chunk)
                match cut:
                    case None:
                        server.write(self._let_through(Way.TO_SERVER, asked.in_(chunk)))
                        continue
                    case Cut.SILENCE:
                        answers.cancel()
                        self.happened.set()
                        continue
                    case Cut.ANSWER:
                        answers.cancel()
                        await asyncio.wait({answers})
                        server.write(chunk)
                        await server_reader.read(1)  # so the server has done what it was asked
                    case Cut.LATE:
                        self._late.append((server_reader, server, chunk))
                        line.keeps_server = True
                if all_connections:
                    self.hang_up()
                self.happened.set()
                break
        except ConnectionError:
            pass
        finally:
            answers.cancel()
            line.close()
            self._lines.discard(line)

    async def _pass_answers(self, reader: asyncio.StreamReader, line: _Line) -> None:
        told = _Messages(typed=True)
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(2**16):
                line.client.write(self._let_through(Way.TO_CLIENT, told.in_(chunk)))
        line.client.close()

    def _let_through(self, way: Way, messages: list[bytes]) -> bytes:
        if self._last is not way:
            return b"".join(messages)
        passing, self._left = messages[: self._left], self._left - len(messages)
        if self._left <= 0:
            self._last = None
            self.happened.set()
            asyncio.get_running_loop().call_soon(self.hang_up)  # once those that may pass are written
        return b"".join(passing)

    def _cut_by(self, chunk: bytes) -> tuple[Cut | None, bool]:
        if self._marked is None or self._marked[0] not in chunk:
            return None, False
        _, cut, all_connections = self._marked
        self._marked = None
        return cut, all_connections


@attrs.define(eq=False)
class _Line:
    """One connection, of a client to us and of us to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    keeps_server: bool = False
    """Its last message is to be delivered late."""

    def close(self) -> None:
        self.client.close()
        if not self.keeps_server:
            self.server.close()


@attrs.define(eq=False)
class _Messages:
    """The messages of PostgreSQL's protocol in what passes in one direction of a connection."""

    typed: bool
    """Whether a message begins with its type, before its length; a client's first one does not."""
    _rest: bytes = b""

    def in_(self, chunk: bytes) -> list[bytes]:
        self._rest += chunk
        complete = []
        while len(self._rest) >= (start := int(self.typed)) + 4:
            end = start + int.from_bytes(self._rest[start : start + 4])
            if len(self._rest) < end:
                break
            complete.append(self._rest[:end])
            self._rest, self.typed = self._rest[end:], True
        return complete


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
        plain = "sslmode=disable&gssencmode=disable"
        wire.url = f"postgresql://{user}:{password}@127.0.0.1:{port}/{server['dbname']}?{plain}"
        yield wire
        await wire.deliver_late()
