"""``python -m proofs.leaks``: the long form, with a figure for everything and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import sys

from .cycles import MOST_GROWTH, measure


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs.leaks", description="Open, refuse and fail rooms by the thousand.")
    parser.add_argument("--cycles", type=int, default=10_000, help="open/edit/close cycles (%(default)s)")
    parser.add_argument("--refused", type=int, default=10_000, help="refused opens (%(default)s)")
    parser.add_argument("--failed", type=int, default=1_000, help="failed loads (%(default)s)")
    asked = parser.parse_args()
    growth = asyncio.run(measure(asked.cycles, asked.refused, asked.failed))
    mib = 1024 * 1024
    lines = (
        f"{asked.cycles} open/edit/close cycles, {asked.refused} refused opens, {asked.failed} failed loads",
        f"memory: {growth.rss_before / mib:.1f} MiB at the start, {growth.rss_after / mib:.1f} MiB at the end",
        f"growth: {growth.growth:+.1%} (at most {MOST_GROWTH:.0%})",
        "left: " + (", ".join(f"{count} {name}" for name, count in sorted(growth.left.items())) or "nothing"),
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if growth.ok else 1


if __name__ == "__main__":
    sys.exit(main())
