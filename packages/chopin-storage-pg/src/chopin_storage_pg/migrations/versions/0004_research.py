"""Research requests with their turns and messages, on a database that was made without them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0004_research"
down_revision = "0003_stores"
branch_labels = None
depends_on = None

TABLES = {
    "research_workspaces": """
CREATE TABLE research_workspaces (
    id text COLLATE "C" NOT NULL,
    channel_id text COLLATE "C" NOT NULL,
    published_channel_id text COLLATE "C",
    title text NOT NULL,
    proposed_question text NOT NULL,
    query text,
    confirmed_by text COLLATE "C",
    origin text NOT NULL,
    origin_message text COLLATE "C",
    inline_reference text,
    created_by text COLLATE "C" NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    turns integer NOT NULL,
    messages integer NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT research_workspaces_pkey PRIMARY KEY (id),
    CONSTRAINT research_workspaces_channel_id_idempotency_key_key UNIQUE (channel_id, idempotency_key),
    CONSTRAINT research_workspaces_published_channel_id_key UNIQUE (published_channel_id),
    CONSTRAINT research_workspaces_confirmed_check CHECK (num_nonnulls(query, confirmed_by) IN (0, 2)),
    CONSTRAINT research_workspaces_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE,
    CONSTRAINT research_workspaces_published_channel_id_fkey
        FOREIGN KEY (published_channel_id) REFERENCES channels (id) ON DELETE RESTRICT,
    CONSTRAINT research_workspaces_confirmed_by_fkey FOREIGN KEY (confirmed_by) REFERENCES users (id),
    CONSTRAINT research_workspaces_created_by_fkey FOREIGN KEY (created_by) REFERENCES users (id)
);
CREATE INDEX research_workspaces_page_idx ON research_workspaces (channel_id, updated_at DESC, id);
CREATE INDEX research_workspaces_reference_idx ON research_workspaces (id) WHERE inline_reference IS NOT NULL
""",
    "research_turns": """
CREATE TABLE research_turns (
    id text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    question text NOT NULL,
    requested_by text COLLATE "C" NOT NULL,
    evidence_job_id text COLLATE "C",
    answer_job_id text COLLATE "C",
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT research_turns_pkey PRIMARY KEY (id),
    CONSTRAINT research_turns_workspace_id_ordinal_key UNIQUE (workspace_id, ordinal),
    CONSTRAINT research_turns_workspace_id_request_id_key UNIQUE (workspace_id, request_id),
    CONSTRAINT research_turns_evidence_job_id_key UNIQUE (evidence_job_id),
    CONSTRAINT research_turns_answer_job_id_key UNIQUE (answer_job_id),
    CONSTRAINT research_turns_jobs_check CHECK (evidence_job_id <> answer_job_id),
    CONSTRAINT research_turns_workspace_id_fkey
        FOREIGN KEY (workspace_id) REFERENCES research_workspaces (id) ON DELETE CASCADE,
    CONSTRAINT research_turns_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES users (id),
    CONSTRAINT research_turns_evidence_job_id_fkey FOREIGN KEY (evidence_job_id) REFERENCES background_jobs (id),
    CONSTRAINT research_turns_answer_job_id_fkey FOREIGN KEY (answer_job_id) REFERENCES background_jobs (id)
)
""",
    "research_messages": """
CREATE TABLE research_messages (
    id text COLLATE "C" NOT NULL,
    workspace_id text COLLATE "C" NOT NULL,
    sequence integer NOT NULL,
    turn_id text COLLATE "C",
    author text NOT NULL,
    user_id text COLLATE "C",
    handle text,
    text text NOT NULL,
    source_job_id text COLLATE "C",
    created_at timestamptz NOT NULL,
    CONSTRAINT research_messages_pkey PRIMARY KEY (id),
    CONSTRAINT research_messages_workspace_id_sequence_key UNIQUE (workspace_id, sequence),
    CONSTRAINT research_messages_source_job_id_key UNIQUE (source_job_id),
    CONSTRAINT research_messages_workspace_id_fkey
        FOREIGN KEY (workspace_id) REFERENCES research_workspaces (id) ON DELETE CASCADE,
    CONSTRAINT research_messages_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES research_turns (id) ON DELETE CASCADE,
    CONSTRAINT research_messages_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT research_messages_source_job_id_fkey FOREIGN KEY (source_job_id) REFERENCES background_jobs (id)
);
CREATE INDEX research_messages_turn_id_idx ON research_messages (turn_id)
""",
}
"""What each table is made of, as it was when this revision was written."""


def upgrade() -> None:
    """On a database that a later baseline made there is nothing to do."""
    known = inspect(op.get_bind()).get_table_names()
    for table, statements in TABLES.items():
        if table not in known:
            for statement in statements.split(";\n"):
                op.execute(statement)
