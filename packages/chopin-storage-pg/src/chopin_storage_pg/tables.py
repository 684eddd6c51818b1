"""The schema, written once: one ``MetaData`` that the baseline creates and every query is built from."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    cast,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSON

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)


class JsonText(TypeDecorator[str]):
    """
    A ``json`` column whose values travel as text, both ways.

    ``jsonb`` refuses U+0000 and unpaired surrogates, and a driver that parses would lose how a value was written; the text
    made by ``chopin_core.jsonvalue.encode`` comes back as it went in.
    """

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:
        return None

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        return None

    def column_expression(self, column: Any) -> Any:
        return cast(column, Text)


def _id(name: str, *args: Any, **kwargs: Any) -> Column[str]:
    """An identity: ordered by code point, as Python does, whatever the database's language."""
    return Column(name, Text(collation="C"), *args, nullable=kwargs.pop("nullable", False), **kwargs)


def _text(name: str, **kwargs: Any) -> Column[str]:
    return Column(name, Text, nullable=kwargs.pop("nullable", False), **kwargs)


def _count(name: str, default: int | None = None, **kwargs: Any) -> Column[int]:
    server_default = None if default is None else text(str(default))
    return Column(name, BigInteger, nullable=kwargs.pop("nullable", False), server_default=server_default, **kwargs)


def _instant(name: str, **kwargs: Any) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=kwargs.pop("nullable", False), **kwargs)


def _of_channel(**kwargs: Any) -> Column[str]:
    return _id("channel_id", ForeignKey("channels.id", ondelete="CASCADE"), **kwargs)


users: Final = Table(
    "users",
    metadata,
    _id("id", primary_key=True),
    _text("login"),
    _text("avatar_url"),
    _instant("created_at"),
    _instant("updated_at"),
)

channels: Final = Table(
    "channels",
    metadata,
    _id("id", primary_key=True),
    _id("repository_id"),
    _text("repository_owner"),
    _text("repository_name"),
    _id("parent_channel_id", ForeignKey("channels.id", ondelete="RESTRICT"), nullable=True),
    _text("title"),
    _id("created_by", ForeignKey("users.id")),
    _count("revision", 0),
    _count("next_sequence", 1),
    _instant("created_at"),
    _instant("updated_at"),
    _instant("archived_at", nullable=True),
    _text("generated_description", nullable=True),
    _count("generated_description_revision", 0),
    _count("generated_description_plan_revision", nullable=True),
    _text("generated_description_source_hash", nullable=True),
    Column("generated_description_generator_version", Integer, nullable=True),
    _text("generated_description_job_id", nullable=True),
    _instant("generated_description_updated_at", nullable=True),
    UniqueConstraint("repository_id", "id"),
    # Short on purpose: every commit pays for what is checked here, so the shape of each value is the domain's to check.
    CheckConstraint(
        "num_nonnulls(generated_description, generated_description_plan_revision, generated_description_source_hash,"
        " generated_description_generator_version, generated_description_job_id, generated_description_updated_at)"
        " = CASE generated_description_revision WHEN 0 THEN 0 ELSE 6 END",
        name="generated_description",
    ),
)
# ``updated_at`` moves with every commit, so each index here is written by every commit: none more than the lists need.
Index("channels_catalogue_idx", channels.c.repository_id, channels.c.updated_at.desc(), channels.c.id)
Index(
    "channels_active_catalogue_idx",
    channels.c.repository_id,
    channels.c.updated_at.desc(),
    channels.c.id,
    postgresql_where=channels.c.archived_at.is_(None),
)
Index("channels_scan_idx", channels.c.repository_id, channels.c.created_at.desc(), channels.c.id)
Index(
    "channels_children_idx",
    channels.c.parent_channel_id,
    postgresql_where=channels.c.parent_channel_id.is_not(None),
)

channel_search: Final = Table(
    "channel_search",
    metadata,
    _of_channel(primary_key=True),
    _id("repository_id"),
    _text("title_key"),
    _text("description_key", nullable=True),
    comment="title and description in lower case as Python has it; apart from channels, whose rows move with every commit",
)
# A hash, because titles may be longer than a B-tree entry.
Index("channel_search_title_idx", channel_search.c.title_key, postgresql_using="hash")

