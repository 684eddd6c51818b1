"""Points in time as Chopin stores them: always aware of their offset, so that no adapter has to guess one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs

from chopin_core.errors import InvalidField


def aware_field(instance: Any, attribute: attrs.Attribute[Any], value: datetime) -> None:
    """
    An attrs validator.

    Raises:
        InvalidField: the instant does not say its offset from UTC.
    """
    if value.utcoffset() is None:
        raise InvalidField(attribute.name, "must be an aware instant")
