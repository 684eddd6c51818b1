"""Looking for inputs that make the engines and the room do something that no input before them did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from random import Random
from typing import Final

from .scene import Scene, with_a_decision, written_together
from .updates import Input, inputs
from .verdicts import Bench, Judged

LARGEST_KEPT = 1_200
"""Larger inputs are left to the generators: a corpus is to be read, and to be cloned quickly."""

SCENES: Final[Mapping[str, Callable[[], Scene]]] = {
    "plain": lambda: written_together(Random(1)),
    "with a decision": lambda: with_a_decision(Random(2)),
}
"""What the corpus is judged on. They follow from their seeds, so the corpus need not hold them."""

Found = tuple[str, Input, Judged]
"""The scene's name, the input, and what became of it."""


def searched(tries: int, seed: int, progress: Callable[[int], None] = lambda _: None) -> Iterator[Found]:
    """All that was tried and is small enough, as it comes."""
    random = Random(seed)
    scenes = {name: make() for name, make in SCENES.items()}
    benches = {name: Bench(scene) for name, scene in scenes.items()}
    sources = {name: inputs(partial(scenes.__getitem__, name), random) for name in scenes}
    for number in range(tries):
        name = list(scenes)[number % len(scenes)]
        tried = next(sources[name])
        judged = benches[name].judge(tried.data, traced=True)
        progress(number + 1)
        if len(tried.data) <= LARGEST_KEPT:
            yield name, tried, judged


def most_diverse(found: Iterator[Found], count: int, scenes: Mapping[str, Scene]) -> list[Found]:
    """
    The smallest input of every signature first, then the second smallest, and so on, until there are enough; rare signatures
    come before common ones.
    """
    by_signature: defaultdict[object, dict[bytes, Found]] = defaultdict(dict)
    for name, tried, judged in found:
        by_signature[_signature(scenes[name], tried, judged)].setdefault(tried.data, (name, tried, judged))
    groups = [sorted(group.values(), key=lambda one: (len(one[1].data), one[1].data)) for group in by_signature.values()]
    groups.sort(key=lambda group: (len(group), group[0][1].data))
    chosen: dict[tuple[str, bytes], Found] = {}
    for rank in zip_longest(*groups):
        for one in rank:
            if one is not None and len(chosen) < count:
                chosen.setdefault((one[0], one[1].data), one)
    return list(chosen.values())


def _signature(scene: Scene, tried: Input, judged: Judged) -> object:
    """How it was made, what was said, which lines ran, how the text changed, and its order of magnitude."""
    grown = len(judged.text) - len(scene.text)
    change = (grown > 0) - (grown < 0) if grown else judged.text != scene.text
    return tried.kind, judged.verdict, judged.path, change, len(tried.data).bit_length()
