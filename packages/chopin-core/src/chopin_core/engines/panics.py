"""A panic of a Rust library as the ordinary refusal it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chopin_core.errors import UpdateMalformed


@contextmanager
def refused() -> Iterator[None]:
    """
    Within, a panic and an unreadable update are ``UpdateMalformed``.

    Panics derive from BaseException, beside cancellation and interrupts. These are no answer to an update and pass.
    """
    try:
        yield
    except ValueError as error:
        raise UpdateMalformed() from error
    except BaseException as fault:
        # Each extension module has a class of its own for this, and none of them exports it.
        if type(fault).__module__ == "pyo3_runtime" and type(fault).__name__ == "PanicException":
            raise UpdateMalformed() from fault
        raise
