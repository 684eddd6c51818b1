"""No value that a port is given holds an instant of which nobody knows the offset."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args, get_type_hints

import attrs

from chopin_core.instants import aware_field
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

TOLD_BY_STORAGE = {Lease}
"""Given back as they were granted, and compared by other fields."""


def given() -> set[type]:
    """Every class of ours that a method of a port is given, whole or as a part."""
    found: set[type] = set()
    for store in vars(Storage).values():
        if isinstance(store, property):
            port = get_type_hints(store.fget)["return"]
            for method in filter(inspect.isfunction, vars(port).values()):
                for name, kind in get_type_hints(method).items():
                    if name != "return":
                        found |= set(parts(kind))
    return found - TOLD_BY_STORAGE


def parts(kind: Any) -> Iterator[type]:
    for inner in get_args(kind):
        yield from parts(inner)
    if isinstance(kind, type) and attrs.has(kind):
        yield kind
        for field in get_type_hints(kind).values():
            yield from parts(field)


def test_every_instant_that_a_port_is_given_must_say_its_offset() -> None:
    checked = 0
    for kind in given():
        for name, field in attrs.fields_dict(kind).items():
            if get_type_hints(kind)[name] is datetime:
                checked += 1
                assert field.validator is aware_field, f"{kind.__name__}.{name}"
    assert checked > 15
