"""Forgetting a channel with all it owns, as foreign keys do it in PostgreSQL."""

from __future__ import annotations

import attrs

from chopin_core.ids import ChannelId
from chopin_core.memory.tables import Tables


def forget(tables: Tables, channel_id: ChannelId) -> None:
    del tables.channels[channel_id]
    del tables.histories[channel_id]
    for place in [place for place, owner in tables.slugs.items() if owner == channel_id]:
        del tables.slugs[place]
    tables.agents.pop(channel_id, None)
    for user_id, navigation in tables.navigations.items():
        if navigation.last_document == channel_id:
            tables.navigations[user_id] = attrs.evolve(navigation, last_document=None)
    for image in [image for image in tables.images if image[0] == channel_id]:
        del tables.images[image]
    for choice in [choice for choice in tables.machine_choices if choice[1] == channel_id]:
        del tables.machine_choices[choice]
    _forget_research(tables, channel_id)
    _forget_jobs(tables, channel_id)


def _forget_research(tables: Tables, channel_id: ChannelId) -> None:
    gone = {workspace.id for workspace in tables.workspaces.values() if workspace.channel_id == channel_id}
    for turn in [turn for turn in tables.turns.values() if turn.workspace_id in gone]:
        del tables.turns[turn.id]
    for message in [message for message in tables.messages.values() if message.workspace_id in gone]:
        del tables.messages[message.id]
    for workspace_id in gone:
        del tables.workspaces[workspace_id]


def _forget_jobs(tables: Tables, channel_id: ChannelId) -> None:
    for job in [job for job in tables.jobs.values() if job.channel_id == channel_id]:
        tables.artifacts.pop(job.id, None)
        del tables.jobs[job.id]
    for target in [target for target in tables.job_targets if target[0] == channel_id]:
        del tables.job_targets[target]
    tables.job_revisions.pop(channel_id, None)
