-- A database as the first release of Chopin made it, frozen: revision 0001 of that time, which today makes more.
-- The trigram index is not here, because not every server can have it.

CREATE TABLE alembic_version (
    version_num varchar(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('0001_baseline');

CREATE TABLE chopin_migrations (
    id text COLLATE "C" NOT NULL,
    file text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT chopin_migrations_pkey PRIMARY KEY (id)
);

CREATE TABLE storage_leases (
    name text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    fencing bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT storage_leases_pkey PRIMARY KEY (name),
    CONSTRAINT storage_leases_fencing_check CHECK (fencing >= 1)
);

CREATE TABLE users (
    id text COLLATE "C" NOT NULL,
    login text NOT NULL,
    avatar_url text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (id)
);

CREATE TABLE channels (
    id text COLLATE "C" NOT NULL,
    repository_id text COLLATE "C" NOT NULL,
    repository_owner text NOT NULL,
    repository_name text NOT NULL,
    parent_channel_id text COLLATE "C",
    title text NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    next_sequence bigint DEFAULT 1 NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    generated_description text,
    generated_description_revision bigint DEFAULT 0 NOT NULL,
    generated_description_plan_revision bigint,
    generated_description_source_hash text,
    generated_description_generator_version integer,
    generated_description_job_id text,
    generated_description_updated_at timestamptz,
    CONSTRAINT channels_pkey PRIMARY KEY (id),
    CONSTRAINT channels_repository_id_id_key UNIQUE (repository_id, id),
    CONSTRAINT channels_generated_description_check
        CHECK (num_nonnulls(generated_description, generated_description_plan_revision, generated_description_source_hash, generated_description_generator_version, generated_description_job_id, generated_description_updated_at) = CASE generated_description_revision WHEN 0 THEN 0 ELSE 6 END),
    CONSTRAINT channels_parent_channel_id_fkey
        FOREIGN KEY (parent_channel_id) REFERENCES channels (id) ON DELETE RESTRICT,
    CONSTRAINT channels_created_by_fkey FOREIGN KEY (created_by) REFERENCES users (id)
);
CREATE INDEX channels_active_catalogue_idx ON channels (repository_id, updated_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX channels_catalogue_idx ON channels (repository_id, updated_at DESC, id);
CREATE INDEX channels_children_idx ON channels (parent_channel_id) WHERE parent_channel_id IS NOT NULL;
CREATE INDEX channels_scan_idx ON channels (repository_id, created_at DESC, id);

CREATE TABLE channel_events (
    channel_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    ordinal integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    payload json NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT channel_events_pkey PRIMARY KEY (channel_id, sequence, ordinal),
    CONSTRAINT channel_events_channel_id_id_key UNIQUE (channel_id, id),
    CONSTRAINT channel_events_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);

CREATE TABLE channel_operations (
    channel_id text COLLATE "C" NOT NULL,
    operation_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT channel_operations_pkey PRIMARY KEY (channel_id, operation_id),
    CONSTRAINT channel_operations_channel_id_sequence_key UNIQUE (channel_id, sequence),
    CONSTRAINT channel_operations_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);

CREATE TABLE channel_search (
    channel_id text COLLATE "C" NOT NULL,
    repository_id text COLLATE "C" NOT NULL,
    title_key text NOT NULL,
    description_key text,
    CONSTRAINT channel_search_pkey PRIMARY KEY (channel_id),
    CONSTRAINT channel_search_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);
COMMENT ON TABLE channel_search IS 'title and description in lower case as Python has it; apart from channels, whose rows move with every commit';
CREATE INDEX channel_search_title_idx ON channel_search USING hash (title_key);

CREATE TABLE channel_sections (
    channel_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    value json NOT NULL,
    CONSTRAINT channel_sections_pkey PRIMARY KEY (channel_id, name),
    CONSTRAINT channel_sections_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);

CREATE TABLE channel_slugs (
    repository_id text COLLATE "C" NOT NULL,
    slug text COLLATE "C" NOT NULL,
    channel_id text COLLATE "C" NOT NULL,
    canonical boolean NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT channel_slugs_pkey PRIMARY KEY (repository_id, slug),
    CONSTRAINT channel_slugs_repository_id_channel_id_fkey
        FOREIGN KEY (repository_id, channel_id) REFERENCES channels (repository_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX channel_slugs_canonical_idx ON channel_slugs (channel_id) WHERE canonical;
CREATE INDEX channel_slugs_channel_id_idx ON channel_slugs (channel_id);

CREATE TABLE channel_snapshots (
    channel_id text COLLATE "C" NOT NULL,
    generation text NOT NULL,
    revision bigint NOT NULL,
    through_sequence bigint NOT NULL,
    epoch text NOT NULL,
    source text NOT NULL,
    source_hash text NOT NULL,
    document bytea NOT NULL,
    sidecar json NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT channel_snapshots_pkey PRIMARY KEY (channel_id),
    CONSTRAINT channel_snapshots_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);

CREATE TABLE channel_state (
    channel_id text COLLATE "C" NOT NULL,
    head json,
    unanswered_decisions integer DEFAULT 0 NOT NULL,
    CONSTRAINT channel_state_pkey PRIMARY KEY (channel_id),
    CONSTRAINT channel_state_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
)
 WITH (fillfactor = 70);
COMMENT ON COLUMN channel_state.head IS 'of the sidecar; absent until one is written';

CREATE TABLE channel_updates (
    channel_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    revision bigint NOT NULL,
    epoch text NOT NULL,
    update bytea NOT NULL,
    CONSTRAINT channel_updates_pkey PRIMARY KEY (channel_id, sequence),
    CONSTRAINT channel_updates_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels (id) ON DELETE CASCADE
);



CREATE OR REPLACE FUNCTION chopin_commit(
    p_lease text, p_owner text, p_fencing bigint,
    p_channel text, p_operation text, p_expected bigint, p_epoch text, p_at timestamptz,
    p_update bytea,       -- null: nothing for the journal
    p_archived boolean,   -- may go to an archived channel
    p_head text,          -- of the sidecar; null: it is kept as it is
    p_whole boolean,      -- sections that are not given are dropped
    p_unanswered integer, -- null: the count is kept
    p_sections json,      -- name: the text of its JSON, or null to drop it; null: none
    p_events json,        -- [{id, kind, payload: the text of its JSON, at}]; null: none
    OUT outcome text, OUT at_revision bigint, OUT at_sequence bigint, OUT event_id text
)
LANGUAGE plpgsql VOLATILE
AS $function$
BEGIN
    -- A takeover waits for the row, a renewal does not; writes under one lease wait for each other at the advisory lock.
    PERFORM pg_advisory_xact_lock(2043237435, hashtext(p_lease))
        FROM (SELECT FROM storage_leases WHERE name = p_lease FOR KEY SHARE) AS guarded;
    -- NO KEY: writes exclude each other, but a child's foreign key need not wait.
    PERFORM FROM channels WHERE id = p_channel FOR NO KEY UPDATE;

    SELECT
        CASE
            WHEN (l.owner = p_owner AND l.fencing = p_fencing AND l.expires_at > clock_timestamp()) IS NOT TRUE THEN 'fenced'
            WHEN c.id IS NULL THEN 'missing'
            WHEN o.revision IS NOT NULL THEN 'repeated'
            WHEN c.archived_at IS NOT NULL AND NOT p_archived THEN 'archived'
            WHEN c.revision <> p_expected THEN 'stale'
            WHEN s.channel_id IS NULL THEN 'stateless'
            ELSE 'kept'
        END,
        coalesce(o.revision, c.revision), coalesce(o.sequence, c.next_sequence)
        INTO outcome, at_revision, at_sequence
        FROM (SELECT) AS asked
            LEFT JOIN storage_leases l ON l.name = p_lease
            LEFT JOIN channels c ON c.id = p_channel
            LEFT JOIN channel_operations o ON o.channel_id = p_channel AND o.operation_id = p_operation
            LEFT JOIN channel_state s ON s.channel_id = p_channel;
    IF outcome = 'kept' AND p_events IS NOT NULL THEN
        SELECT given.id INTO event_id
            FROM ROWS FROM (json_to_recordset(p_events) AS (id text)) WITH ORDINALITY AS given (id, place)
            WHERE EXISTS (SELECT FROM channel_events k WHERE k.channel_id = p_channel AND k.id = given.id)
                OR EXISTS (
                    SELECT FROM ROWS FROM (json_to_recordset(p_events) AS (id text)) WITH ORDINALITY AS before (id, place)
                    WHERE before.id = given.id AND before.place < given.place
                )
            ORDER BY given.place LIMIT 1;
        IF FOUND THEN
            outcome := 'event';
        END IF;
    END IF;
    IF outcome <> 'kept' THEN
        RETURN;
    END IF;

    at_revision := at_revision + 1;
    WITH
        operation AS (
            INSERT INTO channel_operations (channel_id, operation_id, sequence, revision)
            VALUES (p_channel, p_operation, at_sequence, at_revision)
        ),
        journal AS (
            INSERT INTO channel_updates (channel_id, sequence, revision, epoch, update)
            SELECT p_channel, at_sequence, at_revision, p_epoch, p_update WHERE p_update IS NOT NULL
        ),
        state AS (
            UPDATE channel_state
            SET head = p_head::json, unanswered_decisions = coalesce(p_unanswered, unanswered_decisions)
            WHERE channel_id = p_channel AND p_head IS NOT NULL
        )
        UPDATE channels
            SET revision = at_revision, next_sequence = at_sequence + 1, updated_at = greatest(updated_at, p_at)
            WHERE id = p_channel;
    IF p_whole THEN
        DELETE FROM channel_sections WHERE channel_id = p_channel;
    END IF;
    IF p_sections IS NOT NULL THEN
        DELETE FROM channel_sections k
            USING json_each_text(p_sections) AS given (name, value)
            WHERE k.channel_id = p_channel AND k.name = given.name AND given.value IS NULL;
        INSERT INTO channel_sections (channel_id, name, value)
            SELECT p_channel, given.name, given.value::json
            FROM json_each_text(p_sections) AS given (name, value)
            WHERE given.value IS NOT NULL
            ON CONFLICT (channel_id, name) DO UPDATE SET value = excluded.value;
    END IF;
    IF p_events IS NOT NULL THEN
        INSERT INTO channel_events (channel_id, sequence, ordinal, id, kind, payload, created_at)
            SELECT p_channel, at_sequence, given.place - 1, given.id, given.kind, given.payload::json, given.at
            FROM ROWS FROM (json_to_recordset(p_events) AS (id text, kind text, payload text, at timestamptz))
                WITH ORDINALITY AS given (id, kind, payload, at, place);
    END IF;
END
$function$;

INSERT INTO chopin_migrations (id, file, checksum)
    VALUES ('0001_baseline', '0001_baseline.py', '8bc571b786e4b6c73901542edb2514ea2ef20ce38a477415a41776c23f87e7c2');
