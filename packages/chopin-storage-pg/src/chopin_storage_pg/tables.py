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
