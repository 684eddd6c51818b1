"""The inputs that are kept: one line of JSON each, with what became of it, so that a changed verdict shows in a diff."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

FOLDER = Path(__file__).parent / "corpus"
UPDATES = FOLDER / "updates.jsonl"
FRAMES = FOLDER / "frames.jsonl"


@attrs.frozen(kw_only=True)
class Kept:
    """For an update ``scene`` names the document and ``verdict`` what the room said; for a frame, what was answered."""

    kind: str
    verdict: str
    data: bytes
    scene: str = ""


def read(path: Path) -> Sequence[Kept]:
    with path.open(encoding="ascii") as lines:
        return tuple(_kept(json.loads(line)) for line in lines)


def write(path: Path, kept: Iterable[Kept]) -> int:
    """Sorted, so that the same inputs make the same file; how many there are."""
    lines = sorted(json.dumps(_fields(one), sort_keys=True) for one in kept)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return len(lines)


def _fields(kept: Kept) -> dict[str, str]:
    fields = {"data": base64.b64encode(kept.data).decode(), "kind": kept.kind, "verdict": kept.verdict}
    return fields | ({"scene": kept.scene} if kept.scene else {})


def _kept(fields: dict[str, str]) -> Kept:
    return Kept(**{**fields, "data": base64.b64decode(fields["data"])})  # type: ignore[arg-type]  # because of one bytes among str
