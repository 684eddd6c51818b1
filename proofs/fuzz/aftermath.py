"""What must be true when the attack is over: of the process, its log, its memory, and of every document."""

from __future__ import annotations

import base64
import re
import runpy
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_web.testing.person import Person

NODE = Path(__file__).parents[2] / "packages" / "chopin-core" / "tests" / "node"

FAULTS = ("[error", '"level": "error"', "Traceback", "Task exception", "ERROR ", "CRITICAL ")
"""What a healthy server never logs."""


@attrs.frozen(kw_only=True)
class Copy:
    """A document as somebody who has just come is given it."""

    text: str
    update: bytes
    members: tuple[str, ...]
    cursors: bool


async def opened(person: Person, channel: str) -> Copy:
    async with person.browser(channel) as browser:
        hello = browser.frames[0]
        reply = next(frame for frame in browser.frames if frame["kind"] == "plan:open")
        return Copy(
            text=browser.replica.text,
            update=base64.b64decode(reply["update"]),
            members=tuple(member["handle"] for member in hello["members"]),
            cursors="awareness" in reply,
        )


def resident(pid: int) -> int:
    """Kibibytes of memory that the process holds now."""
    found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def faults(log: str) -> Sequence[str]:
    """Lines of a log that should not be there, each once with how often."""
    lines = [line for line in log.splitlines() if any(fault in line for fault in FAULTS)]
    without_times = Counter(re.sub(r"\S+Z |(client|channel|login|timestamp)\W+\S+|0x\w+", "", line) for line in lines)
    return [f"{count} x {line}" for line, count in without_times.items()]


def reasons(log: str) -> Mapping[str, int]:
    """Why updates and frames were refused, as the server logged it."""
    return Counter(re.findall(r"reason\W+([a-z-]+)", "\n".join(line for line in log.splitlines() if "update refused" in line)))


def in_yjs(updates: Mapping[str, Sequence[bytes]]) -> Mapping[str, tuple[str, bool]]:
    """The text that Yjs reads from each list of updates, and whether nothing was left pending."""
    node = runpy.run_path(str(NODE / "run.py"))["node"]
    jobs = [{"apply": [base64.b64encode(update).decode() for update in each]} for each in updates.values()]
    answers: list[dict[str, Any]] = node("yjs.mjs", jobs)
    return {name: (answer["text"], answer["whole"]) for name, answer in zip(updates, answers, strict=True)}


def disagreements(expected: Mapping[str, str], copies: Mapping[str, Copy], when: str) -> Sequence[str]:
    """Documents that are not what those who wrote them have; each is also opened in Yjs and loaded afresh."""
    yjs = in_yjs({channel: [copy.update] for channel, copy in copies.items()})
    wrong = []
    for channel, copy in copies.items():
        if copy.text != expected[channel]:
            wrong.append(f"{channel}: {when}, the text is not what its people have")
        if yjs[channel] != (copy.text, True):
            wrong.append(f"{channel}: {when}, Yjs reads another text")
        again = PycrdtEngine().load([copy.update])
        if again.text != copy.text or PycrdtEngine().load([again.update()]).text != copy.text:
            wrong.append(f"{channel}: {when}, it does not come back from its own encoding")
    return wrong
