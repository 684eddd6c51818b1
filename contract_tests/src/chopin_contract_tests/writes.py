"""
Which methods of the ports write: all but those named here. A method that is added counts as one until it is named, and then
the tests of interruptions, of repeats and of unknown outcomes ask for it.
"""

from __future__ import annotations

import inspect
from typing import Final, get_type_hints

from chopin_core.ports.storage import Storage

READS: Final = frozenset(
    """
    users.get
    sessions.get
    machines.get machines.find machines.of machines.chosen machines.favourite
    navigation.sidebar navigation.first_document
    channels.get channels.resolve channels.unanswered_decisions channels.unanswered_counts channels.list channels.scan
    agents.read
    images.get images.channels
    collaboration.load collaboration.operation
    jobs.list jobs.get
    research.get research.find research.find_published research.find_turn research.list research.list_repository
    research.reference_recovery research.terminal_recovery
    leases.holder
    """.split()
)


def methods() -> frozenset[str]:
    """``store.method`` for each method of each store that a storage has."""
    stores = {
        name: get_type_hints(found.fget)["return"] for name, found in vars(Storage).items() if isinstance(found, property)
    }
    return frozenset(
        f"{name}.{method}"
        for name, store in stores.items()
        for method, found in vars(store).items()
        if inspect.iscoroutinefunction(found) and not method.startswith("_")
    )


def writes() -> frozenset[str]:
    return methods() - READS
