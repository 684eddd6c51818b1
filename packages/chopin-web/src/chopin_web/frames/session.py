"""The ``session:*`` frames: who is here, what one may do, and how the document is called (protocol spec §3)."""

from __future__ import annotations

from collections.abc import Sequence

from chopin_core.channel import Channel
from chopin_core.room.events import MemberView
from chopin_web.frames.envelope import compose, shared
from chopin_web.presentation import instant


def hello(channel: Channel, you: MemberView, members: Sequence[MemberView], *, can_manage: bool) -> str:
    return compose(
        "session:hello",
        channelId=channel.id,
        title=channel.title,
        slug=channel.slug,
        updatedAt=instant(channel.updated_at),
        descriptionRevision=channel.description.revision if channel.description else 0,
        description=channel.description.value if channel.description else None,
        you=_member(you),
        members=[_member(member) for member in members],
        canEdit=can_manage and not channel.archived,
        canManage=can_manage,
        archivedAt=instant(channel.archived_at) if channel.archived_at else None,
        backgroundJobs=False,
        webResearch=False,
        chatReferences=False,
        chatSendAcks=False,
    )


@shared
def presence(members: Sequence[MemberView]) -> str:
    return compose("session:presence", members=[_member(member) for member in members])


def channel_changed(channel: Channel, *, can_manage: bool) -> str:
    return compose(
        "session:channel",
        channelId=channel.id,
        title=channel.title,
        slug=channel.slug,
        updatedAt=instant(channel.updated_at),
        descriptionRevision=channel.description.revision if channel.description else 0,
        description=channel.description.value if channel.description else None,
        canManage=can_manage,
        archivedAt=instant(channel.archived_at) if channel.archived_at else None,
    )


def access(*, can_edit: bool, can_manage: bool) -> str:
    return compose("session:access", canEdit=can_edit, canManage=can_manage)


def error(message: str, rid: str | None) -> str:
    return compose("session:error", rid=rid, message=message)


def pong(rid: str | None) -> str:
    return compose("session:ping", rid=rid)


def _member(member: MemberView) -> dict[str, str]:
    return {"handle": member.handle, "client": member.client}
