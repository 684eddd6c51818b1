"""
What the driver reports, in our words. Nowhere else is an error of SQLAlchemy or psycopg caught.

==========================================  =====================================================
the driver's                                ours
==========================================  =====================================================
a constraint that the caller named          the error given for it
40001, 40P01 in a commit                    ``CommitRejected``
the connection is gone                      ``ConnectionLost``, which is a ``StorageUnavailable``
the same, once it was asked to keep         ``OutcomeUnknown``
anything else of the driver                 ``StorageUnavailable``
anything of somebody else                   a crash: it passes unchanged
==========================================  =====================================================

The driver's texts hold statements, values and addresses. They stay here: ours carry an SQLSTATE or a class name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import attrs
import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from chopin_core.errors import ChopinError, CommitRejected, OutcomeUnknown, StorageUnavailable

_ROLLED_BACK: Final = frozenset({"40001", "40P01"})
_ENDED: Final = ("08", "57P01", "57P02", "57P03", "57P04", "57P05", "25P03")
"""The server ended the session, or a transaction that sat idle, and an answer may have been lost with it."""


class ConnectionLost(StorageUnavailable):
    """The connection went away. What it was asked last may have been done all the same."""


@contextmanager
def translated(constraints: Mapping[str, ChopinError] | None = None, *, committing: bool = False) -> Iterator[None]:
    """Errors of the driver inside come out as ours; ``constraints`` says what the breach of a named one means."""
    try:
        yield
    except (DBAPIError, PoolTimeout, psycopg.Error, UnicodeEncodeError) as fault:  # the last for a lone surrogate
        raise _ours(fault.orig if isinstance(fault, DBAPIError) else fault, constraints or {}, committing) from None


@attrs.define
class Keeping:
    """How far a write has come: whether there is nothing left but to ask the server to keep it."""

    asked: bool = False


@contextmanager
def keeping(constraints: Mapping[str, ChopinError] | None = None) -> Iterator[Keeping]:
    """:func:`translated`, and a connection lost once ``asked`` is set leaves nobody to say what became of the write."""
    write = Keeping()
    try:
        with translated(constraints):
            yield write
    except ConnectionLost as lost:
        if write.asked:
            raise OutcomeUnknown(lost.cause) from None
        raise


def _ours(fault: BaseException | None, constraints: Mapping[str, ChopinError], committing: bool) -> ChopinError:
    if not isinstance(fault, psycopg.Error):
        return StorageUnavailable(type(fault).__name__)
    state = fault.sqlstate
    if state is None:
        cause = type(fault).__name__
        gone = isinstance(fault, psycopg.OperationalError | psycopg.InterfaceError)
        return ConnectionLost(cause) if gone else StorageUnavailable(cause)
    if state.startswith(_ENDED):
        return ConnectionLost(state)
    if committing and state in _ROLLED_BACK:
        return CommitRejected()
    return constraints.get(fault.diag.constraint_name or "") or StorageUnavailable(state)
