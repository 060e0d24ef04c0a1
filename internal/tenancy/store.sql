-- name: InsertOrganization :exec
-- Makes an organization; the transaction carries the new id as its own.
INSERT INTO organizations (id, name, plan, created_at, updated_at)
VALUES (@org_id, @name, @plan, @created_at, @created_at);

-- name: FindOrganization :one
-- The organization itself.
SELECT id, name, status, plan, hourly_limit, settings, version, created_at, updated_at
FROM organizations
WHERE id = @org_id;

-- name: LockOrganization :one
-- The organization, kept from changing until the transaction ends: changes of
-- its members happen one after the other.
SELECT id FROM organizations WHERE id = @org_id FOR UPDATE;

-- name: UpdateOrganization :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE organizations
SET name = @name, settings = @settings, updated_at = @updated_at, version = version + 1
WHERE id = @org_id AND version = @expected_version;

-- name: SetPlan :execrows
-- What the operator of the deployment grants; members cannot change it.
UPDATE organizations
SET plan = @plan, hourly_limit = sqlc.narg('hourly_limit'), updated_at = @updated_at, version = version + 1
WHERE id = @org_id;

-- name: SetStatus :execrows
-- Moves the organization from one status to another.
UPDATE organizations SET status = @status, updated_at = @updated_at, version = version + 1
WHERE id = @org_id AND status = @expected_status;

-- name: InsertMember :exec
-- Adds a person.
INSERT INTO members (org_id, user_id, email, name, role, status, created_at)
VALUES (@org_id, @user_id, @email, @name, @role, @status, @created_at);

-- name: FindMember :one
-- One person who is in the organization. A member is active once a key of their
-- own has been used.
SELECT m.user_id, m.email, m.name, m.role, m.created_at, m.version,
       (CASE WHEN EXISTS (SELECT 1 FROM api_keys k WHERE k.org_id = m.org_id AND k.owner_id = m.user_id AND k.last_used_at IS NOT NULL)
             THEN 'active' ELSE m.status END)::text AS status
FROM members m
WHERE m.org_id = @org_id AND m.user_id = @user_id AND m.removed_at IS NULL;

-- name: ListRoles :many
-- The roles that people have now; those who have left have none.
SELECT user_id, role FROM members
WHERE org_id = @org_id AND user_id = ANY (@users::uuid[]) AND removed_at IS NULL;

-- name: ListMembers :many
-- A page of members, newest first, with the status that FindMember gives; an
-- absent filter matches everything.
SELECT m.user_id, m.email, m.name, m.role, m.created_at, m.version, now.status
FROM members m
CROSS JOIN LATERAL (
  SELECT (CASE WHEN EXISTS (SELECT 1 FROM api_keys k WHERE k.org_id = m.org_id AND k.owner_id = m.user_id AND k.last_used_at IS NOT NULL)
               THEN 'active' ELSE m.status END)::text AS status
) now
WHERE m.org_id = @org_id AND m.removed_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR now.status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('roles')::text[] IS NULL OR m.role = ANY (sqlc.narg('roles')::text[]))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(m.name), lower(sqlc.narg('search'))) > 0 OR strpos(lower(m.email), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR m.created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR m.created_at < sqlc.narg('created_before'))
  AND (m.created_at, m.user_id) < (@below_created_at::timestamptz, @below_user_id::uuid)
ORDER BY m.created_at DESC, m.user_id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountMembers :one
-- How many members the same filters match.
SELECT count(*)
FROM members m
CROSS JOIN LATERAL (
  SELECT (CASE WHEN EXISTS (SELECT 1 FROM api_keys k WHERE k.org_id = m.org_id AND k.owner_id = m.user_id AND k.last_used_at IS NOT NULL)
               THEN 'active' ELSE m.status END)::text AS status
) now
WHERE m.org_id = @org_id AND m.removed_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR now.status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('roles')::text[] IS NULL OR m.role = ANY (sqlc.narg('roles')::text[]))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(m.name), lower(sqlc.narg('search'))) > 0 OR strpos(lower(m.email), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR m.created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR m.created_at < sqlc.narg('created_before'));

