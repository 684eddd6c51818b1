"""
The advisory locks, all of them of a transaction.

Locks come in one order everywhere, so that nobody can wait in a circle: the lease's row, the lease's advisory lock, the jobs,
the titles of a repository, people, web sessions, channels by id, and last what belongs to a channel. A rename and a create
below the renamed channel, or two titled commits, therefore meet at the titles and not behind each other's channels.
"""

from __future__ import annotations

from typing import Final

MIGRATION_LOCK: Final = 2043237431
"""Held while the schema is brought up to date."""

JOB_LOCK: Final = 2043237432
"""Held by every change of a job or a research request, so that these follow each other, whatever lease they are under."""

TITLE_LOCKS: Final = 2043237434
"""First key of the locks on a repository's titles and slugs; the second is ``hashtext`` of its id."""

LEASE_LOCKS: Final = 2043237435
"""First key of the locks that let writes under one lease run one at a time; the second is ``hashtext`` of its name."""
