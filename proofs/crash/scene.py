"""The scene of a round: documents, the people who write in them at once, and the server and database that will be ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import attrs

from chopin_web.testing.person import Person, signed_in
from chopin_web.testing.server import Server

from .audit import Violation, audited, present, text_of
from .history import History, Update
from .markers import difference
from .markers import read as markers_of
from .readers import opened_by_core, opened_by_yjs
from .report import Evidence, Tally, Violated
from .rows import Rows, everything, read, reading
from .writer import BROKEN, Writer

WRITERS = 4
GROWN = 40_000
"""Characters after which the writers turn to a new document: each lives through many rounds, and none grows too large."""
ASIDE = 2
"""How many of them also write in a second document."""


@attrs.define(eq=False, kw_only=True)
class Scene:
    server: Server
    random: Random
    tally: Tally
    url: Callable[[], str]
    """Of the database, which may have moved when it was started again."""
    history: History = attrs.field(factory=History)
    writers: list[Writer] = attrs.field(factory=list)
    """Of the present documents: the main one's, and of those two who also write aside."""
    documents: list[str] = attrs.field(factory=list)
    _people: dict[str, Person] = attrs.field(factory=dict)
    _signed_in: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _rounds: int = 0

    # Who is there

    async def enter(self) -> None:
        """Sign everybody in at the server, which has just been started for the first time."""
        await self._signed_in.aclose()
        for number in range(1, WRITERS + 1):
            person = signed_in(self.server.origin, self.server.token, f"w{number}")
            self._people[f"w{number}"] = await self._signed_in.enter_async_context(person)

    async def leave(self) -> None:
        for writer in self.writers:
            await writer.leave()
        await self._signed_in.aclose()

    async def gather(self) -> None:
        """Begin new documents if there are none yet, or if they have grown long."""
        if self.writers and all(len(writer.browser.replica.text) < GROWN for writer in self.writers):
            return
        for writer in self.writers:
            await writer.leave()
        self.writers = []
        for group in ([*self._people], [*self._people][:ASIDE]):
            document = await self._people["w1"].create_document(f"Document {len(self.documents) + 1}")
            self.documents.append(document)
            self.tally.documents += 1
            # A person has one name and several tabs: updates are named after the tab.
            tabs = [
                Writer(f"{name}.{len(self.documents)}", document, self.history, Random(self.random.random())) for name in group
            ]
            self.writers += tabs
        await self.connect()

    async def connect(self) -> None:
        await asyncio.gather(*(self.attached(writer) for writer in self.writers))

    async def attached(self, writer: Writer) -> None:
        await writer.connect(self._people[writer.name.partition(".")[0]])

    # What they do

    @asynccontextmanager
    async def typing(self) -> AsyncIterator[None]:
        """Everybody writes while the context is open; in every other round only those in the main document."""
        self._rounds += 1
        stop = asyncio.Event()
        present = self.writers if self._rounds % 2 else self.writers[:WRITERS]
        typing = [asyncio.create_task(writer.type(stop)) for writer in present]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*typing)

    async def abandoned(self) -> None:
        """Wait until everybody's socket is closed: whatever acknowledgement was on its way has arrived then."""
        try:
            await asyncio.gather(*(writer.gone() for writer in self.writers))
        except TimeoutError:
            await self.refuse([Violation("unsettled", "a socket stayed open")])

    async def settled(self) -> None:
        """Wait until everything is acknowledged and relayed."""
        try:
            await asyncio.gather(*(writer.settled() for writer in self.writers))
            await asyncio.gather(*(writer.level() for writer in self.writers))
        except BROKEN as error:
            await self.refuse([Violation("unsettled", f"{type(error).__name__}: {error}")])

    async def resume(self, start: Callable[[], Awaitable[None]] | None = None) -> None:
        """Start the server again, let everybody go on where they were, and see that they end up with one text, each once."""
        began = time.monotonic()
        await (start or self.server.start)()
        await self.connect()
        await self.settled()
        self.tally.recovered(time.monotonic() - began)
        await self.agree()

    # What must be so

    async def agree(self) -> None:
        """Everybody sees the server's text, and it holds everything that was ever sent, once."""
        violations = []
        for writer in self.writers:
            async with self._people["w1"].browser(writer.document) as reader:
                if writer.browser.replica.text != reader.replica.text:
                    differing = difference(writer.browser.replica.text, reader.replica.text)
                    violations.append(Violation("replica", f"{writer.name} and a new reader differ: {differing}"))
        await self.refuse(violations)
        await self.audit(settled=True)

    async def audit(self, *, settled: bool = False, thorough: bool = False) -> None:
        """
        Read the database and compare it with the history. ``thorough``: also the documents of the past, and with ``yjs``.

        Raises:
            Violated: they do not agree; the evidence has been written down.
        """
        async with reading(self.url()) as session:
            present = {writer.document for writer in self.writers}
            stored = [await read(session, document) for document in self.documents if thorough or document in present]
        violations = [Violation("told", complaint) for complaint in self.history.complaints]
        for rows in stored:
            updates = self.history.of(rows.channel)
            violations += audited(rows, updates, settled=settled)
            self._mark(updates, rows)
        await self.refuse(violations)
        await self.refuse([*await opened_by_core(self.url(), stored), *(await opened_by_yjs(stored) if thorough else ())])
        self.tally.seen(self.history, [rows.snapshot.generation for rows in stored if rows.snapshot])

    def _mark(self, updates: Sequence[Update], rows: Rows) -> None:
        waiting = [update for update in updates if update.acknowledged is None]
        if waiting and rows.snapshot is not None:
            there = present(updates, markers_of(text_of(rows))[0])
            for update in waiting:
                update.in_flight = True
                update.unheard |= update.id in there

    async def refuse(self, violations: Sequence[Violation]) -> None:
        if not violations:
            return
        async with reading(self.url()) as session:
            rows = await everything(session)
        evidence = Evidence(
            history=self.history.evidence(),
            rows=rows,
            texts={writer.name: writer.browser.replica.text for writer in self.writers},
            log=self.server.said()[-20_000:],
        )
        raise Violated(violations, evidence)