channel_slugs: Final = Table(
    "channel_slugs",
    metadata,
    _id("repository_id", primary_key=True),
    _id("slug", primary_key=True),
    _id("channel_id"),
    Column("canonical", Boolean, nullable=False),
    _instant("created_at"),
    ForeignKeyConstraint(["repository_id", "channel_id"], ["channels.repository_id", "channels.id"], ondelete="CASCADE"),
)
Index("channel_slugs_channel_id_idx", channel_slugs.c.channel_id)
Index(
    "channel_slugs_canonical_idx",
    channel_slugs.c.channel_id,
    unique=True,
    postgresql_where=channel_slugs.c.canonical,
)

channel_state: Final = Table(
    "channel_state",
    metadata,
    _of_channel(primary_key=True),
    Column("head", JsonText, nullable=True, comment="of the sidecar; absent until one is written"),
    Column("unanswered_decisions", Integer, nullable=False, server_default=text("0")),
    postgresql_with={"fillfactor": "70"},
)

channel_sections: Final = Table(
    "channel_sections",
    metadata,
    _of_channel(primary_key=True),
    _id("name", primary_key=True),
    Column("value", JsonText, nullable=False),
)

channel_snapshots: Final = Table(
    "channel_snapshots",
    metadata,
    _of_channel(primary_key=True),
    _text("generation"),
    _count("revision"),
    _count("through_sequence"),
    _text("epoch"),
    _text("source"),
    _text("source_hash"),
    Column("document", LargeBinary, nullable=False),
    Column("sidecar", JsonText, nullable=False),
    _instant("created_at"),
)

channel_operations: Final = Table(
    "channel_operations",
    metadata,
    _of_channel(primary_key=True),
    _id("operation_id", primary_key=True),
    _count("sequence"),
    _count("revision"),
    _instant("kept_at", server_default=func.clock_timestamp()),
    UniqueConstraint("channel_id", "sequence"),
)

channel_updates: Final = Table(
    "channel_updates",
    metadata,
    _of_channel(primary_key=True),
    _count("sequence", primary_key=True, autoincrement=False),
    _count("revision"),
    _text("epoch"),
    Column("update", LargeBinary, nullable=False),
)

