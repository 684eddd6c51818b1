"""Texts, edits and whole histories for the tests of engines."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import strategies as st

from chopin_core.document.splice import Splice, spliced
from chopin_core.ports.documents import DocumentEngine, SharedText

PIECES = (
    "a b\n# Title\n",
    "word ",
    "\n",
    "é",
    "e\u0301",
    "中文",
    "😀",
    "👨\u200d👩\u200d👧",
    "🇫🇷",
    "\u200d",
    "\ufe0f",
    "\ufffd",
)
"""What counts differently in bytes, UTF-16 units and code points, and what is drawn as one from several."""

texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@st.composite
def edits(draw: st.DrawFn, text: str, most: int = 4) -> list[Splice]:
    """Splices that fit to the text, each to what the ones before leave."""
    made: list[Splice] = []
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 5)))
        made.append(Splice(start, end, draw(texts)))
        text = spliced(text, made[-1:])
    return made


@contextmanager
def the_same_clients_each_time() -> Iterator[None]:
    """
    Replicas made inside have the same client ids in every run.

    What is typed at one place at once comes in the order of the client ids, and an example must come to the same again.
    """
    random = Random(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "randbits", random.getrandbits)
        yield


def written(engine: DocumentEngine, text: str) -> SharedText:
    replica = engine.new()
    replica.splice([Splice(0, 0, text)])
    return replica


def copy(engine: DocumentEngine, replica: SharedText) -> SharedText:
    return engine.load([replica.update()])


def catch_up(replica: SharedText, other: SharedText) -> None:
    replica.apply(other.diff(replica.state_vector()))


def history(engine: DocumentEngine, random: Random, edits: int = 25) -> tuple[SharedText, list[bytes]]:
    """A document that three replicas wrote together, and the updates that passed between them in causal order."""
    replicas = [engine.new() for _ in range(3)]
    updates: list[bytes] = []
    for _ in range(edits):
        replica = random.choice(replicas)
        start = random.randrange(len(replica.text) + 1)
        end = min(len(replica.text), start + random.choice((0, 0, 1, 3)))
        updates.append(replica.splice([Splice(start, end, random.choice(PIECES))]))
        if random.random() < 0.4:
            catch_up(random.choice(replicas), replica)
    for other in replicas[1:]:
        catch_up(replicas[0], other)
    return replicas[0], updates
