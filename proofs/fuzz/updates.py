"""Every kind of update that is thrown at a document, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final

import attrs

from . import bytewise
from .contents import CONTENTS, honest
from .scene import Scene
from .structures import FORGERIES, Forge


@attrs.frozen(kw_only=True)
class Input:
    """Hostile bytes and how they were made."""

    kind: str
    data: bytes


def _spoiled(spoil: bytewise.Spoil) -> Forge:
    """Of a fresh edit mostly, which would be taken as it is; else of what the document was made of, or of a forgery."""

    def forge(scene: Scene, random: Random) -> bytes:
        chance = random.random()
        if chance < 0.6:
            data = honest(scene, random)
        elif chance < 0.85:
            data = random.choice((scene.whole, *scene.updates))
        else:
            data = random.choice(list(FORGERIES.values()))(scene, random)
        return spoil(data or b"\x00\x00", random)

    return forge


KINDS: Final[Mapping[str, Forge]] = {
    **{name: _spoiled(spoil) for name, spoil in bytewise.SPOILS.items()},
    **FORGERIES,
    **CONTENTS,
}

_SPOILED_WEIGHT = 4
"""A spoil is a family of endless members, a forgery has a handful."""


def inputs(scene: Callable[[], Scene], random: Random, kinds: Mapping[str, Forge] = KINDS) -> Iterator[Input]:
    """Without end; each made for the scene as it is when the input is asked for."""
    names = list(kinds)
    weights = [_SPOILED_WEIGHT if name in bytewise.SPOILS else 1 for name in names]
    while True:
        [kind] = random.choices(names, weights)
        yield Input(kind=kind, data=kinds[kind](scene(), random))
