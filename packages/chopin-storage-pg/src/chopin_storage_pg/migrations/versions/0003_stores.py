"""Web sessions, agents, navigation, images, machines and background jobs, on a database that was made without them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0003_stores"
down_revision = "0002_plain_commit"
branch_labels = None
depends_on = None

TABLES = {
    "web_sessions": """
CREATE TABLE web_sessions (
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    secret_hash bytea,
    ciphertext bytea,
    credential_revision bigint,
    CONSTRAINT web_sessions_pkey PRIMARY KEY (id),
    CONSTRAINT web_sessions_credentials_check
        CHECK (num_nonnulls(secret_hash, ciphertext, credential_revision) IN (0, 3)),
    CONSTRAINT web_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
COMMENT ON COLUMN web_sessions.ciphertext IS 'opaque; its key is not in this database';
CREATE INDEX web_sessions_expires_at_idx ON web_sessions (expires_at)
""",
    "agent_state": """
CREATE TABLE agent_state (
    channel_id text COLLATE "C" NOT NULL,
    owner_session_id text COLLATE "C",
    generation bigint NOT NULL,
    summary text DEFAULT '' NOT NULL,
    transcript_cursor bigint DEFAULT 0 NOT NULL,
    status text NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT agent_state_pkey PRIMARY KEY (channel_id),
    CONSTRAINT agent_state_status_check CHECK (status IN ('ready', 'unavailable')),
    CONSTRAINT agent_state_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE,
    CONSTRAINT agent_state_owner_session_id_fkey FOREIGN KEY (owner_session_id) REFERENCES web_sessions (id)
);
CREATE INDEX agent_state_owner_session_id_idx ON agent_state (owner_session_id) WHERE owner_session_id IS NOT NULL
""",
    "user_projects": """
CREATE TABLE user_projects (
    user_id text COLLATE "C" NOT NULL,
    repository_id text COLLATE "C" NOT NULL,
    repository_owner text NOT NULL,
    repository_name text NOT NULL,
    position integer NOT NULL,
    added_at timestamptz NOT NULL,
    CONSTRAINT user_projects_pkey PRIMARY KEY (user_id, repository_id),
    CONSTRAINT user_projects_user_id_position_key UNIQUE (user_id, position),
    CONSTRAINT user_projects_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id)
)
""",
    "user_navigation": """
CREATE TABLE user_navigation (
    user_id text COLLATE "C" NOT NULL,
    last_document_id text COLLATE "C",
    revision bigint NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT user_navigation_pkey PRIMARY KEY (user_id),
    CONSTRAINT user_navigation_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT user_navigation_last_document_id_fkey
        FOREIGN KEY (last_document_id) REFERENCES channels (id) ON DELETE SET NULL
);
CREATE INDEX user_navigation_last_document_id_idx ON user_navigation (last_document_id)
""",
    "plan_images": """
CREATE TABLE plan_images (
    channel_id text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    type text NOT NULL,
    content bytea NOT NULL,
    uploaded_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT plan_images_pkey PRIMARY KEY (channel_id, sha256),
    CONSTRAINT plan_images_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE,
    CONSTRAINT plan_images_uploaded_by_fkey FOREIGN KEY (uploaded_by) REFERENCES users (id)
);
CREATE INDEX plan_images_sha256_idx ON plan_images (sha256)
""",
    "machines": """
CREATE TABLE machines (
    id text COLLATE "C" NOT NULL,
    owner_id text COLLATE "C" NOT NULL,
    label text NOT NULL,
    repositories json NOT NULL,
    auto_run boolean NOT NULL,
    token_hash bytea NOT NULL,
    ciphertext bytea,
    credential_revision bigint,
    last_contact_at timestamptz,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT machines_pkey PRIMARY KEY (id),
    CONSTRAINT machines_token_hash_key UNIQUE (token_hash),
    CONSTRAINT machines_credentials_check CHECK (num_nonnulls(ciphertext, credential_revision) IN (0, 2)),
    CONSTRAINT machines_revoked_check CHECK (revoked_at IS NULL OR ciphertext IS NULL),
    CONSTRAINT machines_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users (id)
);
COMMENT ON COLUMN machines.ciphertext IS 'opaque; its key is not in this database';
CREATE INDEX machines_owner_id_idx ON machines (owner_id)
""",
    "machine_choices": """
