"""A storage in one file: durable, shared by the processes of one machine, and slow on purpose."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import pickle
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from chopin_contract_tests.adapters import Databases
from chopin_core.errors import CorruptRecord, StorageUnavailable
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Tables
from chopin_core.ports.agents import AgentStore
from chopin_core.ports.channels import ChannelStore
from chopin_core.ports.collaboration import CollaborationStore
from chopin_core.ports.images import ImageStore
from chopin_core.ports.jobs import JobStore
from chopin_core.ports.leases import LeaseStore
from chopin_core.ports.machines import MachineStore
from chopin_core.ports.navigation import NavigationStore
from chopin_core.ports.research import ResearchStore
from chopin_core.ports.users import UserStore
from chopin_core.ports.web_sessions import WebSessionStore

T = TypeVar("T")
FORMAT: Final = b"chopin in one file, 1\n"


@attrs.frozen
class OneFile:
    """The tables of the memory adapter as a file, in the hands of one caller at a time."""

    path: Path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Until the context is left the file is the caller's. Other threads wait too, and a process that dies lets go."""
        try:
            with open(self._beside(".lock"), "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise StorageUnavailable(type(error).__name__) from error

    def read(self) -> bytes:
        if not self.path.exists():
            return pickle.dumps(Tables())
        kept = self.path.read_bytes()
        head, pickled = kept[: len(FORMAT) + 32], kept[len(FORMAT) + 32 :]
        if head != FORMAT + hashlib.sha256(pickled).digest():
            raise CorruptRecord(self.path.name, "is damaged, or of another version")
        return pickled

    def write(self, tables: Tables) -> None:
        pickled, new = pickle.dumps(tables), self._beside(".new")
        with open(new, "wb") as file:
            file.write(FORMAT + hashlib.sha256(pickled).digest() + pickled)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)  # a reader sees the old file or the new one, also after a power cut
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)


def called(file: OneFile, store: str, method: str, *args: Any, **kwargs: Any) -> Any:
    """One call, from reading the file to writing it. When it raises, nothing is written; nor when it changed nothing."""
    with file.held():
        pickled = file.read()
        before, tables = pickle.loads(pickled), pickle.loads(pickled)
        answer = asyncio.run(getattr(getattr(MemoryStorage(tables), store), method)(*args, **kwargs))
        if tables != before:
            file.write(tables)
        return answer


async def finished(work: Callable[[], T]) -> T:
    """The answer of work in a thread. Whoever is cancelled hears of it once the work is over, for nothing can take it back."""
    thread, cancelled = asyncio.ensure_future(asyncio.to_thread(work)), False
    while not thread.done():
        try:
            await asyncio.wait([thread])
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        thread.exception()  # nobody is left to hear it
        raise asyncio.CancelledError
    return thread.result()


@attrs.frozen
class FileStore:
    """Any of the stores: all their methods are one call."""

    _storage: FileStorage
    _name: str

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        return partial(self._storage.call, self._name, method)


class FileStorage:
    def __init__(self, path: Path) -> None:
        self._file = OneFile(path)
        self._closed = False
        self.users: UserStore = self._store("users")
        self.sessions: WebSessionStore = self._store("sessions")
        self.machines: MachineStore = self._store("machines")
        self.navigation: NavigationStore = self._store("navigation")
        self.channels: ChannelStore = self._store("channels")
        self.agents: AgentStore = self._store("agents")
        self.images: ImageStore = self._store("images")
        self.collaboration: CollaborationStore = self._store("collaboration")
        self.jobs: JobStore = self._store("jobs")
        self.research: ResearchStore = self._store("research")
        self.leases: LeaseStore = self._store("leases")

    def _store(self, name: str) -> Any:
        return FileStore(self, name)

    async def call(self, store: str, method: str, *args: Any, **kwargs: Any) -> Any:
        if self._closed:
            raise StorageUnavailable("closed")
        return await finished(partial(called, self._file, store, method, *args, **kwargs))

    async def health(self) -> None:
        await self.call("users", "get", "nobody")

    async def close(self) -> None:
        self._closed = True


@attrs.frozen
class FileDatabase:
    path: Path

    async def connect(self) -> FileStorage:
        return FileStorage(self.path)


@attrs.frozen
class Files:
    name: str = "one file"

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[FileDatabase]:
        with tempfile.TemporaryDirectory() as folder:
            yield FileDatabase(Path(folder) / "chopin")


@contextmanager
def open_adapter() -> Iterator[Databases]:
    yield Files()
