"""A channel: the durable container of one document, its title and the addresses made from it."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import attrs

from chopin_core.counters import DescriptionRevision, PlanRevision, StorageRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, UserId
from chopin_core.people import Repository
from chopin_core.text import storable

TITLE_LENGTH = 120
SLUG_LENGTH = 100


class TitlePolicy(enum.Enum):
    """Whether two documents of a repository may show the same title (storage spec §0.8)."""

    REPEATABLE = "repeatable"
    UNIQUE = "unique"
    """A title that differs from another only in case is a conflict; archived and child documents count."""


@attrs.frozen(kw_only=True)
class Description:
    """Generated catalogue text with its own provenance; untrusted, and independent of the document's counters."""

    value: str
    revision: DescriptionRevision
    plan_revision: PlanRevision
    source_hash: str
    generator_version: int
    job_id: str
    updated_at: datetime


@attrs.frozen(kw_only=True)
class Channel:
    """A channel as storage knows it. All instants are aware and in UTC."""

    id: ChannelId
    repository: Repository
    title: str
    slug: str
    created_by: UserId
    revision: StorageRevision
    created_at: datetime
    updated_at: datetime
    parent_id: ChannelId | None = None
    archived_at: datetime | None = None
    description: Description | None = None
    unanswered_decisions: int = 0

    @property
    def archived(self) -> bool:
        return self.archived_at is not None


def parse_title(value: object) -> str:
    """
    A title as people may give it: trimmed, 1 to 120 characters, no control characters.

    Raises:
        InvalidField: it is none.
    """
    if not isinstance(value, str):
        raise InvalidField("title", "must be a string")
    title = storable(value, "title").strip()
    if not 1 <= len(title) <= TITLE_LENGTH:
        raise InvalidField("title", f"must have 1 to {TITLE_LENGTH} characters")
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in title):
        raise InvalidField("title", "must be one line without control characters")
    return title


def title_key(title: str) -> str:
    """What two titles share when they differ only in case (code-point lower casing, the same in both adapters)."""
    return title.lower()


def slug_of(title: str) -> str:
    """
    The address a title would like to have: letters, numbers and marks joined by hyphens, at most 100 code points.

    Also applied to what somebody typed into the address bar, so that close variants of an address still find it. Source:
    protocol spec §10.3.
    """
    # Normalised twice: a small letter may join with its mark where the capital could not.
    lowered = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).lower())
    words = "".join(character if unicodedata.category(character)[0] in "LNM" else "-" for character in lowered)
    slug = re.sub("-+", "-", words).strip("-") or "document"
    return slug[:SLUG_LENGTH].rstrip("-")


def free_slug(title: str, taken: Callable[[str], bool]) -> str:
    """The first of ``base``, ``base-2``, ``base-3`` … that is not ``taken``; the stem gives way to the suffix."""
    base = slug_of(title)
    if not taken(base):
        return base
    for number in count(2):
        suffix = f"-{number}"
        candidate = base[: SLUG_LENGTH - len(suffix)].rstrip("-") + suffix
        if not taken(candidate):
            return candidate
    raise AssertionError("unreachable: count() does not end")


def moved_on(stored: datetime, now: datetime) -> datetime:
    """The activity time after a rename, archive or restore: ``now``, but always at least 1 ms after the stored one."""
    return max(now, stored + timedelta(milliseconds=1))
