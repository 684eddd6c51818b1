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
BEGIN
    -- A takeover waits for the row, a renewal does not; writes under one lease wait for each other at the advisory lock.
    PERFORM pg_advisory_xact_lock({LEASE_LOCKS}, hashtext(p_lease))
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
$function$
"""

_create = DDL(COMMIT.replace("%", "%%"))  # type: ignore[no-untyped-call]  # because SQLAlchemy left its __init__ untyped
event.listen(metadata, "after_create", _create)
