-- name: InsertRule :one
-- Makes a rule; its cursor follows.
INSERT INTO judge_rules (org_id, key, name, description, config_id, filter, sampling_key, sample_rate, status, spend_cap_nano, cap_period, activation, created_by, created_at, updated_at)
VALUES (@org_id, @key, @name, @description, @config_id, @filter, @sampling_key, @sample_rate, @status, sqlc.narg('spend_cap_nano'), @cap_period, @activation, @created_by, @created_at, @created_at)
RETURNING id;

-- name: PutCursor :exec
-- Lets a rule begin with the traces that arrive from now on. What was counted
-- stays.
INSERT INTO judge_rule_cursors (org_id, rule_id, step, ended_ms, ended_id, idle_ms, idle_id)
VALUES (@org_id, @rule_id, 0, @at_ms, '', @at_ms, '')
ON CONFLICT (org_id, rule_id) DO UPDATE
SET step = judge_rule_cursors.step + 1, ended_ms = @at_ms, ended_id = '', idle_ms = @at_ms, idle_id = '',
    blocked_code = NULL, blocked_message = NULL, blocked_at = NULL;

-- name: FindRule :one
-- One rule.
SELECT sqlc.embed(r), sqlc.embed(c)
FROM judge_rules r
JOIN judge_rule_cursors c ON c.org_id = r.org_id AND c.rule_id = r.id
WHERE r.org_id = @org_id AND r.id = @id;

-- name: LockRule :one
-- One rule, kept from changing until the transaction ends.
SELECT sqlc.embed(r), sqlc.embed(c)
FROM judge_rules r
JOIN judge_rule_cursors c ON c.org_id = r.org_id AND c.rule_id = r.id
WHERE r.org_id = @org_id AND r.id = @id
FOR UPDATE OF r;

-- name: ListRules :many
-- A page of rules, newest first; an absent filter matches everything.
SELECT sqlc.embed(r), sqlc.embed(c)
FROM judge_rules r
JOIN judge_rule_cursors c ON c.org_id = r.org_id AND c.rule_id = r.id
WHERE r.org_id = @org_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR r.status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR r.key = sqlc.narg('key'))
  AND (sqlc.narg('config_id')::bigint IS NULL OR r.config_id = sqlc.narg('config_id'))
  AND r.id < @below
ORDER BY r.id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountRules :one
-- How many rules the same filters match.
SELECT count(*)
FROM judge_rules
WHERE org_id = @org_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR key = sqlc.narg('key'))
  AND (sqlc.narg('config_id')::bigint IS NULL OR config_id = sqlc.narg('config_id'));

-- name: LockLimits :exec
-- Waits until no other transaction of the organization counts its rules or back-fills.
SELECT pg_advisory_xact_lock(hashtextextended('judge_rules ' || @org_id::text, 0));

-- name: UpdateRule :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE judge_rules
SET name = @name, description = @description, config_id = @config_id, filter = @filter, sample_rate = @sample_rate, status = @status,
    spend_cap_nano = sqlc.narg('spend_cap_nano'), cap_period = @cap_period, activation = @activation, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND version = @expected_version AND status = @expected_status;

-- name: DeleteRule :execrows
-- Removes a rule with its back-fills and counts.
DELETE FROM judge_rules WHERE org_id = @org_id AND id = @id;

-- name: Tallies :many
-- What became of the traces of some rules and back-fills.
SELECT rule_id, backfill_id, outcome, reason, traces, cost_nano
FROM judge_rule_tallies
WHERE org_id = @org_id AND rule_id = ANY (@rules::bigint[]) AND backfill_id = ANY (@backfills::bigint[])
ORDER BY rule_id, backfill_id, outcome, reason;

-- name: Claim :many
-- Claims traces that have no claim yet.
INSERT INTO judge_rule_claims (org_id, config_id, config_version, trace_id, rule_id, backfill_id, activation, claimed_at, reason, cost_nano)
SELECT @org_id, @config_id, @config_version, t.id, @rule_id, @backfill_id, @activation, @claimed_at, '', 0
FROM unnest(@traces::bytea[]) AS t (id)
ON CONFLICT DO NOTHING
RETURNING trace_id;

-- name: Claims :many
-- The claims of a rule or a back-fill.
SELECT config_id, config_version, trace_id, claimed_at, outcome, reason, cost_nano
FROM judge_rule_claims
WHERE org_id = @org_id AND rule_id = @rule_id AND backfill_id = @backfill_id AND activation = @activation;

-- name: SettleClaim :exec
-- Notes what became of a claimed trace.
UPDATE judge_rule_claims
SET outcome = @outcome::text, reason = @reason, cost_nano = @cost_nano
WHERE org_id = @org_id AND config_id = @config_id AND config_version = @config_version AND trace_id = @trace_id
  AND rule_id = @rule_id AND backfill_id = @backfill_id AND activation = @activation;

-- name: CountClaims :exec
-- Adds the outcomes of a holder's claims to its tallies. A rule finds a trace again
-- whenever a late span arrives; that it was judged before counts for back-fills only.
INSERT INTO judge_rule_tallies (org_id, rule_id, backfill_id, outcome, reason, traces, cost_nano)
SELECT c.org_id, c.rule_id, c.backfill_id, c.outcome, c.reason, count(*), sum(c.cost_nano)
FROM judge_rule_claims c
WHERE c.org_id = @org_id AND c.rule_id = @rule_id AND c.backfill_id = @backfill_id AND c.activation = @activation AND c.outcome IS NOT NULL
  AND NOT (c.backfill_id = 0 AND c.reason = 'already_judged')
