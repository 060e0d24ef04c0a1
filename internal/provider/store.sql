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
INSERT INTO provider_keys (org_id, provider, name, base_url, secret, last4, models, created_at, updated_at)
VALUES (@org_id, @provider, @name, @base_url, '', @last4, @models, @created_at, @created_at)
RETURNING id;

-- name: SetProviderSecret :exec
-- Stores a sealed secret.
UPDATE provider_keys SET secret = @secret WHERE org_id = @org_id AND id = @id;

-- name: FindProviderKey :one
-- One credential, with its sealed secret.
SELECT id, provider, name, base_url, secret, last4, models, status, version, last_used_at, created_at, updated_at
FROM provider_keys
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: LockProviderKey :one
-- The same, kept from changing until the transaction ends.
SELECT id, provider, name, base_url, secret, last4, models, status, version, last_used_at, created_at, updated_at
FROM provider_keys
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL
FOR UPDATE;

-- name: ListProviderKeys :many
-- A page of credentials, newest first; an absent filter matches everything.
SELECT id, provider, name, base_url, secret, last4, models, status, version, last_used_at, created_at, updated_at
FROM provider_keys
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('provider')::text IS NULL OR provider = sqlc.narg('provider'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'))
  AND id < @below
ORDER BY id DESC
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
    updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND version = @expected_version;

-- name: DeleteProviderKey :execrows
-- Removes a credential and its secret.
UPDATE provider_keys SET deleted_at = @deleted_at, secret = ''
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;
