"""Writing what :mod:`chopin_core.engines.wire` reads."""

from __future__ import annotations

from collections.abc import Iterable

from chopin_core.engines.wire import DELETED, HAS_LEFT, HAS_RIGHT, ROOT_NAME, SKIP, STRING, Id, Position, Run, Update


def write_update(update: Update) -> bytes:
    """Clients in descending order, as Yjs writes them; a gap between runs becomes a skip."""
    out = bytearray(write_uint(sum(bool(runs) for runs in update.runs.values())))
    for client in sorted(update.runs, reverse=True):
        if update.runs[client]:
            _write_runs(out, client, update.runs[client])
    out += write_uint(len(update.deleted))
    for client in sorted(update.deleted, reverse=True):
        ranges = update.deleted[client]
        out += write_uint(client) + write_uint(len(ranges))
        for start, stop in ranges:
            out += write_uint(start) + write_uint(stop - start)
    return bytes(out)


def _write_runs(out: bytearray, client: int, runs: list[Run]) -> None:
    body = bytearray()
    count = len(runs)
    clock = runs[0].clock
    for run in runs:
        if run.clock > clock:
            body.append(SKIP)
            body += write_uint(run.clock - clock)
            count += 1
        _write_run(body, run)
        clock = run.end
    out += write_uint(count) + write_uint(client) + write_uint(runs[0].clock) + body


def _write_run(out: bytearray, run: Run) -> None:
    kind = DELETED if run.text is None else STRING
    out.append(kind | (HAS_LEFT if run.left else 0) | (HAS_RIGHT if run.right else 0))
    for neighbour in (run.left, run.right):
        if neighbour is not None:
            out += _id(neighbour)
    if run.left is None and run.right is None:
        out.append(1)
        out += _octets(ROOT_NAME)
    out += write_uint(run.length) if run.text is None else _octets(run.text.encode())


def write_vector(clocks: Iterable[tuple[int, int]]) -> bytes:
    pairs = [write_uint(client) + write_uint(clock) for client, clock in clocks]
    return write_uint(len(pairs)) + b"".join(pairs)


def write_position(position: Position) -> bytes:
    place = b"\x01" + _octets(ROOT_NAME) if position.beside is None else b"\x00" + _id(position.beside)
    return place + (b"\x41" if position.before else b"\x00")


def write_uint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _octets(value: bytes) -> bytes:
    return write_uint(len(value)) + value


def _id(character: Id) -> bytes:
    return write_uint(character.client) + write_uint(character.clock)