-- name: CountOwners :one
-- How many members are owners.
SELECT count(*) FROM members WHERE org_id = @org_id AND role = 'owner' AND removed_at IS NULL;

-- name: UpdateMember :execrows
-- Changes a person's name and role.
UPDATE members SET name = @name, role = @role, status = @status, version = version + 1
WHERE org_id = @org_id AND user_id = @user_id AND removed_at IS NULL;

-- name: RemoveMember :execrows
-- Takes a person out, with their password, their sessions and the invitations that they have
-- made; the row stays as the name behind old records.
WITH uninvited AS (
  DELETE FROM invitations i WHERE i.org_id = @org_id AND (i.user_id = @user_id OR i.invited_by = @user_id)
), locked_out AS (
  DELETE FROM accounts a WHERE a.org_id = @org_id AND a.user_id = @user_id
), signed_out AS (
  DELETE FROM sessions s WHERE s.org_id = @org_id AND s.user_id = @user_id
)
UPDATE members AS m SET removed_at = @removed_at
WHERE m.org_id = @org_id AND m.user_id = @user_id AND m.removed_at IS NULL;

-- name: InsertKey :one
-- Stores a key's hash; the key itself is stored nowhere.
INSERT INTO api_keys (org_id, key_id, name, environment, scopes, hash, pepper_version, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, parent_id, made_with, succeeds, no_delete)
VALUES (@org_id, @key_id, @name, @environment, @scopes, @hash, @pepper_version, @last4, sqlc.narg('owner_id'), sqlc.narg('created_by'), @creator, @over_owners, @asserted, @created_at, sqlc.narg('expires_at'), sqlc.narg('parent_id'), sqlc.narg('made_with'), sqlc.narg('succeeds'), @no_delete)
RETURNING id;

-- name: FreeKeyName :exec
-- Lets go of the name of a key that has expired: names are unique among the
-- keys that work, and an index cannot know the time.
UPDATE api_keys SET superseded_at = @at
WHERE org_id = @org_id AND name = @name AND expires_at <= @at AND revoked_at IS NULL AND superseded_at IS NULL;

-- name: FindPresentedKey :one
-- The key that a request presents, with what authorization needs to know.
-- all orgs: the organization is not known before the key is; the policies show the presented key, its organization and its owner, and nothing else.
SELECT k.org_id, k.id, k.key_id, k.scopes, k.hash, k.pepper_version, k.revoked_at, k.owner_id, k.over_owners, k.asserted, k.no_delete,
       least(coalesce(extract(epoch FROM k.expires_at - now()), 'infinity'), 1e9)::float8 AS seconds_left,
       o.status AS org_status, o.plan, o.hourly_limit,
       m.role, m.removed_at AS owner_removed_at
FROM api_keys k
JOIN organizations o ON o.id = k.org_id
LEFT JOIN members m ON m.org_id = k.org_id AND m.user_id = k.owner_id
WHERE k.key_id = @key_id;

-- name: FindKey :one
-- One key of the organization that is not revoked.
SELECT id, key_id, name, environment, scopes, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, revoked_at, superseded_at, last_used_at, version, parent_id, no_delete
FROM api_keys
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL;

-- name: LockKey :one
-- The key that FindKey finds, kept from changing until the transaction ends.
SELECT id, key_id, name, environment, scopes, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, revoked_at, superseded_at, last_used_at, version, parent_id, no_delete
FROM api_keys
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL
FOR UPDATE;

