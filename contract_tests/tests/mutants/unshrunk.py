"""A pytest plugin for runs on mutants: that a history fails is enough, nobody waits for the shortest one that does."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("unshrunk", phases=[Phase.generate], database=None)
settings.load_profile("unshrunk")
