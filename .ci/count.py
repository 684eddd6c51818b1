"""The closing line of a CI run: how many tests there were, from the reports that the runners wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def main(folder: Path) -> int:
    total = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            total += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    print(f"{total - failed - skipped} passed, {failed} failed, {skipped} skipped")  # noqa: T201  # it is the output
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
