-- name: NewIDs :many
-- Ids for new records.
-- all orgs: ids come from one sequence.
SELECT nextval('evidence_ids')::bigint AS id FROM generate_series(1, @number::integer);

-- name: ClaimKeys :many
-- Claims keys for ids. Whoever claimed one before keeps it: the id that is returned is
-- then another one.
INSERT INTO evidence_keys (org_id, key, id, content)
SELECT @org_id, c.key, c.id, nullif(c.content, '')
FROM (SELECT unnest(@keys::bytea[]) AS key, unnest(@ids::bigint[]) AS id, unnest(@contents::bytea[]) AS content ORDER BY 1) AS c
ON CONFLICT (org_id, key) DO UPDATE SET shared = true
RETURNING key, id, content;

-- name: LockKeys :many
-- Keeps records of the stream from being changed by others until the transaction ends:
-- who claims one of the keys waits until then.
SELECT key, shared FROM evidence_keys
WHERE org_id = @org_id AND key = ANY (@keys::bytea[])
ORDER BY key
FOR UPDATE;

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

-- name: FindRecord :one
-- One record of a kind.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND id = @id;

-- name: LockRecord :one
-- One record, kept from changing until the transaction ends.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND id = @id
FOR UPDATE;

-- name: FindThings :many
-- Records of a kind by their keys.
SELECT * FROM evidence_records
WHERE org_id = @org_id AND kind = @kind AND name = ANY (@names::text[]);

-- name: KeepHistory :exec
-- Notes what a record is before it changes.
INSERT INTO evidence_history (org_id, record_id, version, state, decision, body, actor, replaced_at)
SELECT r.org_id, r.id, r.version, r.state, r.decision, r.body, @actor, @replaced_at
FROM evidence_records r
WHERE r.org_id = @org_id AND r.kind = @kind AND r.id = @id AND r.version = @version;

-- name: MoveRecord :execrows
-- Changes a record, if it is still the one that was read.
UPDATE evidence_records
SET state = sqlc.narg('state'), decision = sqlc.narg('decision'), body = @body, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND kind = @kind AND id = @id AND version = @expected_version;

-- name: TouchRecord :exec
-- Notes counters and times of a record that are not a change of it.
UPDATE evidence_records SET body = @body
WHERE org_id = @org_id AND kind = @kind AND id = @id;

-- name: CountRecords :many
-- How many records of each kind there are, and since when.
SELECT kind, count(*) AS records, count(*) FILTER (WHERE created_at > @since::timestamptz) AS recent, max(created_at)::timestamptz AS latest
FROM evidence_records
WHERE org_id = @org_id
GROUP BY kind;

-- name: CountStates :many
-- How many records of each kind are in each state, for the kinds that need attention.
SELECT kind, coalesce(state, '')::text AS state, coalesce(body ->> 'severity', '')::text AS severity, count(*) AS records
FROM evidence_records
WHERE org_id = @org_id AND kind = ANY (@kinds::text[])
GROUP BY 1, 2, 3;

-- name: CountExpiring :one
-- How many approvals wait that expire soon.
SELECT count(*) FROM evidence_records
WHERE org_id = @org_id AND kind = 'approvals' AND state = 'pending' AND (body ->> 'expires_at')::timestamptz < @before::timestamptz;
