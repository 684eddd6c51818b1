"""Who is in the room and where their cursors are: kept in memory, gone with the connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from chopin_core.errors import UpdateMalformed
from chopin_core.room.member import Member

LARGEST_AWARENESS = 16 * 1024
LARGEST_CLIENT_ID = 2**53 - 1


@attrs.frozen(kw_only=True)
class CursorState:
    """One client's awareness state: its Yjs client id, its clock, and its JSON text (``null`` when it is gone)."""

    client_id: int
    clock: int
    json: bytes

    @property
    def gone(self) -> CursorState:
        return CursorState(client_id=self.client_id, clock=self.clock + 1, json=b"null")


def decode_awareness(update: bytes) -> CursorState:
    """
    The one state in an awareness update of y-protocols (count, then client id, clock and JSON text of each).

    Raises:
        UpdateMalformed: it holds none or several (a connection speaks for itself alone), or is too large or unreadable.
    """
    if len(update) > LARGEST_AWARENESS:
        raise UpdateMalformed()
    rest = iter(update)
    count, client_id, clock, length = [_var_uint(rest) for _ in range(4)]
    text = bytes(rest)
    if count != 1 or len(text) != length or client_id > LARGEST_CLIENT_ID or clock >= LARGEST_CLIENT_ID:
        raise UpdateMalformed()
    return CursorState(client_id=client_id, clock=clock, json=text)


def encode_awareness(states: Iterable[CursorState]) -> bytes:
    """An awareness update that holds all these states."""
    kept = list(states)
    parts = [_var_bytes(len(kept))]
    for state in kept:
        parts += [_var_bytes(state.client_id), _var_bytes(state.clock), _var_bytes(len(state.json)), state.json]
    return b"".join(parts)


def _var_uint(rest: Iterator[int]) -> int:
    value = 0
    for shift in range(0, 63, 7):
        byte = next(rest, None)
        if byte is None:
            break
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise UpdateMalformed()


def _var_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Presence:
    """The members in the order of their coming, and the one cursor that each may show."""

    def __init__(self) -> None:
        self._members: dict[Member, CursorState | None] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(tuple(self._members))

    def __contains__(self, member: Member) -> bool:
        return member in self._members

    def join(self, member: Member) -> None:
        self._members[member] = None

    def leave(self, member: Member) -> bytes | None:
        """Forget the member; the update that takes its cursor away elsewhere, if it showed one."""
        return _removal(self._members.pop(member, None))

    def hide(self, member: Member) -> bytes | None:
        """Forget the member's cursor alone; the update that takes it away elsewhere, if it showed one."""
        shown = self._members.get(member)
        if shown is not None:
            self._members[member] = None
        return _removal(shown)

    def move(self, member: Member, update: bytes) -> bytes | None:
        """
        Remember a member's cursor and answer what the others need to know; None when it claims another member's client id.

        A connection may change its own id, since after a reset the browser starts over with a new document; the cursor under
        the former id goes.

        Raises:
            UpdateMalformed: see :func:`decode_awareness`.
        """
        state = decode_awareness(update)
        if self.shower(state.client_id) not in (None, member):
            return None
        before = self._members[member]
        self._members[member] = None if state.json == b"null" else state
        former = [] if before is None or before.client_id == state.client_id else [before.gone]
        return encode_awareness([*former, state])

    def shower(self, client_id: int) -> Member | None:
        """Who shows a cursor under that client id."""
        return next((member for member, shown in self._members.items() if shown and shown.client_id == client_id), None)

    def forget_cursors(self) -> None:
        """After the document was rebuilt no cursor points anywhere."""
        self._members = dict.fromkeys(self._members)

    def cursors(self) -> bytes | None:
        """Everybody's cursor for somebody who has just come, or None when nobody shows one."""
        shown = [state for state in self._members.values() if state is not None]
        return encode_awareness(shown) if shown else None


def _removal(state: CursorState | None) -> bytes | None:
    return None if state is None else encode_awareness([state.gone])
