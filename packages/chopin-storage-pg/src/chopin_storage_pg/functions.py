"""
``chopin_commit``: everything a commit does, in one statement and so in one round trip.

A function, because a keystroke is durable only after its locks, its checks and some four writes, and a round trip for each
costs more than the disk does. In PL/pgSQL, because there, under READ COMMITTED, every statement sees what was committed
before *it* began: the judgement after a wait for a lock sees what the lock's former holder did, which one big statement
would not. We gave up having these steps in Python; they decide nothing that the port does not state.

Its locks are those of ``locks.py``, in that order; the lease is judged after the last wait for one.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import DDL, event

from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.tables import metadata

COMMIT: Final = f"""
CREATE OR REPLACE FUNCTION chopin_commit(
    p_lease text, p_owner text, p_fencing bigint,
    p_channel text, p_operation text, p_expected bigint, p_epoch text, p_at timestamptz,
    p_update bytea,       -- null: nothing for the journal
    p_archived boolean,   -- may go to an archived channel
    p_head text,          -- of the sidecar; null: it is kept as it is
    p_whole boolean,      -- sections that are not given are dropped
    p_unanswered integer, -- null: the count is kept
    p_sections json,      -- name: the text of its JSON, or null to drop it; null: none
    p_events json,        -- [{{id, kind, payload: the text of its JSON, at}}]; null: none
    OUT outcome text, OUT at_revision bigint, OUT at_sequence bigint, OUT event_id text
)
LANGUAGE plpgsql VOLATILE
AS $function$
DECLARE
    known boolean;
    archived timestamptz;
    held boolean;
    earlier channel_operations%ROWTYPE;
BEGIN
    -- A takeover waits for the row, a renewal does not; writes under one lease wait for each other at the advisory lock.
    PERFORM FROM storage_leases WHERE name = p_lease FOR KEY SHARE;
    IF FOUND THEN
        PERFORM pg_advisory_xact_lock({LEASE_LOCKS}, hashtext(p_lease));
    END IF;
    -- NO KEY: writes exclude each other, but a child's foreign key need not wait. What a lock waited for is what it reads.
    SELECT c.revision, c.next_sequence, c.archived_at INTO at_revision, at_sequence, archived
        FROM channels c WHERE c.id = p_channel FOR NO KEY UPDATE;
    known := FOUND;
    SELECT l.owner = p_owner AND l.fencing = p_fencing AND l.expires_at > clock_timestamp() INTO held
        FROM storage_leases l WHERE l.name = p_lease;
    SELECT o.* INTO earlier
        FROM channel_operations o WHERE o.channel_id = p_channel AND o.operation_id = p_operation;

    IF held IS NOT TRUE THEN
        outcome := 'fenced';
    ELSIF NOT known THEN
        outcome := 'missing';
    ELSIF earlier.revision IS NOT NULL THEN
        outcome := 'repeated';
        at_revision := earlier.revision;
        at_sequence := earlier.sequence;
    ELSIF archived IS NOT NULL AND NOT p_archived THEN
        outcome := 'archived';
    ELSIF at_revision <> p_expected THEN
        outcome := 'stale';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    IF p_events IS NOT NULL THEN
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
            RETURN;
        END IF;
    END IF;

    -- One plain statement for each table: put together they take PostgreSQL longer. The first can still find nothing to write.
    IF p_head IS NULL THEN
        PERFORM FROM channel_state WHERE channel_id = p_channel;
    ELSE
        UPDATE channel_state
            SET head = p_head::json, unanswered_decisions = coalesce(p_unanswered, unanswered_decisions)
            WHERE channel_id = p_channel;
    END IF;
    IF NOT FOUND THEN
        outcome := 'stateless';
        RETURN;
    END IF;
    outcome := 'kept';
    at_revision := at_revision + 1;
    INSERT INTO channel_operations (channel_id, operation_id, sequence, revision)
        VALUES (p_channel, p_operation, at_sequence, at_revision);
    IF p_update IS NOT NULL THEN
        INSERT INTO channel_updates (channel_id, sequence, revision, epoch, update)
            VALUES (p_channel, at_sequence, at_revision, p_epoch, p_update);
    END IF;
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
$function$
"""

CREATE_COMMIT: Final = DDL(COMMIT.replace("%", "%%"))  # type: ignore[no-untyped-call]  # because SQLAlchemy left its __init__ untyped
event.listen(metadata, "after_create", CREATE_COMMIT)
