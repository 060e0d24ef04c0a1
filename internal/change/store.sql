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
VALUES (@org_id, @topic, @subject, @payload, @at, @at);

-- name: Audit :exec
-- Writes who did what, and the event of it for those who follow along.
WITH entry AS (
  INSERT INTO audit_logs (org_id, at, actor_type, user_id, api_key_id, asserted, action, resource_type, resource_id, request_id, ip, before_digest, after_digest)
  VALUES (@org_id, @at, @actor_type, sqlc.narg('user_id'), sqlc.narg('api_key_id'), @asserted, @action, @resource_type, @resource_id, @request_id, @ip, sqlc.narg('before_digest'), sqlc.narg('after_digest'))
  RETURNING org_id, id, at
)
INSERT INTO outbox (org_id, topic, subject, payload, due_at, created_at)
SELECT entry.org_id, @topic, @subject, @payload, entry.at, entry.at FROM entry;

-- name: TakeDue :many
-- Leases due messages of the topics that the dispatcher serves: another dispatcher does not see them until the lease
-- ends, and a dispatcher that dies gives them back by doing nothing.
-- all orgs: the dispatcher serves every organization in order of time.
UPDATE outbox o
SET attempts = o.attempts + 1, due_at = @lease_until
FROM (
  SELECT d.org_id, d.id FROM outbox d
  WHERE d.due_at <= @now AND d.topic = ANY (@topics::text[])
  ORDER BY d.due_at, d.id
  LIMIT @batch
  FOR UPDATE SKIP LOCKED
) due
WHERE o.org_id = due.org_id AND o.id = due.id
RETURNING o.org_id, o.id, o.topic, o.subject, o.payload, o.attempts;

-- name: Done :exec
-- The work is handed over.
DELETE FROM outbox WHERE org_id = @org_id AND id = @id;

-- name: Postpone :exec
-- The hand-over failed and is tried again later.
UPDATE outbox SET due_at = @due_at WHERE org_id = @org_id AND id = @id;
