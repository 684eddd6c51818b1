"""Two words for a document that nobody has named yet."""

from __future__ import annotations

import secrets
from typing import Final

_FIRST: Final = tuple(
    "amber brisk calm clear cosy crisp deft early even fair fleet fond gentle glad golden grand hazel keen kind level light "
    "lively lucid mellow merry mild neat noble north open patient plain prime quick quiet rapid ready rosy round silver "
    "simple sleek smooth snowy solid steady still sunny swift tidy tranquil true vivid warm wide winter wise".split()
)
_SECOND: Final = tuple(
    "anchor arbor arch aria badge basin beacon bell birch bridge brook canvas canyon cedar chord cliff cloud compass coral "
    "cove creek delta dune elm ember etude fern field finch fjord forest gable garden glade grove harbor heron hill island "
    "juniper lagoon lantern larch ledger maple meadow mesa mill nocturne oak orchard otter path pine plaza pond prelude "
    "quarry quill reef ridge river robin sail shore sonata sparrow spring station stone summit thicket tide tower trail "
    "valley waltz wharf willow window wren".split()
)


def placeholder_title() -> str:
    """Two lower-case words joined by a hyphen; another call most likely gives another pair."""
    return f"{secrets.choice(_FIRST)}-{secrets.choice(_SECOND)}"
