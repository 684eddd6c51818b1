"""
A write that loses its connection while the server is asked to keep it: nobody claims to know what became of it, and the same
call again finds out. ``test_outcomes.py`` has the writes whose operation ids answer that.
"""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.errors import OutcomeUnknown, StorageUnavailable
from chopin_storage_pg.storage import PgStorage

from evidence import trace, until_quiet
from interrupting import Interrupted, Kind
from stage import NEVER, Stage
from storage_calls import JOURNAL_CALLS, OTHER_CALLS, Scene
from store_calls import STORE_CALLS
from wire import Cut
from work_calls import WORK_CALLS

WRITES = (
    *(call for call in JOURNAL_CALLS if call.method in {"collaboration.checkpoint", "collaboration.prune", "leases.renew"}),
    # A transaction for each child: to make it again finds those that are left, and there is nothing to wait for.
    *(call for call in OTHER_CALLS if call.method != "collaboration.drop_child_conversations"),
    *STORE_CALLS,
    *WORK_CALLS,
)


async def lost(stage: Stage, far: PgStorage, marker: bytes, cut: Cut) -> tuple[Scene, BaseException | None]:
    """A scene whose call lost its connection when the marked message was sent, and what its caller was told."""
    await stage.serves(far)
    scene = await stage.scene()
    stage.wire.cut(marker.replace(b"*", scene.name.encode()), cut)
    [caller] = await Interrupted(Kind.CUT, NEVER, stage.wire).ends([stage.call.run(far, scene)])
    assert stage.wire.happened.is_set()
    return scene, caller.exception()


# cases.md 25
@pytest.mark.parametrize("call", WRITES, ids=str)
async def test_a_write_cut_off_while_it_is_kept_is_unknown_and_before_that_never_kept_and_made_again_waits_for_it(
    stage: Stage, far: PgStorage
) -> None:
    evidence = await stage.evidence()

    scene, told = await lost(stage, far, b"*", Cut.LATE)
    assert isinstance(told, StorageUnavailable)
    await stage.wire.deliver_late()
    await until_quiet(stage.watch)
    assert await trace(stage.watch, scene) == evidence.nothing

    for cut in (Cut.QUESTION, Cut.ANSWER, Cut.LATE):
        scene, told = await lost(stage, far, b"COMMIT\0", cut)
        assert isinstance(told, OutcomeUnknown)
        again = asyncio.create_task(stage.repeated(scene))
        if cut is Cut.LATE:
            await stage.watch.until_waiting()
            await stage.wire.deliver_late()
        async with asyncio.timeout(5):
            await again
        await until_quiet(stage.watch)
        kept = cut is not Cut.QUESTION
        assert await trace(stage.watch, scene) == (evidence.twice if kept else evidence.whole)
    await stage.serves(far)
