"""What is asked of each system, in words that hold for all of them: run, keep documents, and let people join one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

import attrs

from benchmarks.peers.document import Word
from benchmarks.peers.wire import Address, Wire, dialled, framed


class Speech(Protocol):
    """How a client of a system talks about one document, over one connection."""

    @property
    def kind(self) -> int:
        """Whether messages are text or binary."""
        ...

    def greeting(self) -> Sequence[bytes]:
        """What a client says to be given the document."""
        ...

    def state(self, message: bytes) -> bytes | None:
        """The whole document as a Yjs update, if this message is the answer to the greeting."""
        ...

    def edit(self, word: Word, update: bytes) -> bytes:
        """The message that sends an edit."""
        ...

    def brought(self, message: bytes) -> bytes:
        """The Yjs update by which this message changes what the client shows; empty if it does not."""
        ...

    def confirms(self, message: bytes, writer: int) -> bool:
        """
        Whether this message confirms the writer's next edit, in the order they were sent. What a confirmation is worth
        is the system's affair; see ``System.confirmation``.
        """
        ...


class System(Protocol):
    """A server in a process of its own, on a persistence that survives it."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """Version and settings."""
        ...

    @property
    def confirmation(self) -> str:
        """What tells a writer that an edit arrived, and what that means."""
        ...

    @property
    def pid(self) -> int:
        """The one process that serves."""
        ...

    def said(self) -> str:
        """What the process has printed and logged."""
        ...

    async def start(self) -> None:
        """Serve; on what is stored, if it served before."""
        ...

    async def stop(self) -> None:
        """Ask it to end, and wait until it did."""
        ...

    async def kill(self) -> None:
        """End it without a last word, if it runs."""
        ...

    async def keep(self, documents: Sequence[str], update: bytes) -> None:
        """Store documents that hold just this. It runs, and nobody has joined them yet."""
        ...

    def address(self, document: str) -> Address: ...

    def speech(self, document: str) -> Speech: ...


@attrs.frozen(kw_only=True)
class Person:
    """Somebody who has joined a document; ``document`` is what it held then."""

    wire: Wire
    speech: Speech
    document: bytes

    def frame(self, word: Word, update: bytes) -> bytes:
        """An edit, ready to be written to the wire."""
        return framed(self.speech.edit(word, update), self.speech.kind)


@asynccontextmanager
async def joined(system: System, document: str) -> AsyncIterator[Person]:
    speech = system.speech(document)
    try:
        async with dialled(system.address(document)) as wire:
            for message in speech.greeting():
                wire.write(framed(message, speech.kind))
            state = await wire.first(speech.state)
            yield Person(wire=wire, speech=speech, document=state)
    except (OSError, TimeoutError) as error:
        error.add_note(f"{system.name} said in the end:\n{system.said()[-2_000:]}")
        raise


@asynccontextmanager
async def company(system: System, document: str, people: int) -> AsyncIterator[list[Person]]:
    """So many people in one document."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(joined(system, document)) for _ in range(people)]
