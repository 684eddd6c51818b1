"""Who acts, on which repository, with which right."""

from __future__ import annotations

import enum
from datetime import datetime

import attrs

from chopin_core.ids import RepositoryId, UserId
from chopin_core.text import key_field, storable_field


@attrs.frozen(kw_only=True)
class Person:
    """Somebody whose identity was established; ``avatar_url`` may be empty."""

    id: UserId = attrs.field(validator=key_field)
    login: str = attrs.field(validator=storable_field)
    avatar_url: str = attrs.field(default="", validator=storable_field)


@attrs.frozen(kw_only=True)
class User:
    """A person as storage remembers them."""

    person: Person
    created_at: datetime
    updated_at: datetime


@attrs.frozen(kw_only=True)
class Repository:
    """A repository: ``id`` (GitHub's node id) is the authority, ``owner`` and ``name`` only locate it."""

    id: RepositoryId = attrs.field(validator=key_field)
    owner: str = attrs.field(validator=storable_field)
    name: str = attrs.field(validator=storable_field)


class Role(enum.Enum):
    """What a person may do in a repository, as GitHub names it."""

    PULL = "pull"
    PUSH = "push"
    ADMIN = "admin"

    @property
    def writes(self) -> bool:
        return self is not Role.PULL


@attrs.frozen(kw_only=True)
class RepositoryAccess:
    """One repository as one person sees it."""

    repository: Repository
    role: Role
    private: bool
    url: str
    default_branch: str
