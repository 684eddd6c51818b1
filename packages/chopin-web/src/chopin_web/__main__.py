"""``python -m chopin_web`` is the ``chopin`` command."""

from __future__ import annotations

from chopin_web.command import command

command()
