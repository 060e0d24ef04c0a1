-- name: NewIDs :one
-- Ids for new records, in one row.
-- all orgs: ids come from one sequence.
SELECT array_agg(nextval('evidence_ids'))::bigint[] AS ids FROM generate_series(1, @number::integer);

-- name: ClaimKeys :many
-- Claims keys for ids. Whoever claimed one before keeps it: the id that is returned is
-- then another one, and the key is kept for as long as its record is. Others who claim the same keys wait until the transaction ends.
INSERT INTO evidence_keys (org_id, key, id, content, holder, expires)
SELECT @org_id, c.key, c.id, nullif(c.content, ''), CASE WHEN NOT c.lasts THEN @holder::bigint END, CASE WHEN NOT c.lasts THEN @expires::date END
FROM (
  SELECT unnest(@keys::bytea[]) AS key, unnest(@ids::bigint[]) AS id, unnest(@contents::bytea[]) AS content, unnest(@lasts::boolean[]) AS lasts
  ORDER BY 1
) AS c
ON CONFLICT (org_id, key) DO UPDATE SET expires = CASE WHEN evidence_keys.expires IS NOT NULL THEN greatest(evidence_keys.expires, excluded.expires) END
RETURNING key, id, content, coalesce(holder, 0)::bigint AS holder;

-- name: FindKeys :many
-- Whose keys are, of those that were claimed.
SELECT key, id, content FROM evidence_keys
WHERE org_id = @org_id AND key = ANY (@keys::bytea[]);

-- name: PassKeys :exec
-- Passes keys on to other records.
UPDATE evidence_keys k SET id = c.id
FROM (SELECT unnest(@keys::bytea[]) AS key, unnest(@ids::bigint[]) AS id) AS c
WHERE k.org_id = @org_id AND k.key = c.key;

-- name: FindIdleEffects :many
-- Those of the side effects that are known not to have happened.
SELECT id FROM evidence_records
WHERE org_id = @org_id AND kind = 'side-effect-ledger' AND id = ANY (@ids::bigint[]) AND state IN ('failed', 'not_applied');

-- name: TakeLease :exec
-- Makes a lease of so many seconds.
INSERT INTO evidence_leases (org_id, id, until, digest)
SELECT @org_id, @id, clock_timestamp() + make_interval(secs => @seconds::double precision), sqlc.narg('digest')::bytea;

-- name: RenewLease :execrows
-- Makes a lease last for so many seconds from now, or longer, unless it has ended.
UPDATE evidence_leases SET until = greatest(until, now() + make_interval(secs => @seconds::double precision))
WHERE org_id = @org_id AND id = @id AND until > now();

-- name: ExtendLease :exec
-- Makes a lease last for so many seconds from now, or longer.
UPDATE evidence_leases SET until = greatest(until, now() + make_interval(secs => @seconds::double precision))
WHERE org_id = @org_id AND id = @id;

-- name: InheritLease :exec
-- Makes a lease last as long as those that it takes over.
UPDATE evidence_leases l SET until = greatest(l.until, o.until)
FROM (SELECT max(e.until) AS until FROM evidence_leases e WHERE e.org_id = @org_id AND e.id = ANY (@ids::bigint[])) AS o
WHERE l.org_id = @org_id AND l.id = @id;

-- name: CountLeases :one
-- How many of the leases have not ended, and are not of the same request.
SELECT count(*) FROM evidence_leases
WHERE org_id = @org_id AND id = ANY (@ids::bigint[]) AND until > now() AND NOT coalesce(digest = sqlc.narg('digest')::bytea, false);

-- name: HoldKeys :exec
-- Puts keys under a lease.
UPDATE evidence_keys SET holder = @holder::bigint
WHERE org_id = @org_id AND key = ANY (@keys::bytea[]);

-- name: DropLease :exec
-- Ends a lease.
DELETE FROM evidence_leases
WHERE org_id = @org_id AND id = @id;

-- name: DeleteExpiredKeys :execrows
-- Forgets the keys of records that are gone, a bounded number a call.
-- all orgs: records expire by age, and the sweeper has no organization.
DELETE FROM evidence_keys k
USING (SELECT e.org_id, e.key FROM evidence_keys e WHERE e.expires < current_date LIMIT 10000) AS gone
WHERE k.org_id = gone.org_id AND k.key = gone.key;

-- name: DeleteEndedLeases :execrows
-- Forgets leases that were not given back.
-- all orgs: leases end by age, and the sweeper has no organization.
DELETE FROM evidence_leases WHERE until < now() - interval '1 hour';

