"""Updates that are well encoded and yet say what no honest client would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from chopin_core.engines.encoding import write_uint, write_update
from chopin_core.engines.wire import HAS_LEFT, HAS_RIGHT, LARGEST_CLOCK, SKIP, Id, Run, Update

from .scene import PIECES, Scene

Forge = Callable[[Scene, Random], bytes]

GC = 0
NO_RANGES = b"\x00"


def a_client(scene: Scene, random: Random) -> tuple[int, int]:
    """One that wrote in the document, and how much; somebody invented while it is empty."""
    ends = sorted((client, runs[-1].end) for client, runs in scene.read.runs.items())
    return random.choice(ends or [(4_242, 3)])


def somewhere(scene: Scene, random: Random) -> Id:
    client, end = a_client(scene, random)
    return Id(client, random.randrange(end))


def only(client: int, *runs: Run) -> bytes:
    return write_update(Update({client: list(runs)}, {}))


def gap(scene: Scene, random: Random) -> bytes:
    """Later edits of a client whose earlier ones were lost."""
    client, end = a_client(scene, random)
    return only(client, Run(end + random.randrange(1, 50), 4, somewhere(scene, random), None, "late"))


def unknown_neighbour(scene: Scene, random: Random) -> bytes:
    client, end = a_client(scene, random)
    far = Id(random.choice((client, random.randrange(2**32))), end + random.randrange(1, 9))
    left, right = random.choice(((far, None), (None, far), (far, far)))
    return only(random.randrange(2**32), Run(0, 1, left, right, "x"))


def between_itself(scene: Scene, random: Random) -> bytes:
    """Between a character and itself, where replicas would put it at different places."""
    beside = somewhere(scene, random)
    return only(random.randrange(2**32), Run(0, 1, beside, beside, "x"))


def crossed_neighbours(scene: Scene, random: Random) -> bytes:
    """Behind a character and before one that lies before it."""
    client, end = a_client(scene, random)
    right, left = sorted(random.randrange(end) for _ in range(2))
    return only(random.randrange(2**32), Run(0, 1, Id(client, left), Id(client, right), "x"))


def circle(scene: Scene, random: Random) -> bytes:
    one, two = random.sample(range(1, 2**32), 2)
    return write_update(Update({one: [Run(0, 1, Id(two, 0), None, "a")], two: [Run(0, 1, Id(one, 0), None, "b")]}, {}))


def beside_itself(scene: Scene, random: Random) -> bytes:
    client = random.randrange(2**32)
    me = Id(client, random.randrange(3))
    left, right = random.choice(((me, None), (None, me)))
    return only(client, Run(0, 2, left, right, "me"))


def other_history(scene: Scene, random: Random) -> bytes:
    """The same client id, and the same clocks, with other characters."""
    client, end = a_client(scene, random)
    start = random.randrange(end)
    text = random.choice(("Other longer", "# Title\n", "z" * (end - start), "z" * (end - start) + "and on"))
    return only(client, Run(start, len(text), somewhere(scene, random) if start == 0 else Id(client, start - 1), None, text))


def known_again(scene: Scene, random: Random) -> bytes:
    return random.choice((scene.whole, *scene.updates))


def clients_ascending(scene: Scene, random: Random) -> bytes:
    """Two clients in the order that Yjs does not write them in, the first typing beside the second."""
    one, two = sorted(random.sample(range(1, 2**32), 2))
    first = only(one, Run(0, 1, Id(two, 0), None, "a"))
    second = only(two, Run(0, 1, somewhere(scene, random), None, "b"))
    return b"\x02" + first[1:-1] + second[1:-1] + NO_RANGES


def skip(scene: Scene, random: Random) -> bytes:
    """Clocks that are passed over, at the start or in the middle."""
    client, end = a_client(scene, random)
    length = write_uint(random.choice((0, 1, 7, end, LARGEST_CLOCK, 2**40)))
    tail = bytes([HAS_LEFT | 4]) + write_uint(client) + write_uint(0) + b"\x01x"
    author, clock = random.choice(((random.randrange(2**32), 0), (client, end), (client, 0)))
    head = b"\x01" + random.choice((b"\x02", b"\x01")) + write_uint(author) + write_uint(clock)
    return head + bytes([SKIP]) + length + tail + NO_RANGES


def collected(scene: Scene, random: Random) -> bytes:
    """Characters that were deleted and whose place is forgotten."""
    client, end = a_client(scene, random)
    author, clock = random.choice(((random.randrange(2**32), 0), (client, end), (client, 0)))
    length = write_uint(random.choice((0, 1, 7, LARGEST_CLOCK, 2**40)))
    return b"\x01\x01" + write_uint(author) + write_uint(clock) + bytes([GC]) + length + NO_RANGES


def tombstone(scene: Scene, random: Random) -> bytes:
    """Characters of which only the number is told."""
    length = random.choice((1, 3, 1_000_000, LARGEST_CLOCK - 1))
    return only(random.randrange(2**32), Run(0, length, somewhere(scene, random), None, None))


def many_tombstones(scene: Scene, random: Random) -> bytes:
    client = random.randrange(2**32)
    beside = somewhere(scene, random)
    return only(client, *(Run(clock, 1, beside, None, None) for clock in range(random.randrange(10, 200))))


def strange_content(scene: Scene, random: Random) -> bytes:
    """A struct of any kind that Yjs knows or not: JSON, binary, embed, format, type, any, document, move, …"""
    kind = random.choice([*range(16), 31])
    beside = write_uint(somewhere(scene, random).client) + write_uint(0)
    body = random.choice((b"\x00", b"\x01\x01x", b"\x04bold\x04true", b"\x01\x77\x01x", b"\x02{}", random.randbytes(6)))
    flags = random.choice((HAS_LEFT, HAS_RIGHT, 0x20 | HAS_LEFT, 0))
    place = beside if flags else b"\x01\x06source"
    key = b"\x03key" if flags & 0x20 else b""
    return b"\x01\x01" + write_uint(random.randrange(2**32)) + b"\x00" + bytes([kind | flags]) + place + key + body + NO_RANGES


def nested_parent(scene: Scene, random: Random) -> bytes:
    parent = somewhere(scene, random)
    return (
        b"\x01\x01" + write_uint(random.randrange(2**32)) + b"\x00\x04\x00"
        + write_uint(parent.client) + write_uint(parent.clock) + b"\x01x" + NO_RANGES
    )  # fmt: skip


def deletions_beyond(scene: Scene, random: Random) -> bytes:
    client, end = a_client(scene, random)
    start = random.choice((0, end - 1, end, end + 1, LARGEST_CLOCK - 1))
    length = random.choice((end + 5, LARGEST_CLOCK, 2**40))
    author = random.choice((client, random.randrange(2**32)))
    return b"\x00\x01" + write_uint(author) + b"\x01" + write_uint(start) + write_uint(length)


def deletion_of_everything(scene: Scene, random: Random) -> bytes:
    return write_update(Update({}, {client: [(0, runs[-1].end)] for client, runs in scene.read.runs.items()}))


def cut_character(scene: Scene, random: Random) -> bytes:
    """Deletions and insertions in the middle of a pair of UTF-16 units, when there is one."""
    client, end = a_client(scene, random)
    start = random.randrange(end)
    if random.random() < 0.5:
        return write_update(Update({}, {client: [(start, start + 1)]}))
    return only(random.randrange(2**32), Run(0, 1, Id(client, start), None, random.choice(PIECES)[0]))


def strange_client(scene: Scene, random: Random) -> bytes:
    client = random.choice((0, 2**31, 2**32, 2**53 - 1, 2**53, 2**60, 2**64 - 1, 2**70))
    return only(client, Run(0, 1, somewhere(scene, random), None, "x"))


def last_clock(scene: Scene, random: Random) -> bytes:
    client = random.randrange(2**32)
    deleted = Run(0, LARGEST_CLOCK - random.randrange(3), somewhere(scene, random), None, None)
    return only(client, deleted, Run(deleted.end, 4, Id(client, deleted.end - 1), None, "over"))


def many_clients(scene: Scene, random: Random) -> bytes:
    beside = somewhere(scene, random)
    crowd = random.sample(range(2**32), random.randrange(2, 60))
    return write_update(Update({client: [Run(0, 1, beside, None, "m")] for client in crowd}, {}))


def client_twice(scene: Scene, random: Random) -> bytes:
    client = random.randrange(2**32)
    once = only(client, Run(0, 1, somewhere(scene, random), None, "x"))[1:-1]
    return b"\x02" + once + once + NO_RANGES


FORGERIES: Final[Mapping[str, Forge]] = {
    forge.__name__.replace("_", " "): forge
    for forge in (
        gap,
        unknown_neighbour,
        between_itself,
        crossed_neighbours,
        circle,
        beside_itself,
        other_history,
        known_again,
        clients_ascending,
        skip,
        collected,
        tombstone,
        many_tombstones,
        strange_content,
        nested_parent,
        deletions_beyond,
        deletion_of_everything,
        cut_character,
        strange_client,
        last_clock,
        many_clients,
        client_twice,
    )
}
