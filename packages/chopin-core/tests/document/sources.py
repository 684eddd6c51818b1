"""Sources for the tests of documents: ordinary ones, and pieces that make hostile ones."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
UUID = "01890a5d-ac96-774b-bcce-b302099a8057"

DECISION = f"""\
<Decision id="{ULID}" quote="Ship {{it}} & <go>" by="ana" at="2026-11-30T10:00:00Z">
<Note by="ben" text="It's `fine`" />
</Decision>"""

QUESTIONNAIRE = f"""\
<Questionnaire id="{UUID}" status="open">
<Question id="01890a5d-ac96-774b-bcce-b302099a8058" header="Store" prompt="Which one?" multiple="false">
<Option id="01890a5d-ac96-774b-bcce-b302099a8059" label="PostgreSQL" />
<Option id="01890a5d-ac96-774b-bcce-b302099a805a" label="None" description="" />
</Question>
</Questionnaire>"""

RESEARCH = '<Research id="req-1" />'

DOCUMENT = f"""\
# A plan

Some *prose* with **strong** words, a [link](https://example.com/a_b), ~~old~~ news and `code<T>{{}}`.

- [ ] a task
- [x] another
  continued

  ```ts
  const x: Array<{{ a: 1 }}> = [];
  ```

1. one
2. two

> A quotation
> of two lines

| Name | Type |
| ---- | ---- |
| a    | `Map<K, V>` |

```python
for x in {{1}}:
    print(x < 2)
```

$$
\\frac{{a}}{{b}}
$$

Inline $x_{{1}}$ and ![image](https://example.com/i.png).[^{ULID}]

[^{ULID}]: A footnote.

<Callout id="{UUID}" type="note" title="Mind">

Inside **it**.

</Callout>

<Tabs id="01890a5d-ac96-774b-bcce-b302099a8060">
<Tab id="01890a5d-ac96-774b-bcce-b302099a8061" label="One">

- inside

</Tab>
</Tabs>

Words <Underline>under *line*</Underline> and <Image src="https://example.com/i.png" width="40" />.
"""
"""Everything the dialect allows an agent to write, without an issue."""

PIECES = (
    *("a", "b c", "\n", "\n", "\n\n", "\n\n", "  ", "    ", "\t", "- ", "-      ", "1. ", "2) ", "> ", ">", "* ", "# "),
    *("`", "``", "```", "````", "~~~", "$", "$$", "{", "}", "{x}", "<", "<b>", "</b>", "<!--", "-->", "<a@b.c>", "&lt;"),
    *("<Callout>", "</Callout>", '<Callout id="x" type="note">', "\n<Callout>\n", "\n</Callout>\n", "<Tabs>\n", "</Tabs>\n"),
    *('<Note a="b" />', "<Note/>\n", "<Underline>", "</Underline>", "<Underline>u</Underline>", "<Underline>*u*</Underline>"),
    *(
        '<Image src="x" />',
        '<Image alt="{x}" />',
        "import x",
        "import ",
        "export ",
        "\nimport y\n",
        "\\",
        "\\\\",
        "*",
        "**",
        "_",
    ),
    *("~~", "[", "]", "(", ")", "](", "][", "[a](b)", "[^a]: ", "[^a]", "[a]: ", "|", "| ", "|-|-|\n", "| a | b |\n", "---\n"),
    *("===\n", "http://x.y/", "www.z.w", "!", "'", '"', "=", "/>", "\n```\n", "\n$$\n", "\n- ", "\n  ", "\n> ", "\n    "),
    *("\u00a0", "é", "😀", "\x0b", "\r\n", "\r", "\0", "\u2028", "\x85", "\ufeff"),
)
"""What Markdown and MDX give a meaning to, and what they might trip over."""

hostile = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def hostile_sources(seed: int, count: int) -> list[str]:
    """Many at once, for a parser that is slow to start."""
    random = Random(seed)
    return ["".join(random.choices(PIECES, k=random.randrange(1, 25))) for _ in range(count)]
