"""Commits that change the title too: rare, so in a few statements more, under the repository's title lock."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import ChannelMissing, EventRepeated
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_storage_pg import commits, fences
