-- name: InsertOrganization :exec
-- Makes an organization; the transaction carries the new id as its own.
INSERT INTO organizations (id, name, created_at) VALUES (@org_id, @name, @created_at);

-- name: InsertKey :one
-- Stores a key's hash; the key itself is stored nowhere.
INSERT INTO api_keys (org_id, key_id, name, environment, scopes, hash, pepper_version, last4, created_at, expires_at)
VALUES (@org_id, @key_id, @name, @environment, @scopes, @hash, @pepper_version, @last4, @created_at, sqlc.narg('expires_at'))
RETURNING id;

-- name: FindPresentedKey :one
-- The key that a request presents, by its public part.
-- all orgs: the organization is not known before the key is; the policy shows the presented key's row and no other.
SELECT org_id, key_id, scopes, hash, pepper_version, expires_at, revoked_at
FROM api_keys
WHERE key_id = @key_id;

-- name: RevokeKey :execrows
-- Ends a key at once.
UPDATE api_keys SET revoked_at = @revoked_at
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL;
