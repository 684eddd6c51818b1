"""What the measurements come to, as rows: each system's figure, and Chopin's held against the bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchmarks.peers.chopin import Chopin
from benchmarks.peers.durability import PER_SECOND, Losses
from benchmarks.peers.latency import Latency, Scene, Spread
from benchmarks.row import Row, at_most, paired


def latencies(
    taken: Mapping[Scene, Mapping[str, Sequence[Latency]]], commits: Mapping[Scene, Sequence[float]]
) -> Iterator[Row]:
    """``commits`` has the p50 of a commit that was measured after each scene."""
    for scene, systems in taken.items():
        shown = {name: [one.shown for one in some if one.shown is not None] for name, some in systems.items()}
        what = "edit → peer" if any(shown.values()) else "edit → confirmation"
        for name, some in systems.items():
            spreads = shown[name] or [one.confirmed for one in some]
            yield from _spread(f"{what}, {scene}: {name}", spreads)
        if any(shown.values()):
            yield Row(name=f"  {scene}: a durable commit by itself, p50", value=median(commits[scene]), unit="ms")
            yield _beyond_the_commit(scene, shown, commits[scene])


def durability(losses: Mapping[str, Losses], *, rounds: int) -> Iterator[Row]:
    """Chopin must lose nothing; of the others it is reported what they lose with the settings their documentation gives."""
    for name, lost in losses.items():
        ours = name == Chopin.name
        killed = f"{name} killed {rounds} × amid {PER_SECOND} edits/s"
        promise = "acknowledged as durable" if ours else "confirmed to the writer"
        yield Row(name=f"{killed}: seen by others", value=lost.shown, unit="edits")
        yield _fault(f"  {name}: of them lost", lost.shown_lost, ours)
        yield Row(name=f"{killed}: {promise}", value=lost.confirmed, unit="edits")
        yield _fault(f"  {name}: of those lost", lost.confirmed_lost, ours)
        yield _fault(f"  {name}: stored twice", lost.doubled, ours)


def _spread(name: str, runs: Sequence[Spread]) -> Iterator[Row]:
    yield Row(name=f"{name}, p50", value=median(one.p50 for one in runs), unit="ms")
    yield Row(name=f"{name}, p99", value=median(one.p99 for one in runs), unit="ms")


def _beyond_the_commit(scene: Scene, shown: Mapping[str, Sequence[Spread]], commits: Sequence[float]) -> Row:
    ours = [one.p50 - commit for one, commit in zip(shown[Chopin.name], commits, strict=True)]
    peers = {name: median(one.p50 for one in some) for name, some in shown.items() if name != Chopin.name}
    faster = min(peers, key=peers.__getitem__)
    return Row(
        name=f"  {scene}: Chopin less that commit, p50, against {faster}",
        value=median(ours),
        unit="ms",
        ratio=paired(ours, [one.p50 for one in shown[faster]]),
        bar=at_most(1.0),
    )


def _fault(name: str, edits: int, ours: bool) -> Row:
    return Row(name=name, value=edits, unit="edits", ratio=edits if ours else None, bar=at_most(0) if ours else None)
