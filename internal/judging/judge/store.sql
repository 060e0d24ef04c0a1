-- name: InsertConfig :one
-- Makes a judge; its first version follows.
INSERT INTO judge_configs (org_id, key, name, description, label_key, label_sampling, status, config_version, spend_cap_nano, created_by, created_at, updated_at)
VALUES (@org_id, @key, @name, @description, @label_key, @label_sampling, @status, @config_version, sqlc.narg('spend_cap_nano'), @created_by, @created_at, @created_at)
RETURNING id;

-- name: InsertVersion :exec
-- Keeps a version for good.
INSERT INTO judge_versions (org_id, config_id, number, spec, digest, salt, created_by, created_at)
VALUES (@org_id, @config_id, @number, @spec, @digest, @salt, @created_by, @created_at);

-- name: FindConfig :one
-- One judge with its current version.
SELECT sqlc.embed(c), sqlc.embed(v)
FROM judge_configs c
JOIN judge_versions v ON v.org_id = c.org_id AND v.config_id = c.id AND v.number = c.config_version
WHERE c.org_id = @org_id AND c.id = @id;

-- name: LockConfig :one
-- One judge with its current version, kept from changing until the transaction ends.
SELECT sqlc.embed(c), sqlc.embed(v)
FROM judge_configs c
JOIN judge_versions v ON v.org_id = c.org_id AND v.config_id = c.id AND v.number = c.config_version
WHERE c.org_id = @org_id AND c.id = @id
FOR UPDATE OF c;

-- name: ConfigsNamed :many
-- The judges that have these keys or ids.
SELECT sqlc.embed(c), sqlc.embed(v)
FROM judge_configs c
JOIN judge_versions v ON v.org_id = c.org_id AND v.config_id = c.id AND v.number = c.config_version
WHERE c.org_id = @org_id AND (c.key = ANY (@keys::text[]) OR c.id = ANY (@ids::bigint[]))
ORDER BY c.id;

-- name: ListConfigs :many
-- A page of judges, newest first; an absent filter matches everything.
SELECT sqlc.embed(c), sqlc.embed(v)
FROM judge_configs c
JOIN judge_versions v ON v.org_id = c.org_id AND v.config_id = c.id AND v.number = c.config_version
WHERE c.org_id = @org_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR c.status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR c.key = sqlc.narg('key'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(c.name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR c.created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR c.created_at < sqlc.narg('created_before'))
  AND c.id < @below
ORDER BY c.id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountConfigs :one
-- How many judges the same filters match.
SELECT count(*)
FROM judge_configs
WHERE org_id = @org_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR key = sqlc.narg('key'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'));

-- name: UpdateConfig :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE judge_configs
SET name = @name, description = @description, label_key = @label_key, label_sampling = @label_sampling, status = @status,
    config_version = @config_version, spend_cap_nano = sqlc.narg('spend_cap_nano'), updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND version = @expected_version AND status = @expected_status;

-- name: FindVersion :one
-- One version of a judge.
SELECT org_id, config_id, number, spec, digest, salt, created_by, created_at
FROM judge_versions
WHERE org_id = @org_id AND config_id = @config_id AND number = @number;

-- name: ListVersions :many
-- A page of a judge's versions, newest first.
SELECT org_id, config_id, number, spec, digest, salt, created_by, created_at
FROM judge_versions
WHERE org_id = @org_id AND config_id = @config_id AND number < @below
ORDER BY number DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: NextResultIDs :many
-- Numbers for results.
-- all orgs: a sequence has no organization.
SELECT nextval('judge_result_ids')::bigint AS id FROM generate_series(1, @n::int);

-- name: FindCondition :one
-- What watching a version showed.
SELECT settled_at, quiet_at, drifted_at, message
FROM judge_conditions
WHERE org_id = @org_id AND config_id = @config_id AND number = @number;

-- name: SetCondition :exec
-- Records what watching a version showed; a drift stays.
INSERT INTO judge_conditions (org_id, config_id, number, settled_at, quiet_at, drifted_at, message)
VALUES (@org_id, @config_id, @number, sqlc.narg('settled_at'), sqlc.narg('quiet_at'), sqlc.narg('drifted_at'), @message)
ON CONFLICT (org_id, config_id, number) DO UPDATE
SET settled_at = coalesce(excluded.settled_at, judge_conditions.settled_at),
    quiet_at = CASE WHEN excluded.settled_at IS NULL THEN coalesce(excluded.quiet_at, judge_conditions.quiet_at) END,
    drifted_at = excluded.drifted_at, message = excluded.message
WHERE judge_conditions.drifted_at IS NULL;
