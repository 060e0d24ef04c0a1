-- name: LockKey :one
-- Whether this transaction now holds the key. It does not wait: a request that
-- is still running is the caller's to repeat later.
SELECT pg_try_advisory_xact_lock(hashtextextended(@org_id::text || ' ' || @method::text || ' ' || @path::text || ' ' || @key::text, 0)) AS locked;

-- name: FindKey :one
-- What an earlier request with this key got back.
SELECT fingerprint, output, fault, created_at
FROM idempotency_keys
WHERE org_id = @org_id AND method = @method AND path = @path AND key = @key;

-- name: ForgetKey :exec
-- Forgets one key, whose day is over.
DELETE FROM idempotency_keys
WHERE org_id = @org_id AND method = @method AND path = @path AND key = @key;

-- name: RememberKey :exec
-- Keeps the answer for a repetition.
INSERT INTO idempotency_keys (org_id, method, path, key, fingerprint, output, fault, created_at)
VALUES (@org_id, @method, @path, @key, @fingerprint, sqlc.narg('output'), sqlc.narg('fault'), @created_at);

-- name: SweepKeys :execrows
-- Forgets keys that no repetition may use any longer, a bounded number a call.
-- all orgs: keys expire by age, and the sweeper has no organization.
DELETE FROM idempotency_keys k
WHERE ctid = ANY (ARRAY(SELECT i.ctid FROM idempotency_keys i WHERE i.created_at < @before LIMIT 10000));

-- name: Publish :exec
-- Promises work, in the transaction of the change that needs it.
INSERT INTO outbox (org_id, topic, subject, payload, due_at, created_at)
VALUES (@org_id, @topic, @subject, @payload, @due_at, @created_at);

-- name: Withdraw :exec
-- Takes back what was promised for a subject until a moment, to the millisecond.
DELETE FROM outbox WHERE org_id = @org_id AND topic = @topic AND subject = @subject
  AND date_trunc('milliseconds', created_at) <= @until;

-- name: Audit :exec
-- Writes who did what, and the event of it for those who follow along.
WITH entry AS (
  INSERT INTO audit_logs (org_id, at, actor_type, user_id, api_key_id, asserted, action, resource_type, resource_id, request_id, ip, before_digest, after_digest, digest_format)
  VALUES (@org_id, @at, @actor_type, sqlc.narg('user_id'), sqlc.narg('api_key_id'), @asserted, @action, @resource_type, @resource_id, @request_id, @ip, sqlc.narg('before_digest'), sqlc.narg('after_digest'), @digest_format)
  RETURNING org_id, at, action, resource_type, resource_id
)
INSERT INTO events (org_id, at, type, resource, resource_id, payload)
SELECT entry.org_id, entry.at, entry.action, entry.resource_type, entry.resource_id, @payload FROM entry;

-- name: AddFollower :exec
-- Makes a follower's cursor, unless it has one: at the beginning, or after what has been committed.
-- all orgs: a follower follows every organization.
INSERT INTO followers (name, xid, id, moved_at)
VALUES (@name, CASE WHEN @from_beginning::boolean THEN '0'::xid8 ELSE pg_snapshot_xmin(pg_current_snapshot()) END, 0, @at)
ON CONFLICT (name) DO NOTHING;

-- name: TakeEvents :many
-- Leases a follower to one holder and returns the events after its cursor, if there are any. Only those below the oldest
-- running transaction: one that is still running may commit a row that belongs before a row already visible.
-- all orgs: a follower follows every organization.
WITH taken AS (
  UPDATE followers f
  SET holder = @holder::uuid, leased_until = @lease_until
  WHERE f.name = @name AND f.leased_until <= @now
    AND EXISTS (
      SELECT 1 FROM events e
      WHERE (e.xid, e.id) > (f.xid, f.id) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
    )
  RETURNING f.xid, f.id, f.failures
)
SELECT e.org_id, e.id, e.xid::text AS xid, e.at, e.type, e.resource, e.resource_id, e.payload, taken.failures
FROM taken, LATERAL (
  SELECT n.org_id, n.id, n.xid, n.at, n.type, n.resource, n.resource_id, n.payload FROM events n
  WHERE (n.xid, n.id) > (taken.xid, taken.id) AND n.xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY n.xid, n.id
  LIMIT @batch
) e
ORDER BY e.xid, e.id;

