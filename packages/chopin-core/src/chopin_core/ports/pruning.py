"""What a sweep asks of the collaboration store, step by step: to forget operations that nobody may repeat any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import attrs

from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId
from chopin_core.text import storable_field

LONGEST_WINDOW: Final = timedelta(days=36_500)
"""A hundred years: whoever means for ever does not prune."""


def window_field(instance: object, attribute: attrs.Attribute[timedelta], value: timedelta) -> None:
    """
    An attrs validator.

    Raises:
        InvalidField: for so long nothing can be kept.
    """
    if not timedelta(0) <= value <= LONGEST_WINDOW:
        raise InvalidField(attribute.name, f"must be between nothing and {LONGEST_WINDOW.days} days")


@attrs.frozen(kw_only=True)
class Pruning:
    """
    One short step of forgetting what operations left beside the document: their ids, and the events of their commits.

    What was kept ``older_than`` ago or earlier goes, by storage's own clock. ``limit`` is the most operations that go in the
    step, and the most channels it looks at. ``start`` is the channel to begin with, by code points; None is the first.

    Raises:
        InvalidField: ``older_than`` is negative or longer than :data:`LONGEST_WINDOW`, ``limit`` is not positive, or no
            channel could be called ``start``.
    """

    older_than: timedelta = attrs.field(validator=window_field)
    limit: int = attrs.field()
    start: ChannelId | None = attrs.field(default=None, validator=storable_field)

    @limit.validator
    def _positive(self, attribute: attrs.Attribute[int], value: int) -> None:
        if value < 1:
            raise InvalidField("limit", "must be positive")


@attrs.frozen(kw_only=True)
class Pruned:
    """How many operations went, and the channel to go on with; ``next`` is None once the last channel was looked at."""

    operations: int
    next: ChannelId | None
