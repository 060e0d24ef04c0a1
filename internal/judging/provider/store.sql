-- name: FindDataKey :one
-- The organization's wrapped data key.
SELECT wrapped FROM data_keys WHERE org_id = @org_id;

-- name: InsertDataKey :exec
-- Keeps a new data key, unless another process was quicker.
INSERT INTO data_keys (org_id, wrapped, master_key_id, created_at)
VALUES (@org_id, @wrapped, @master_key_id, @created_at)
ON CONFLICT (org_id) DO NOTHING;

-- name: ListDataKeysToRewrap :many
-- Data keys that another master key wraps, a bounded number a call.
-- all orgs: rotation of the master key concerns every organization.
SELECT org_id, wrapped FROM data_keys WHERE master_key_id <> @current LIMIT @row_limit;

-- name: CountDataKeysToRewrap :one
-- How many data keys rotation has still to do.
-- all orgs: rotation of the master key concerns every organization.
SELECT count(*) FROM data_keys WHERE master_key_id <> @current;

-- name: RewrapDataKey :execrows
-- Replaces a wrapping, if it is still the one that was read.
UPDATE data_keys SET wrapped = @wrapped, master_key_id = @master_key_id
WHERE org_id = @org_id AND wrapped = @expected;

-- name: InsertProviderKey :one
-- Makes the row of a credential; its secret is set when its id is known,
-- because the id is part of what the secret is bound to.
INSERT INTO provider_keys (org_id, provider, name, base_url, secret, last4, models, monthly_cap_nano_usd, created_at, updated_at)
VALUES (@org_id, @provider, @name, @base_url, '', @last4, @models, @monthly_cap_nano_usd, @created_at, @created_at)
RETURNING id;

-- name: SetProviderSecret :exec
-- Stores a sealed secret.
UPDATE provider_keys SET secret = @secret WHERE org_id = @org_id AND id = @id;

-- name: FindProviderKey :one
-- One credential, with its sealed secret.
SELECT k.id, k.provider, k.name, k.base_url, k.secret, k.last4, k.models, k.status, k.version, k.last_used_at, k.created_at, k.updated_at, k.monthly_cap_nano_usd,
  coalesce((SELECT m.spent_nano_usd FROM model_spends m
    WHERE m.org_id = k.org_id AND m.kind = 'provider_key' AND m.id = k.id::text AND m.period = @period), 0)::bigint AS month_spent_nano_usd
FROM provider_keys k
WHERE k.org_id = @org_id AND k.id = @id AND k.deleted_at IS NULL;

-- name: LockProviderKey :one
-- The same, kept from changing until the transaction ends.
SELECT k.id, k.provider, k.name, k.base_url, k.secret, k.last4, k.models, k.status, k.version, k.last_used_at, k.created_at, k.updated_at, k.monthly_cap_nano_usd,
  coalesce((SELECT m.spent_nano_usd FROM model_spends m
    WHERE m.org_id = k.org_id AND m.kind = 'provider_key' AND m.id = k.id::text AND m.period = @period), 0)::bigint AS month_spent_nano_usd
FROM provider_keys k
WHERE k.org_id = @org_id AND k.id = @id AND k.deleted_at IS NULL
FOR UPDATE;

-- name: ListProviderKeys :many
-- A page of credentials, newest first; an absent filter matches everything.
SELECT k.id, k.provider, k.name, k.base_url, k.secret, k.last4, k.models, k.status, k.version, k.last_used_at, k.created_at, k.updated_at, k.monthly_cap_nano_usd,
  coalesce((SELECT m.spent_nano_usd FROM model_spends m
    WHERE m.org_id = k.org_id AND m.kind = 'provider_key' AND m.id = k.id::text AND m.period = @period), 0)::bigint AS month_spent_nano_usd
FROM provider_keys k
WHERE k.org_id = @org_id AND k.deleted_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('provider')::text IS NULL OR provider = sqlc.narg('provider'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'))
  AND k.id < @below
ORDER BY k.id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountProviderKeys :one
-- How many credentials the same filters match.
SELECT count(*)
FROM provider_keys
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('provider')::text IS NULL OR provider = sqlc.narg('provider'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'));

-- name: UpdateProviderKey :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE provider_keys
SET name = @name, base_url = @base_url, secret = @secret, last4 = @last4, models = @models, status = @status,
    monthly_cap_nano_usd = @monthly_cap_nano_usd, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND version = @expected_version;

-- name: DeleteProviderKey :execrows
-- Removes a credential and its secret.
UPDATE provider_keys SET deleted_at = @deleted_at, secret = ''
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: FindSpend :one
-- What was spent of a purse, and which allowances processes hold.
SELECT spent_nano_usd, holds, version FROM model_spends
WHERE org_id = @org_id AND kind = @kind AND id = @id AND period = @period;

-- name: PutSpend :execrows
-- Replaces what was read, if it is still that; version 0 stands for no row.
INSERT INTO model_spends AS m (org_id, kind, id, period, spent_nano_usd, holds)
VALUES (@org_id, @kind, @id, @period, @spent_nano_usd, @holds)
ON CONFLICT (org_id, kind, id, period) DO UPDATE
SET spent_nano_usd = excluded.spent_nano_usd, holds = excluded.holds, version = m.version + 1
WHERE m.version = @expected_version::bigint;

-- name: FindAnswer :one
-- An answer that may be used again.
SELECT answer FROM model_answers WHERE org_id = @org_id AND digest = @digest AND expires_at > @now;

-- name: PutAnswer :exec
-- Keeps an answer in the place of an older one.
INSERT INTO model_answers (org_id, digest, answer, bytes, created_at, expires_at)
VALUES (@org_id, @digest, @answer, @bytes, @created_at, @expires_at)
ON CONFLICT (org_id, digest) DO UPDATE
SET answer = excluded.answer, bytes = excluded.bytes, created_at = excluded.created_at, expires_at = excluded.expires_at;

-- name: DeleteExpiredAnswers :execrows
-- Forgets answers whose time is over, a bounded number a call.
-- all orgs: answers expire by age, and the sweeper has no organization.
DELETE FROM model_answers
WHERE ctid = ANY (ARRAY(SELECT a.ctid FROM model_answers a WHERE a.expires_at <= @now LIMIT 10000));

-- name: DeleteSurplusAnswers :execrows
-- Forgets the oldest answers of organizations that have more than their share.
-- all orgs: the share is the same for every organization.
DELETE FROM model_answers d
USING (
  SELECT a.org_id, a.digest, sum(a.bytes) OVER (PARTITION BY a.org_id ORDER BY a.created_at DESC, a.digest) AS total
  FROM model_answers a
  WHERE a.org_id IN (SELECT b.org_id FROM model_answers b GROUP BY b.org_id HAVING sum(b.bytes) > @most::bigint)
) s
WHERE d.org_id = s.org_id AND d.digest = s.digest AND s.total > @most::bigint;