-- name: MoveFollower :execrows
-- Moves a follower past the events that its holder has handled, and ends the lease.
-- all orgs: a follower follows every organization.
UPDATE followers
SET xid = CAST(sqlc.arg('cursor_xid')::text AS xid8), id = @id, holder = NULL, leased_until = '-infinity', failures = 0, moved_at = @at
WHERE name = @name AND holder = @holder::uuid;

-- name: PostponeFollower :execrows
-- Leaves a follower where it is until later, because its events could not be handled.
-- all orgs: a follower follows every organization.
UPDATE followers
SET holder = NULL, leased_until = @until, failures = failures + 1
WHERE name = @name AND holder = @holder::uuid;

-- name: Lag :one
-- How old the first event is that a follower has not passed, in seconds; 0 if it has passed all.
-- all orgs: a follower follows every organization.
SELECT coalesce((
  SELECT extract(epoch FROM sqlc.arg('now')::timestamptz - e.at) FROM events e
  WHERE (e.xid, e.id) > (f.xid, f.id) ORDER BY e.xid, e.id LIMIT 1
), 0)::float8 AS lag
FROM followers f WHERE f.name = @name;

-- name: KeepPartitions :one
-- Makes the partitions of the time ahead, and sorts what came without one.
-- all orgs: partitions are of time, not of organizations.
SELECT keep_partitions(CAST(sqlc.arg('parent')::text AS regclass), @now)::integer AS made;

-- name: DropEvents :one
-- Drops the partitions of events that ended before a moment and that every follower has passed.
-- all orgs: partitions are of time, not of organizations.
SELECT drop_events(@before)::integer AS dropped;

-- name: RebaseEvents :one
-- Puts the events of a restored database before those that come.
-- all orgs: the order is one over every organization.
SELECT rebase_events()::bigint AS rebased;

-- name: TakeDue :many
-- Leases due messages of the topics that the dispatcher serves: some of each topic, of the next organizations that have any
-- and are not busy. Another dispatcher does not see them until the lease ends, and a dispatcher that dies gives them back by
-- doing nothing. Organizations are found by skipping from one to the next in the index, so the messages of one that has many
-- cost the others nothing. The scalar subqueries keep the order of the line, which the next call begins after.
-- all orgs: the dispatcher serves every organization in turn.
WITH RECURSIVE due (topic) AS MATERIALIZED (
  SELECT t.topic FROM unnest(@topics::text[]) AS t (topic)
  WHERE (SELECT true FROM outbox o WHERE o.topic = t.topic AND o.due_at <= @now LIMIT 1)
), line (org_id) AS (
  SELECT @after::uuid WHERE EXISTS (SELECT 1 FROM due)
  UNION ALL
  SELECT (
    SELECT n.org_id FROM due t
    CROSS JOIN LATERAL (SELECT o.org_id FROM outbox o WHERE o.topic = t.topic AND o.org_id > line.org_id ORDER BY o.org_id LIMIT 1) n
    ORDER BY n.org_id LIMIT 1
  )
  FROM line WHERE line.org_id IS NOT NULL
), turn AS (
  SELECT line.org_id FROM line
  WHERE line.org_id <> @after::uuid AND line.org_id <> ALL (@busy::uuid[])
    AND (
      SELECT true FROM due t
      CROSS JOIN LATERAL (SELECT 1 FROM outbox o WHERE o.topic = t.topic AND o.org_id = line.org_id AND o.due_at <= @now LIMIT 1) first
      LIMIT 1
    )
  LIMIT @orgs
)
UPDATE outbox m
SET attempts = m.attempts + 1, due_at = @lease_until
FROM (
  SELECT d.org_id, d.id FROM turn
  CROSS JOIN due t
  CROSS JOIN LATERAL (
    SELECT o.org_id, o.id FROM outbox o
    WHERE o.topic = t.topic AND o.org_id = turn.org_id AND o.due_at <= @now
    ORDER BY o.due_at, o.id
    LIMIT @each
    FOR UPDATE SKIP LOCKED
  ) d
) mine
WHERE m.org_id = mine.org_id AND m.id = mine.id
RETURNING m.org_id, m.id, m.topic, m.subject, m.payload, m.attempts;

-- name: Done :exec
-- The work is handed over.
DELETE FROM outbox WHERE org_id = @org_id AND id = @id;

-- name: Postpone :exec
-- The hand-over failed and is tried again later.
UPDATE outbox SET due_at = @due_at WHERE org_id = @org_id AND id = @id;

-- name: GiveBack :exec
-- Ends the leases of messages that nobody tried to hand over.
UPDATE outbox SET due_at = @now, attempts = attempts - 1 WHERE org_id = @org_id AND id = ANY (@ids::bigint[]);