CREATE TABLE machine_choices (
    user_id text COLLATE "C" NOT NULL,
    channel_id text COLLATE "C" NOT NULL,
    machine_id text COLLATE "C" NOT NULL,
    CONSTRAINT machine_choices_pkey PRIMARY KEY (user_id, channel_id),
    CONSTRAINT machine_choices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT machine_choices_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE,
    CONSTRAINT machine_choices_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines (id)
);
CREATE INDEX machine_choices_channel_id_idx ON machine_choices (channel_id);
CREATE INDEX machine_choices_machine_id_idx ON machine_choices (machine_id)
""",
    "machine_favourites": """
CREATE TABLE machine_favourites (
    user_id text COLLATE "C" NOT NULL,
    machine_id text COLLATE "C" NOT NULL,
    CONSTRAINT machine_favourites_pkey PRIMARY KEY (user_id),
    CONSTRAINT machine_favourites_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT machine_favourites_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines (id)
);
CREATE INDEX machine_favourites_machine_id_idx ON machine_favourites (machine_id)
""",
    "background_job_channels": """
CREATE TABLE background_job_channels (
    channel_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT background_job_channels_pkey PRIMARY KEY (channel_id),
    CONSTRAINT background_job_channels_channel_id_fkey
        FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
)
""",
    "background_job_targets": """
CREATE TABLE background_job_targets (
    channel_id text COLLATE "C" NOT NULL,
    target_key text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    CONSTRAINT background_job_targets_pkey PRIMARY KEY (channel_id, target_key),
    CONSTRAINT background_job_targets_channel_id_fkey
        FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
)
""",
    "background_jobs": """
CREATE TABLE background_jobs (
    id text COLLATE "C" NOT NULL,
    channel_id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    version integer NOT NULL,
    target_key text COLLATE "C" NOT NULL,
    target_generation bigint NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    origin text NOT NULL,
    input json NOT NULL,
    state text NOT NULL,
    revision bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    failures bigint DEFAULT 0 NOT NULL,
    claim_generation bigint DEFAULT 0 NOT NULL,
    claim_owner text,
    claim_expires_at timestamptz,
    claim_binding json,
    available_at timestamptz NOT NULL,
    reason text,
    progress json NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT background_jobs_pkey PRIMARY KEY (id),
    CONSTRAINT background_jobs_channel_id_idempotency_key_key UNIQUE (channel_id, idempotency_key),
    CONSTRAINT background_jobs_claim_check
        CHECK (num_nonnulls(claim_owner, claim_expires_at) = CASE state WHEN 'running' THEN 2 ELSE 0 END),
    CONSTRAINT background_jobs_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);
CREATE INDEX background_jobs_due_idx ON background_jobs (coalesce(claim_expires_at, available_at), created_at, id)
    WHERE state IN ('pending', 'running');
CREATE INDEX background_jobs_open_idx ON background_jobs (channel_id, target_key)
    WHERE state IN ('pending', 'paused', 'running');
CREATE INDEX background_jobs_page_idx ON background_jobs (channel_id, created_at DESC, id)
""",
    "background_job_artifacts": """
CREATE TABLE background_job_artifacts (
    job_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    value json NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT background_job_artifacts_pkey PRIMARY KEY (job_id),
    CONSTRAINT background_job_artifacts_job_id_fkey
        FOREIGN KEY (job_id) REFERENCES background_jobs (id) ON DELETE CASCADE
)
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
