"""The contract on memory: a replica that nobody holds is gone, with all the library keeps of it."""

from __future__ import annotations

import gc
import weakref

from chopin_core.document.splice import Splice
from chopin_core.ports.documents import DocumentEngine, SharedText

from .editing import copy, written


def test_replicas_are_freed_after_use(engine: DocumentEngine) -> None:
    alive: weakref.WeakSet[SharedText] = weakref.WeakSet()
    source = written(engine, "text " * 100)
    for _ in range(50):
        replica = copy(engine, source)
        replica.apply(source.splice([Splice(0, 0, "x")]))
        replica.splice([Splice(0, 1, "y")])
        alive.add(replica)
    del replica
    gc.collect()
    assert len(alive) == 0


def test_the_library_frees_what_a_replica_held(pycrdt: DocumentEngine) -> None:
    # y-py keeps every document it ever gave a text of; that is its own, and one more reason for pycrdt.
    source = written(pycrdt, "a long text " * 20_000)
    update, edit = source.update(), source.splice([Splice(0, 0, "x")])

    def cycles(count: int) -> int:
        for _ in range(count):
            pycrdt.load([update]).apply(edit)
        gc.collect()
        return resident()

    warm = cycles(20)
    assert cycles(100) - warm < 8 * 1024 * 1024  # a hundred that stayed would be 24 MB of text alone


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096
