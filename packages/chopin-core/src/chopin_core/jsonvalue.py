"""JSON as Chopin stores it: text that gives back exactly the value it was made from, NUL and lone surrogates included."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from chopin_core.errors import CorruptRecord, InvalidField

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None


def encode(value: Json) -> str:
    """
    The value as ASCII text; escapes keep what UTF-8 or ``jsonb`` would refuse (storage spec §0.5).

    Raises:
        InvalidField: it holds NaN, an infinity, or something that is not JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidField("json", "is not a JSON value") from error


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def _plain(value: object) -> object:
    """Mappings and sequences that the library does not know by their own classes."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    raise TypeError


def decode(text: str, where: str) -> Json:
    """
    The value of a stored text.

    Raises:
        CorruptRecord: the text is no JSON, or holds NaN or an infinity; it names ``where``.
    """

    def refuse(constant: str) -> Json:
        raise ValueError(constant)

    try:
        value: Json = json.loads(text, parse_constant=refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise CorruptRecord(where, "is not JSON") from error
    return value