-- name: ListKeys :many
-- A page of keys that have one of the statuses now, newest first; another
-- filter that is absent matches everything.
SELECT id, key_id, name, environment, scopes, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, revoked_at, superseded_at, last_used_at, version, parent_id, no_delete
FROM api_keys
WHERE org_id = @org_id
  AND CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= @at THEN 'expired' ELSE 'active' END = ANY (@statuses::text[])
  AND (sqlc.narg('owner_id')::uuid IS NULL OR owner_id = sqlc.narg('owner_id'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountKeys :one
-- How many keys the same filters match.
SELECT count(*)
FROM api_keys
WHERE org_id = @org_id
  AND CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= @at THEN 'expired' ELSE 'active' END = ANY (@statuses::text[])
  AND (sqlc.narg('owner_id')::uuid IS NULL OR owner_id = sqlc.narg('owner_id'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'));

-- name: UpdateKey :execrows
-- Renames a key or changes what it may do; a revoked or rotated key stays as it
-- is.
UPDATE api_keys SET name = @name, scopes = @scopes, expires_at = sqlc.narg('expires_at'), no_delete = @no_delete, version = version + 1
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL AND superseded_at IS NULL;

-- name: RevokeKey :one
-- Ends a key at once.
UPDATE api_keys SET revoked_at = @revoked_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL
RETURNING key_id;

-- name: SupersedeKey :one
-- Lets a key work on for its grace, by the clock that ends it; its name is free
-- for its successor.
UPDATE api_keys SET superseded_at = @superseded_at, version = version + 1,
  expires_at = least(expires_at, date_trunc('milliseconds', now()) + make_interval(secs => @grace_seconds))
WHERE org_id = @org_id AND id = @id AND revoked_at IS NULL AND superseded_at IS NULL
RETURNING expires_at;

-- name: RevokeKeysOf :many
-- Ends every personal key of a member.
UPDATE api_keys SET revoked_at = @revoked_at, version = version + 1
WHERE org_id = @org_id AND owner_id = @owner_id AND revoked_at IS NULL
RETURNING id, key_id, name, environment, scopes, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, revoked_at, superseded_at, last_used_at, version, parent_id, no_delete;

-- name: RevokeAllKeys :many
-- Ends every key of the organization.
UPDATE api_keys SET revoked_at = @revoked_at, version = version + 1
WHERE org_id = @org_id AND revoked_at IS NULL
RETURNING id, key_id, name, environment, scopes, last4, owner_id, created_by, creator, over_owners, asserted, created_at, expires_at, revoked_at, superseded_at, last_used_at, version, parent_id, no_delete;

-- name: RevokeKeysBelow :many
-- Ends the keys that were made with a key, and those that were made with them.
WITH RECURSIVE below AS (
  SELECT c.id FROM api_keys c WHERE c.org_id = @org_id AND c.parent_id = @id
  UNION
  SELECT c.id FROM api_keys c JOIN below b ON c.parent_id = b.id WHERE c.org_id = @org_id
)
UPDATE api_keys AS k SET revoked_at = @revoked_at, version = k.version + 1
WHERE k.org_id = @org_id AND k.id IN (SELECT b.id FROM below b) AND k.revoked_at IS NULL
RETURNING k.id, k.key_id, k.name, k.environment, k.scopes, k.last4, k.owner_id, k.created_by, k.creator, k.over_owners, k.asserted, k.created_at, k.expires_at, k.revoked_at, k.superseded_at, k.last_used_at, k.version, k.parent_id, k.no_delete;

-- name: ShortenKeysBelow :exec
-- Lets no key that was made with a key, or with one of them, outlive it.
WITH RECURSIVE below AS (
  SELECT c.id FROM api_keys c WHERE c.org_id = @org_id AND c.parent_id = @id
  UNION
  SELECT c.id FROM api_keys c JOIN below b ON c.parent_id = b.id WHERE c.org_id = @org_id
)
UPDATE api_keys AS k SET expires_at = @expires_at, version = k.version + 1
WHERE k.org_id = @org_id AND k.id IN (SELECT b.id FROM below b) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > @expires_at);

-- name: HandOverKeys :exec
-- Makes a key's successor the parent of what was made with it.
UPDATE api_keys SET parent_id = @successor
WHERE org_id = @org_id AND parent_id = @id;

-- name: LockMember :one
-- A person in the organization, kept from changing until the transaction ends:
-- their keys are made one after the other.
SELECT user_id FROM members WHERE org_id = @org_id AND user_id = @user_id AND removed_at IS NULL FOR NO KEY UPDATE;

-- name: CountKeysOf :one
-- How many personal keys of a member work.
SELECT count(*) FROM api_keys
WHERE org_id = @org_id AND owner_id = @owner_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: TouchKey :exec
-- Remembers that a key was used, to the minute.
UPDATE api_keys SET last_used_at = @at
WHERE org_id = @org_id AND id = @id AND (last_used_at IS NULL OR last_used_at < @before);

-- name: ListAudit :many
-- A page of the audit log, newest first. The bounds of time stand alone, so that they choose partitions.
SELECT id, at, actor_type, user_id, api_key_id, asserted, action, resource_type, resource_id, request_id, ip, before_digest, after_digest, digest_format
FROM audit_logs
WHERE org_id = @org_id AND id < @below
  AND (sqlc.narg('action')::text IS NULL OR action = sqlc.narg('action'))
  AND (sqlc.narg('resource_type')::text IS NULL OR resource_type = sqlc.narg('resource_type'))
  AND (sqlc.narg('resource_id')::text IS NULL OR resource_id = sqlc.narg('resource_id'))
  AND (sqlc.narg('user_id')::uuid IS NULL OR user_id = sqlc.narg('user_id'))
  AND at > coalesce(sqlc.narg('created_after')::timestamptz, '-infinity')
  AND at < coalesce(sqlc.narg('created_before')::timestamptz, 'infinity')
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountAudit :one
-- How many entries the same filters match.
SELECT count(*)
FROM audit_logs
WHERE org_id = @org_id
  AND (sqlc.narg('action')::text IS NULL OR action = sqlc.narg('action'))
  AND (sqlc.narg('resource_type')::text IS NULL OR resource_type = sqlc.narg('resource_type'))
  AND (sqlc.narg('resource_id')::text IS NULL OR resource_id = sqlc.narg('resource_id'))
  AND (sqlc.narg('user_id')::uuid IS NULL OR user_id = sqlc.narg('user_id'))
  AND at > coalesce(sqlc.narg('created_after')::timestamptz, '-infinity')
  AND at < coalesce(sqlc.narg('created_before')::timestamptz, 'infinity');

-- name: InsertCertificate :exec
-- Begins the certificate of an organization's deletion.
INSERT INTO deletion_certificates (org_id, requested_at, requested_by)
VALUES (@org_id, @requested_at, @requested_by)
ON CONFLICT (org_id) DO NOTHING;

-- name: FindCertificate :one
-- The certificate of an organization's deletion.
SELECT org_id, requested_at, requested_by, completed_at, contents, digest
FROM deletion_certificates WHERE org_id = @org_id;

-- name: LockCertificate :exec
-- Keeps the certificate from changing until the transaction ends: of two runs
-- of an erasure neither overwrites what the other counted.
SELECT org_id FROM deletion_certificates WHERE org_id = @org_id FOR UPDATE;

-- name: SetCertificateContents :exec
-- Adds to what was erased so far.
UPDATE deletion_certificates SET contents = @contents
WHERE org_id = @org_id AND completed_at IS NULL;

-- name: CompleteCertificate :execrows
-- Ends the certificate with what was deleted.
UPDATE deletion_certificates SET completed_at = @completed_at, contents = @contents, digest = @digest
WHERE org_id = @org_id AND completed_at IS NULL;

-- name: NameActors :many
-- The names that people and keys have now, those that are gone included.
SELECT 'user' AS type, m.user_id::text AS id, m.name AS name
FROM members m
WHERE m.org_id = @org_id AND m.user_id = ANY (@users::uuid[])
UNION ALL
SELECT 'service_key', k.id::text, k.name
FROM api_keys k
WHERE k.org_id = @org_id AND k.id = ANY (@keys::bigint[]);

-- name: LockViews :one
-- Lets one transaction at a time add views to the organization or change its
-- members, and keeps nobody from adding other rows to it.
SELECT id FROM organizations WHERE id = @org_id FOR NO KEY UPDATE;

-- name: CountAllViews :one
-- How many views the organization has, whoever sees them.
SELECT count(*) FROM views WHERE org_id = @org_id;

-- name: InsertView :one
-- Saves a view.
INSERT INTO views (org_id, owner_id, name, list, filters, creator, created_at, updated_at)
VALUES (@org_id, sqlc.narg('owner_id'), @name, @list, @filters, @creator, @created_at, @created_at)
RETURNING *;

-- name: FindView :one
-- A view that the person may see.
SELECT * FROM views
WHERE org_id = @org_id AND id = @id AND (owner_id IS NULL OR owner_id = sqlc.narg('person'));

-- name: LockView :one
-- A view that the person may see, until the transaction ends.
SELECT * FROM views
WHERE org_id = @org_id AND id = @id AND (owner_id IS NULL OR owner_id = sqlc.narg('person'))
FOR UPDATE;

-- name: ListViews :many
-- A page of the views that the person may see, newest first.
SELECT * FROM views
WHERE org_id = @org_id AND (owner_id IS NULL OR owner_id = sqlc.narg('person'))
  AND (sqlc.narg('lists')::text[] IS NULL OR list = ANY (sqlc.narg('lists')::text[]))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountViews :one
-- How many views the same filters match.
SELECT count(*) FROM views
WHERE org_id = @org_id AND (owner_id IS NULL OR owner_id = sqlc.narg('person'))
  AND (sqlc.narg('lists')::text[] IS NULL OR list = ANY (sqlc.narg('lists')::text[]));

-- name: UpdateView :one
-- Changes a view's name and filters.
UPDATE views SET name = @name, filters = @filters, version = version + 1, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id
RETURNING *;

-- name: DeleteView :one
-- Removes a view that the person may see.
DELETE FROM views WHERE org_id = @org_id AND id = @id AND (owner_id IS NULL OR owner_id = sqlc.narg('person'))
RETURNING *;

-- name: DeleteViewsOf :many
-- Removes the personal views of a member.
DELETE FROM views WHERE org_id = @org_id AND owner_id = @owner_id
RETURNING *;

-- name: AddPepper :exec
-- Makes the fingerprint of a pepper known, unless one is.
-- all orgs: the pepper is that of the whole installation.
INSERT INTO key_peppers (version, fingerprint) VALUES (@version, @fingerprint) ON CONFLICT (version) DO NOTHING;

-- name: FindPepper :one
-- The fingerprint of a pepper.
-- all orgs: the pepper is that of the whole installation.
SELECT fingerprint FROM key_peppers WHERE version = @version;

-- name: ListKeyLineage :many
-- Keys, the keys that they were made with or that they replaced, and so on, also those that
-- are revoked.
WITH RECURSIVE chain AS (
  SELECT k.id, k.made_with, k.succeeds, k.owner_id, k.created_by FROM api_keys k WHERE k.org_id = @org_id AND k.id = ANY (@ids::bigint[])
  UNION
  SELECT m.id, m.made_with, m.succeeds, m.owner_id, m.created_by FROM api_keys m JOIN chain c ON m.id IN (c.made_with, c.succeeds) WHERE m.org_id = @org_id
)
SELECT id, made_with, succeeds, owner_id, created_by FROM chain;

-- name: ListNamedMembers :many
-- The members that texts name, by the id or by the e-mail address, also those who have left.
SELECT user_id FROM members
WHERE org_id = @org_id AND (lower(email) = ANY (@names::text[]) OR user_id::text = ANY (@names::text[]))
ORDER BY user_id;

-- name: ListInviters :many
-- Members who came in by an invitation that another member has seen, who that was, and so on.
WITH RECURSIVE chain AS (
  SELECT m.user_id, m.invited_by FROM members m WHERE m.org_id = @org_id AND m.user_id = ANY (@members::uuid[])
  UNION
  SELECT m.user_id, m.invited_by FROM members m JOIN chain c ON m.user_id = c.invited_by WHERE m.org_id = @org_id
)
SELECT user_id, invited_by FROM chain WHERE invited_by IS NOT NULL;
