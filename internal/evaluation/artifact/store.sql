-- name: Put :one
-- Making a file again replaces it.
INSERT INTO evaluation_artifacts (org_id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at)
VALUES (@org_id, @evaluation_id, @run_id, @kind, @name, @content_type, @size_bytes, @sha256, @object, @created_at)
ON CONFLICT (org_id, run_id, name) DO UPDATE SET
  kind = excluded.kind, content_type = excluded.content_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256, object = excluded.object
RETURNING id;

-- name: Find :one
-- One artifact of an evaluation.
SELECT id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at
FROM evaluation_artifacts
WHERE org_id = @org_id AND evaluation_id = @evaluation_id AND id = @id;

-- name: List :many
-- A page of an evaluation's artifacts, newest first.
SELECT id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at
FROM evaluation_artifacts
WHERE org_id = @org_id AND evaluation_id = @evaluation_id
  AND (sqlc.narg('run_id')::bigint IS NULL OR run_id = sqlc.narg('run_id'))
  AND (sqlc.narg('kind')::text IS NULL OR kind = sqlc.narg('kind'))
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: Count :one
-- How many artifacts List has on all pages.
SELECT count(*) FROM evaluation_artifacts
WHERE org_id = @org_id AND evaluation_id = @evaluation_id
  AND (sqlc.narg('run_id')::bigint IS NULL OR run_id = sqlc.narg('run_id'))
  AND (sqlc.narg('kind')::text IS NULL OR kind = sqlc.narg('kind'))
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'));
