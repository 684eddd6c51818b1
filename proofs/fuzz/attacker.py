"""``python -m proofs.fuzz.attacker``: one assault in a process of its own, so that its work is not taken for the server's."""

from __future__ import annotations

import asyncio
import pickle
import sys
from pathlib import Path

from .assault import Assault, Damage, attack

ROOT = Path(__file__).parents[2]


async def elsewhere(assault: Assault) -> Damage:
    """Have it done by another process; what that one saw."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"{__package__}.{Path(__file__).stem}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        answer, _ = await process.communicate(pickle.dumps(assault))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, "the attackers broke down; they say why above"
    damage: Damage = pickle.loads(answer)
    return damage


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(asyncio.run(attack(pickle.load(sys.stdin.buffer)))))
