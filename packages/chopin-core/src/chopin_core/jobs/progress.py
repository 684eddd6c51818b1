"""What a worker says of how far it is."""

from __future__ import annotations

import enum
import re
from datetime import datetime
from typing import Final

import attrs

from chopin_core.counters import JobChannelRevision
from chopin_core.errors import InvalidField
from chopin_core.instants import aware_field
from chopin_core.text import storable, storable_field

KEPT: Final = 32
"""Entries of one job, the latest."""
_LABEL_LENGTH: Final = 160
_CODE: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")


class ProgressState(enum.Enum):
    STARTED = "started"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"


def _code_field(instance: object, attribute: attrs.Attribute[str], value: str) -> None:
    if not _CODE.fullmatch(value):
        raise InvalidField(attribute.name, "must be a lower-case letter and up to 63 more, digits or hyphens")


def _trimmed(value: str) -> str:
    return value.strip()


@attrs.frozen(kw_only=True)
class Step:
    """
    One step as a worker reports it (storage spec §1).

    Raises:
        InvalidField: stage or reason is no code, the label is empty or longer than 160 UTF-16 units, or a reason is given
            for a step that was not interrupted, or missing for one that was.
    """

    stage: str = attrs.field(validator=_code_field)
    label: str = attrs.field(converter=_trimmed, validator=storable_field)
    state: ProgressState
    reason: str | None = attrs.field(default=None, validator=attrs.validators.optional(_code_field))

    @label.validator
    def _bounded(self, attribute: attrs.Attribute[str], value: str) -> None:
        if not 1 <= len(storable(value, "label").encode("utf-16-le")) // 2 <= _LABEL_LENGTH:
            raise InvalidField("label", f"must have 1 to {_LABEL_LENGTH} UTF-16 units")

    @reason.validator
    def _fits(self, attribute: attrs.Attribute[str | None], value: str | None) -> None:
        if (value is not None) is not (self.state is ProgressState.INTERRUPTED):
            raise InvalidField("reason", "goes with an interrupted step, and with no other")


@attrs.frozen(kw_only=True)
class Progress:
    """A step as it is kept: with the job's revision and attempt at that time."""

    revision: JobChannelRevision
    attempt: int
    step: Step
    created_at: datetime = attrs.field(validator=aware_field)
