"""How a title is given out within a repository, and the slug that goes with it."""

from __future__ import annotations

import attrs

from chopin_core.channel import Channel, TitlePolicy, free_slug, title_key
from chopin_core.errors import TitleTaken
from chopin_core.memory.tables import Tables


def titled(tables: Tables, channel: Channel, title: str, policy: TitlePolicy) -> Channel:
    """The channel as it will be under that title; ``TitleTaken`` if the policy forbids it. Nothing is kept yet."""
    repository_id = channel.repository.id
    if policy is TitlePolicy.UNIQUE and any(
        other.repository.id == repository_id and other.id != channel.id and title_key(other.title) == title_key(title)
        for other in tables.channels.values()
    ):
        raise TitleTaken(title)
    slug = free_slug(title, lambda candidate: tables.slugs.get((repository_id, candidate), channel.id) != channel.id)
    return attrs.evolve(channel, title=title, slug=slug)


def keep(tables: Tables, channel: Channel) -> None:
    """Keep the channel, and its slug beside those it had before."""
    tables.channels[channel.id] = channel
    tables.slugs[channel.repository.id, channel.slug] = channel.id
