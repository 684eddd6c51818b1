"""The proof of ``make fuzz`` in short form, and the corpus that it left behind."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import websockets

from chopin_storage_pg.testing import ScratchServer, open_server
from chopin_web.testing.browser import Browser
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import Server

from .fuzz import corpus
from .fuzz.aftermath import faults, in_yjs, opened
from .fuzz.campaign import Plan, campaign
from .fuzz.keeping import EPOCH, talking
from .fuzz.offenders import heard
from .fuzz.search import SCENES
from .fuzz.verdicts import KNOWN, TAKEN, Bench

SAMPLE = 20
"""Every how many-th kept update also goes over a socket."""


@pytest.fixture(scope="module")
def postgres() -> Iterator[ScratchServer]:
    with open_server() as server:
        yield server


@pytest.fixture
async def server(postgres: ScratchServer, tmp_path: Path) -> AsyncIterator[Server]:
    """Not running yet."""
    async with postgres.copied() as database:
        server = Server(tmp_path, database_url=database.url)
        yield server
        await server.kill()


def test_the_corpus_holds_two_thousand_inputs_of_every_kind_of_outcome() -> None:
    updates, frames = corpus.read(corpus.UPDATES), corpus.read(corpus.FRAMES)
    assert len(updates) + len(frames) == 2_000
    reasons = {"malformed", "incomplete", "control-character", "protected-projection"}
    assert {kept.verdict for kept in updates} >= {TAKEN, KNOWN, *reasons}
    assert {kept.verdict for kept in frames} >= {"dropped", "error", "answered"}


# cases.md 35, 36, 37 and 39
def test_every_kept_update_meets_its_verdict_and_a_refusal_leaves_nothing() -> None:
    scenes = {name: make() for name, make in SCENES.items()}
    benches = {name: Bench(scene) for name, scene in scenes.items()}
    texts: dict[str, str] = {}
    jobs: dict[str, list[bytes]] = {}
    changed = []
    for number, kept in enumerate(corpus.read(corpus.UPDATES)):
        judged = benches[kept.scene].judge(kept.data)  # raises when something is left behind
        if judged.verdict != kept.verdict:
            changed.append((kept.kind, kept.verdict, judged.verdict, kept.data.hex()))
        if judged.verdict == TAKEN:
            texts[str(number)] = judged.text
            jobs[str(number)] = [scenes[kept.scene].whole, judged.update]
    assert not changed
    assert in_yjs(jobs) == {number: (text, True) for number, text in texts.items()}


async def test_kept_updates_are_refused_over_the_socket_and_who_types_beside_them_notices_nothing(server: Server) -> None:
    refused = [one for one in corpus.read(corpus.UPDATES) if one.scene == "plain" and one.verdict not in (TAKEN, KNOWN)]
    scene = SCENES["plain"]()
    async with (
        server,
        signed_in(server.origin, server.token, "ada") as ada,
        signed_in(server.origin, server.token, "eve") as eve,
    ):
        channel = await ada.create_document("Notes")
        async with ada.browser(channel) as honest:
            honest.replica.apply(scene.whole)
            await honest.submit(scene.whole)
            await honest.settled()
            codes: Counter[int | None] = Counter()
            waiting = refused[::SAMPLE]
            while waiting:
                async with eve.browser(channel) as offender:
                    try:
                        while waiting:
                            await _refused(offender, waiting.pop().data)
                            await honest.type_in("honest ")
                            await honest.settled()
                    except websockets.ConnectionClosed as closed:
                        codes[closed.rcvd.code if closed.rcvd else None] += 1
            assert codes == {4003: len(refused[::SAMPLE]) // 3}
            assert {frame["kind"] for frame in honest.frames} == {"session:hello", "plan:open", "plan:ack", "session:presence"}
            text = honest.replica.text
        await server.stop()
        assert not faults(server.said())
        await server.start()
        async with signed_in(server.origin, server.token, "ada") as again:
            copy = await opened(again, channel)
    assert copy.text == text
    assert in_yjs({channel: [copy.update]}) == {channel: (text, True)}


async def _refused(offender: Browser, update: bytes) -> None:
    """Send it, and hear that it was refused: by a reset, or by the end of the connection."""
    await offender.submit(base64.b64encode(update).decode())
    async with asyncio.timeout(10):
        while (frame := await heard(offender))["kind"] != "plan:reset":
            assert frame["kind"] not in ("plan:ack", "session:error")
    await offender.open()


async def test_every_kept_message_is_answered_as_before(server: Server) -> None:
    changed = []
    async with server, talking(server) as talker:
        for kept in corpus.read(corpus.FRAMES):
            verdict = await talker.verdict(kept.kind, kept.data.decode())
            if verdict != kept.verdict:
                changed.append((kept.kind, kept.verdict, verdict, kept.data))
        await server.stop()
        assert not changed
        assert not faults(server.said())
    assert EPOCH not in server.said()


# cases.md 35, 38, 41 and 42
async def test_hostile_bytes_cost_nobody_anything_but_their_sender(server: Server) -> None:
    plan = Plan(
        updates=200,
        frames=200,
        garbage=1,
        floods=1,
        seed=3,
        updates_per_second=60,
        frames_per_second=60,
        attacked=2,
        quiet=1,
        quiet_seconds=1.0,
        put_away=0.0,
    )
    report = await campaign(server, plan, lambda line: None)
    assert report.violations == []
    assert report.damage.updates.sent >= plan.updates
    assert report.damage.frames.sent == plan.frames
    assert report.damage.updates.closed["4003"] > 0 < report.damage.updates.closed["4429"]