-- name: InsertRecord :exec
-- Makes a record.
INSERT INTO evidence_records (org_id, kind, id, name, idempotency_key, origin, actor, state, decision, runtime_id, runtime_key, connector_id, connector_key,
  trace_id, evaluation_run_id, raw_event_id, step_id, tool_id, invocation_id, decision_id, effect_id, explanation_id, report_id, failure_key, failure_mode,
  side_effect_class, body, occurred_at, created_at, updated_at)
VALUES (@org_id, @kind, @id, sqlc.narg('name'), sqlc.narg('idempotency_key'), @origin, @actor, sqlc.narg('state'), sqlc.narg('decision'), sqlc.narg('runtime_id'),
  sqlc.narg('runtime_key'), sqlc.narg('connector_id'), sqlc.narg('connector_key'), sqlc.narg('trace_id'), sqlc.narg('evaluation_run_id'), sqlc.narg('raw_event_id'),
  sqlc.narg('step_id'), sqlc.narg('tool_id'), sqlc.narg('invocation_id'), sqlc.narg('decision_id'), sqlc.narg('effect_id'), sqlc.narg('explanation_id'),
  sqlc.narg('report_id'), sqlc.narg('failure_key'), sqlc.narg('failure_mode'), sqlc.narg('side_effect_class'), @body, @occurred_at, @created_at, @created_at);

-- name: FindRecords :many
-- Records by their ids.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND id = ANY (@ids::bigint[]);

-- name: FindTargets :many
-- The kinds of records, and their keys.
SELECT id, kind, name FROM evidence_records
WHERE org_id = @org_id AND id = ANY (@ids::bigint[]);

-- name: FindRecord :one
-- One record of a kind.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND id = @id;


-- name: LockRecords :many
-- Records of a kind, kept from changing until the transaction ends.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND id = ANY (@ids::bigint[])
ORDER BY id
FOR UPDATE;

-- name: FindThings :many
-- Records of a kind by their keys.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND name = ANY (@names::text[]);

-- name: FindParties :many
-- A runtime and a connector by their keys.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND (kind = 'runtimes' AND name = @runtime::text OR kind = 'connectors' AND name = @connector::text);

-- name: FindPendingApproval :one
-- The approval of an action that was asked for and is not decided yet.
SELECT id FROM evidence_records
WHERE org_id = @org_id AND kind = 'approvals' AND state = 'pending' AND origin = 'platform' AND body ->> 'input_digest' = @digest::text
ORDER BY id DESC
LIMIT 1;

-- name: ListAskers :many
-- Different callers who asked for approvals of an action, in whatever state these are, and for
-- how many. Both are read up to a number.
WITH asked AS (
  SELECT r.body -> 'requesters' AS askers FROM evidence_records r
  WHERE r.org_id = @org_id AND r.kind = 'approvals' AND r.body ->> 'input_digest' = @digest::text
  LIMIT @most::integer
)
SELECT DISTINCT asker::text, (SELECT count(*) FROM asked) AS approvals
FROM asked, json_array_elements(asked.askers) AS asker
LIMIT @askers::integer;

-- name: FindDecisionOf :one
-- The newest decision of the platform about a call of a runtime that somebody may act on.
SELECT id FROM evidence_records
WHERE org_id = @org_id AND kind = 'policy-decisions' AND invocation_id = @invocation_id::text AND runtime_key = @runtime_key::text AND origin = 'platform'
  AND body ->> 'mode' = 'enforce'
ORDER BY id DESC
LIMIT 1;

-- name: CountEffects :many
-- How many side effects of some traces are in which state. One that was undone was looked for
-- if it was found to be gone.
SELECT trace_id, coalesce(state, '')::text AS state, coalesce(body ->> 'side_effect_class', '')::text AS class, (body ->> 'overdue' IS NOT DISTINCT FROM 'true')::boolean AS overdue,
       (body -> 'verification' IS NOT NULL AND (state IS DISTINCT FROM 'compensated' OR body -> 'verification' ->> 'result' IS NOT DISTINCT FROM 'absent'))::boolean AS looked, count(*) AS number
FROM evidence_records
WHERE org_id = @org_id AND kind = 'side-effect-ledger' AND trace_id = ANY (@traces::bytea[])
GROUP BY 1, 2, 3, 4, 5;

