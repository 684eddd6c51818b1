"""Domain values as the JSON objects that browsers get (protocol spec §10.2)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from chopin_core.channel import Channel
from chopin_core.people import Person, RepositoryAccess, Role


def instant(at: datetime) -> str:
    """ISO 8601 in UTC with full stored precision."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def channel_path(channel: Channel) -> str:
    """The readable address of a document."""
    repository = channel.repository
    return f"/documents/{quote(repository.owner)}/{quote(repository.name)}/{quote(channel.slug)}"


def person_object(person: Person) -> dict[str, Any]:
    return {"id": person.id, "login": person.login, "avatarUrl": person.avatar_url}


def repository_object(access: RepositoryAccess) -> dict[str, Any]:
    repository = access.repository
    return {
        "id": repository.id,
        "owner": repository.owner,
        "name": repository.name,
        "fullName": f"{repository.owner}/{repository.name}",
        "private": access.private,
        "url": access.url,
        "defaultBranch": access.default_branch,
        "permissions": {"pull": True, "push": access.role.writes, "admin": access.role is Role.ADMIN},
    }


def channel_object(channel: Channel) -> dict[str, Any]:
    description = channel.description
    shown: dict[str, Any] = {
        "id": channel.id,
        "repositoryId": channel.repository.id,
        "repositoryOwner": channel.repository.owner,
        "repositoryName": channel.repository.name,
        "title": channel.title,
        "slug": channel.slug,
        "createdBy": channel.created_by,
        "revision": channel.revision,
        "createdAt": instant(channel.created_at),
        "updatedAt": instant(channel.updated_at),
        "descriptionRevision": description.revision if description else 0,
        "unansweredDecisions": channel.unanswered_decisions,
    }
    if channel.parent_id is not None:
        shown["parentChannelId"] = channel.parent_id
    if description is not None:
        shown["description"] = description.value
    if channel.archived_at is not None:
        shown["archivedAt"] = instant(channel.archived_at)
    return shown


def document_object(channel: Channel, access: RepositoryAccess) -> dict[str, Any]:
    """A channel together with what the person who asked may do with it."""
    manages = access.role.writes
    return {
        "repository": repository_object(access),
        "canEdit": manages and not channel.archived,
        "canManage": manages,
        "channel": channel_object(channel),
    }