channel_events: Final = Table(
    "channel_events",
    metadata,
    _of_channel(primary_key=True),
    _count("sequence", primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    _id("id"),
    _text("kind"),
    Column("payload", JsonText, nullable=False),
    _instant("created_at"),
    UniqueConstraint("channel_id", "id"),
)

web_sessions: Final = Table(
    "web_sessions",
    metadata,
    _id("id", primary_key=True),
    _id("user_id", ForeignKey("users.id")),
    _instant("expires_at"),
    _instant("created_at"),
    Column("secret_hash", LargeBinary, nullable=True),
    Column("ciphertext", LargeBinary, nullable=True, comment="opaque; its key is not in this database"),
    _count("credential_revision", nullable=True),
    CheckConstraint("num_nonnulls(secret_hash, ciphertext, credential_revision) IN (0, 3)", name="credentials"),
)
Index("web_sessions_expires_at_idx", web_sessions.c.expires_at)

agent_state: Final = Table(
    "agent_state",
    metadata,
    _of_channel(primary_key=True),
    _id("owner_session_id", ForeignKey("web_sessions.id"), nullable=True),
    _count("generation"),
    _text("summary", server_default=""),
    _count("transcript_cursor", 0),
    _text("status"),
    _instant("updated_at"),
    CheckConstraint("status IN ('ready', 'unavailable')", name="status"),
)
Index(
    "agent_state_owner_session_id_idx",
    agent_state.c.owner_session_id,
    postgresql_where=agent_state.c.owner_session_id.is_not(None),
)

user_projects: Final = Table(
    "user_projects",
    metadata,
    _id("user_id", ForeignKey("users.id"), primary_key=True),
    _id("repository_id", primary_key=True),
    _text("repository_owner"),
    _text("repository_name"),
    Column("position", Integer, nullable=False),
    _instant("added_at"),
    UniqueConstraint("user_id", "position"),
)

user_navigation: Final = Table(
    "user_navigation",
    metadata,
    _id("user_id", ForeignKey("users.id"), primary_key=True),
    _id("last_document_id", ForeignKey("channels.id", ondelete="SET NULL"), nullable=True),
    _count("revision"),
    _instant("updated_at"),
)
Index("user_navigation_last_document_id_idx", user_navigation.c.last_document_id)

plan_images: Final = Table(
    "plan_images",
    metadata,
    _of_channel(primary_key=True),
    _id("sha256", primary_key=True),
    _text("type"),
    Column("content", LargeBinary, nullable=False),
    _id("uploaded_by", ForeignKey("users.id")),
    _instant("created_at"),
)
Index("plan_images_sha256_idx", plan_images.c.sha256)

machines: Final = Table(
    "machines",
    metadata,
    _id("id", primary_key=True),
    _id("owner_id", ForeignKey("users.id")),
    _text("label"),
    Column("repositories", JsonText, nullable=False),
    Column("auto_run", Boolean, nullable=False),
    Column("token_hash", LargeBinary, nullable=False),
    Column("ciphertext", LargeBinary, nullable=True, comment="opaque; its key is not in this database"),
    _count("credential_revision", nullable=True),
    _instant("last_contact_at", nullable=True),
    _instant("created_at"),
    _instant("revoked_at", nullable=True),
    UniqueConstraint("token_hash"),
    CheckConstraint("num_nonnulls(ciphertext, credential_revision) IN (0, 2)", name="credentials"),
    CheckConstraint("revoked_at IS NULL OR ciphertext IS NULL", name="revoked"),
)
Index("machines_owner_id_idx", machines.c.owner_id)

machine_choices: Final = Table(
    "machine_choices",
    metadata,
    _id("user_id", ForeignKey("users.id"), primary_key=True),
    _of_channel(primary_key=True),
    _id("machine_id", ForeignKey("machines.id")),
)
Index("machine_choices_channel_id_idx", machine_choices.c.channel_id)
Index("machine_choices_machine_id_idx", machine_choices.c.machine_id)

machine_favourites: Final = Table(
    "machine_favourites",
    metadata,
    _id("user_id", ForeignKey("users.id"), primary_key=True),
    _id("machine_id", ForeignKey("machines.id")),
)
Index("machine_favourites_machine_id_idx", machine_favourites.c.machine_id)

background_job_channels: Final = Table(
    "background_job_channels",
    metadata,
    _of_channel(primary_key=True),
    _count("revision"),
)

background_job_targets: Final = Table(
    "background_job_targets",
    metadata,
    _of_channel(primary_key=True),
    _id("target_key", primary_key=True),
    _count("generation"),
)

background_jobs: Final = Table(
    "background_jobs",
    metadata,
    _id("id", primary_key=True),
    _of_channel(),
    _text("type"),
    Column("version", Integer, nullable=False),
    _id("target_key"),
    _count("target_generation"),
    _id("idempotency_key"),
    _text("fingerprint"),
    _text("origin"),
    Column("input", JsonText, nullable=False),
    _text("state"),
    _count("revision"),
    _count("attempts", 0),
    _count("failures", 0),
    _count("claim_generation", 0),
    _text("claim_owner", nullable=True),
    _instant("claim_expires_at", nullable=True),
    Column("claim_binding", JsonText, nullable=True),
    _instant("available_at"),
    _text("reason", nullable=True),
    Column("progress", JsonText, nullable=False),
    _instant("created_at"),
    _instant("updated_at"),
    UniqueConstraint("channel_id", "idempotency_key"),
    CheckConstraint("num_nonnulls(claim_owner, claim_expires_at) = CASE state WHEN 'running' THEN 2 ELSE 0 END", name="claim"),
)
Index("background_jobs_page_idx", background_jobs.c.channel_id, background_jobs.c.created_at.desc(), background_jobs.c.id)
Index(
    "background_jobs_due_idx",
    func.coalesce(background_jobs.c.claim_expires_at, background_jobs.c.available_at),
    background_jobs.c.created_at,
    background_jobs.c.id,
    postgresql_where=background_jobs.c.state.in_(("pending", "running")),
)
Index(
    "background_jobs_open_idx",
    background_jobs.c.channel_id,
    background_jobs.c.target_key,
    postgresql_where=background_jobs.c.state.in_(("pending", "paused", "running")),
)

background_job_artifacts: Final = Table(
    "background_job_artifacts",
    metadata,
    _id("job_id", ForeignKey("background_jobs.id", ondelete="CASCADE"), primary_key=True),
    _count("revision"),
    Column("value", JsonText, nullable=False),
    _instant("created_at"),
)

research_workspaces: Final = Table(
    "research_workspaces",
    metadata,
    _id("id", primary_key=True),
    _of_channel(),
    _id("published_channel_id", ForeignKey("channels.id", ondelete="RESTRICT"), nullable=True),
    _text("title"),
    _text("proposed_question"),
    _text("query", nullable=True),
    _id("confirmed_by", ForeignKey("users.id"), nullable=True),
    _text("origin"),
    _id("origin_message", nullable=True),
    _text("inline_reference", nullable=True),
    _id("created_by", ForeignKey("users.id")),
    _count("revision", 0),
    Column("turns", Integer, nullable=False),
    Column("messages", Integer, nullable=False),
    _id("idempotency_key"),
    _text("fingerprint"),
    _instant("created_at"),
    _instant("updated_at"),
    UniqueConstraint("channel_id", "idempotency_key"),
    UniqueConstraint("published_channel_id"),
    CheckConstraint("num_nonnulls(query, confirmed_by) IN (0, 2)", name="confirmed"),
)
Index(
    "research_workspaces_page_idx",
    research_workspaces.c.channel_id,
    research_workspaces.c.updated_at.desc(),
    research_workspaces.c.id,
)
Index(
    "research_workspaces_reference_idx",
    research_workspaces.c.id,
    postgresql_where=research_workspaces.c.inline_reference.is_not(None),
)

research_turns: Final = Table(
    "research_turns",
    metadata,
    _id("id", primary_key=True),
    _id("workspace_id", ForeignKey("research_workspaces.id", ondelete="CASCADE")),
    Column("ordinal", Integer, nullable=False),
    _text("kind"),
    _id("request_id"),
    _text("fingerprint"),
    _text("question"),
    _id("requested_by", ForeignKey("users.id")),
    _id("evidence_job_id", ForeignKey("background_jobs.id"), nullable=True),
    _id("answer_job_id", ForeignKey("background_jobs.id"), nullable=True),
    _instant("created_at"),
    _instant("updated_at"),
    UniqueConstraint("workspace_id", "ordinal"),
    UniqueConstraint("workspace_id", "request_id"),
    UniqueConstraint("evidence_job_id"),
    UniqueConstraint("answer_job_id"),
    CheckConstraint("evidence_job_id <> answer_job_id", name="jobs"),
)

research_messages: Final = Table(
    "research_messages",
    metadata,
    _id("id", primary_key=True),
    _id("workspace_id", ForeignKey("research_workspaces.id", ondelete="CASCADE")),
    Column("sequence", Integer, nullable=False),
    _id("turn_id", ForeignKey("research_turns.id", ondelete="CASCADE"), nullable=True),
    _text("author"),
    _id("user_id", ForeignKey("users.id"), nullable=True),
    _text("handle", nullable=True),
    _text("text"),
    _id("source_job_id", ForeignKey("background_jobs.id"), nullable=True),
    _instant("created_at"),
    UniqueConstraint("workspace_id", "sequence"),
    UniqueConstraint("source_job_id"),
)
Index("research_messages_turn_id_idx", research_messages.c.turn_id)

storage_leases: Final = Table(
    "storage_leases",
    metadata,
    _id("name", primary_key=True),
    _text("owner"),
    _count("fencing"),
    _instant("expires_at"),
    CheckConstraint("fencing >= 1", name="fencing"),
)

chopin_migrations: Final = Table(
    "chopin_migrations",
    metadata,
    _id("id", primary_key=True),
    _text("file"),
    _text("checksum"),
    _instant("applied_at", server_default=func.clock_timestamp()),
)