-- name: HasUndo :one
-- Whether a side effect that was allowed, and may have happened, undoes another one.
SELECT EXISTS (
  SELECT 1 FROM evidence_records
  WHERE org_id = @org_id AND kind = 'side-effect-ledger' AND effect_id = @effect_id::bigint AND body ->> 'authorization' = 'allowed'
    AND state NOT IN ('failed', 'not_applied')
);

-- name: KeepHistory :exec
-- Notes what a record is before it changes.
INSERT INTO evidence_history (org_id, record_id, version, state, decision, body, actor, replaced_at)
SELECT r.org_id, r.id, r.version, r.state, r.decision, r.body, @actor, @replaced_at
FROM evidence_records r
WHERE r.org_id = @org_id AND r.kind = @kind AND r.id = @id AND r.version = @version;

-- name: MoveRecord :execrows
-- Changes a record, if it is still the one that was read.
UPDATE evidence_records
SET state = sqlc.narg('state'), decision = sqlc.narg('decision'), decision_id = sqlc.narg('decision_id'), side_effect_class = sqlc.narg('side_effect_class'), body = @body, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND kind = @kind AND id = @id AND version = @expected_version;

-- name: TouchRecords :exec
-- Notes counters and times of records that are not a change of them.
UPDATE evidence_records r SET body = t.body::json
FROM (SELECT unnest(@ids::bigint[]) AS id, unnest(@bodies::text[]) AS body) AS t
WHERE r.org_id = @org_id AND r.kind = @kind AND r.id = t.id;

-- name: InsertNormalization :one
-- Notes that events are to be read again, unless they are being read.
INSERT INTO evidence_normalizations (org_id, events, state, actor, created_at, updated_at)
VALUES (@org_id, @events, 'running', @actor, @created_at, @created_at)
ON CONFLICT (org_id) WHERE state = 'running' DO NOTHING
RETURNING *;

-- name: FindNormalization :one
-- How far reading events again is.
SELECT * FROM evidence_normalizations
WHERE org_id = @org_id AND id = @id;

-- name: FindRunningNormalization :one
-- The one that is under way, which stays so until the transaction ends.
SELECT * FROM evidence_normalizations
WHERE org_id = @org_id AND state = 'running'
FOR UPDATE;

-- name: MoveNormalization :exec
-- Notes how far it is. Whoever was slower notes nothing.
UPDATE evidence_normalizations
SET position = @position, read = read + @read, changed = changed + @changed, refused = refused + @refused, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND state = 'running' AND position = @before;

-- name: EndNormalization :exec
-- Notes that all events were read.
UPDATE evidence_normalizations
SET state = 'completed', completed_at = @completed_at, updated_at = @completed_at
WHERE org_id = @org_id AND id = @id AND state = 'running';

-- name: TakeCursor :one
-- How far the traces were read, for the one who is to read on; none if another reads. The
-- first to ask begins at the place that it names.
INSERT INTO evidence_cursors AS c (org_id, at_ms, trace_id, holder, until)
VALUES (@org_id, @at_ms, decode(repeat('00', 16), 'hex'), @holder, now() + make_interval(secs => @seconds::float8))
ON CONFLICT (org_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE c.holder = excluded.holder OR c.until < now()
RETURNING at_ms, trace_id;

-- name: MoveCursor :exec
-- Notes how far the traces were read, and lets others read on, if no other has.
UPDATE evidence_cursors SET at_ms = @at_ms, trace_id = @trace_id, until = now()
WHERE org_id = @org_id AND holder = @holder AND at_ms = @before_ms AND trace_id = @before_id;

-- name: ListMovers :many
-- Who moved some records to one of some states, which they have not left since. The newest 100
-- changes of each are looked at.
WITH moves AS (
  SELECT r.id, h.version, h.actor AS creator, h.state AS was, lag(h.state, 1, r.state) OVER (PARTITION BY r.id ORDER BY h.version DESC) AS became
  FROM evidence_records r
  CROSS JOIN LATERAL (
    SELECT v.version, v.state, v.actor FROM evidence_history v
    WHERE v.org_id = r.org_id AND v.record_id = r.id
    ORDER BY v.version DESC LIMIT 100
  ) h
  WHERE r.org_id = @org_id AND r.id = ANY (@ids::bigint[])
), lasting AS (
  SELECT m.id, m.creator, m.was, m.became, bool_and(m.became = ANY (@states::text[])) OVER (PARTITION BY m.id ORDER BY m.version DESC) AS stayed
  FROM moves m
)
SELECT DISTINCT id::bigint AS id, creator::text AS creator FROM lasting WHERE stayed AND was IS DISTINCT FROM became;
