"""
What it costs to read a text: its canonical source, its issues, its blocks and its records, and how that grows.

Run with the workspace's Python. For each kind of text the CPU seconds at the largest size, and the growth per doubling: 2.0 is
linear. Times differ between machines and are reported, never tested.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from statistics import median
from time import process_time

from chopin_core.document.blocks import blocks
from chopin_core.document.canonical import canonical
from chopin_core.document.dialect.source import issues_of
from chopin_core.document.protected import protected_blocks

LARGEST = 256 * 1024 - 16
RUNS = 3
ORDINARY = """\
## A heading

Some *ordinary* prose with `code`, a [link](https://example.com/x) and **more**, over
two lines or three, as people write it.

- an item
- another
  that goes on

```python
for x in {1}:
    print(x < 2)
```

| a | b |
|---|---|
| 1 | 2 |

"""
RECORD = '<Decision id="1" quote="q" by="a" at="b">\n<Note by="a" text="b" />\n</Decision>\n\n'

TEXTS: Mapping[str, str] = {
    "ordinary": ORDINARY,
    "ordinary without code": "Some *ordinary* prose, and nothing that MDX would trip over.\n\n",
    "ordinary with records": ORDINARY * 20 + RECORD,
    "brackets": "[",
    "open links": "[a](",
    "emphasis": "*a _b ",
    "backticks": "`a ",
    "dollars": "$a ",
    "angles": "<",
    "open tags": "<a b='",
    "open expressions": "<a b={",
    "braces": "{",
    "components on a line": "<Tab>",
    "components on lines": "<Tab>\n",
    "underlines": "<Underline>a</Underline>",
    "quotations": "> ",
    "lists": "1. a\n",
    "tables": "a|b\n-|-\n",
    "fences": "- ```\n",
    "addresses": "http://`` ",
    "modules": "import \n",
}
QUESTIONS: Mapping[str, Callable[[str], object]] = {
    "canonical": canonical,
    "issues": issues_of,
    "blocks": blocks,
    "records": protected_blocks,
}


def seconds(question: Callable[[str], object], unit: str, size: int) -> float:
    times = []
    for run in range(RUNS):
        text = unit * (size // len(unit)) + f"\n\n{run}"  # another text each time: some answers are remembered
        started = process_time()
        question(text)
        times.append(process_time() - started)
    return median(times)


def main() -> None:
    write = sys.stdout.write
    write(f"{'text':24}" + "".join(f"{name:>12} grows" for name in QUESTIONS) + "\n")
    for name, unit in TEXTS.items():
        write(f"{name:24}")
        for question in QUESTIONS.values():
            half, whole = seconds(question, unit, LARGEST // 2), seconds(question, unit, LARGEST)
            write(f"{whole:12.4f} {whole / half:5.1f}")
            sys.stdout.flush()
        write("\n")


if __name__ == "__main__":
    main()