GROUP BY c.org_id, c.rule_id, c.backfill_id, c.outcome, c.reason
ON CONFLICT (org_id, rule_id, backfill_id, outcome, reason) DO UPDATE
SET traces = judge_rule_tallies.traces + excluded.traces, cost_nano = judge_rule_tallies.cost_nano + excluded.cost_nano;

-- name: AddSkipped :exec
-- Counts traces that were skipped without a claim.
INSERT INTO judge_rule_tallies (org_id, rule_id, backfill_id, outcome, reason, traces, cost_nano)
VALUES (@org_id, @rule_id, @backfill_id, 'skipped', @reason, @traces, 0)
ON CONFLICT (org_id, rule_id, backfill_id, outcome, reason) DO UPDATE
SET traces = judge_rule_tallies.traces + excluded.traces;

-- name: DropClaims :exec
-- Lets go of all claims of a holder.
DELETE FROM judge_rule_claims
WHERE org_id = @org_id AND rule_id = @rule_id AND backfill_id = @backfill_id AND activation = @activation;

-- name: MoveCursor :execrows
-- Moves a rule on, if nothing else has moved it since it was read.
UPDATE judge_rule_cursors
SET step = step + 1, ended_ms = @ended_ms, ended_id = @ended_id, idle_ms = @idle_ms, idle_id = @idle_id,
    blocked_code = CASE WHEN @looked::boolean THEN sqlc.narg('blocked_code') ELSE blocked_code END,
    blocked_message = CASE WHEN @looked::boolean THEN sqlc.narg('blocked_message') ELSE blocked_message END,
    blocked_at = CASE WHEN @looked::boolean THEN sqlc.narg('blocked_at') ELSE blocked_at END
WHERE org_id = @org_id AND rule_id = @rule_id AND step = @expected_step;

-- name: InsertBackfill :one
-- Makes a back-fill that is to run.
INSERT INTO judge_rule_backfills (org_id, rule_id, config_id, config_version, filter, sampling_key, sample_rate, from_at, to_at, max_traces, spend_cap_nano,
  status, matched, sampled, step, below_start, below_id, created_by, created_at, updated_at)
VALUES (@org_id, @rule_id, @config_id, @config_version, @filter, @sampling_key, @sample_rate, @from_at, @to_at, sqlc.narg('max_traces'), sqlc.narg('spend_cap_nano'),
  'running', 0, 0, 0, 0, '', @created_by, @created_at, @created_at)
RETURNING id;

-- name: FindBackfill :one
-- One back-fill.
SELECT * FROM judge_rule_backfills
WHERE org_id = @org_id AND id = @id;

-- name: LockBackfill :one
-- One back-fill, kept from changing until the transaction ends.
SELECT * FROM judge_rule_backfills
WHERE org_id = @org_id AND id = @id
FOR UPDATE;

-- name: ListBackfills :many
-- A page of a rule's back-fills, newest first.
SELECT * FROM judge_rule_backfills
WHERE org_id = @org_id AND rule_id = @rule_id AND id < @below
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountBackfills :one
-- How many back-fills a rule has.
SELECT count(*) FROM judge_rule_backfills
WHERE org_id = @org_id AND rule_id = @rule_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]));

-- name: CountRunning :one
-- How many back-fills, of one rule if it is named, are under way.
SELECT count(*) FROM judge_rule_backfills
WHERE org_id = @org_id AND status = 'running' AND (sqlc.narg('rule_id')::bigint IS NULL OR rule_id = sqlc.narg('rule_id'));

-- name: Holds :one
-- Whether a rule, or a back-fill if it is one, is still to have traces judged.
SELECT CASE WHEN @backfill_id::bigint = 0
  THEN EXISTS (SELECT FROM judge_rules r WHERE r.org_id = @org_id AND r.id = @rule_id AND r.status = 'active' AND r.activation = @activation)
  ELSE EXISTS (SELECT FROM judge_rule_backfills b WHERE b.org_id = @org_id AND b.id = @backfill_id AND b.status = 'running')
END::boolean AS holds;

-- name: SetBackfillTotal :exec
-- Notes how many traces match, once.
UPDATE judge_rule_backfills SET total = @total::bigint
WHERE org_id = @org_id AND id = @id AND total IS NULL;

-- name: MoveBackfill :execrows
-- Moves a back-fill on, if nothing else has moved it since it was read.
UPDATE judge_rule_backfills
SET step = step + 1, below_start = @below_start, below_id = @below_id, matched = matched + @matched, sampled = sampled + @sampled, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND step = @expected_step;

-- name: EndBackfill :execrows
-- Ends a back-fill that is running.
UPDATE judge_rule_backfills
SET status = @status, reason_code = sqlc.narg('reason_code'), reason_message = sqlc.narg('reason_message'), updated_at = @ended_at, ended_at = @ended_at
WHERE org_id = @org_id AND id = @id AND status = 'running';
