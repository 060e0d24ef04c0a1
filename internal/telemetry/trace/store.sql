-- name: FindRef :one
-- The number of a trace, if it has one.
SELECT trace_ref, trace_id, stub, digest, created_at FROM trace_refs
WHERE org_id = @org_id AND trace_id = @trace_id;

-- name: FindRefByNumber :one
-- The trace behind a number.
SELECT trace_ref, trace_id, stub, digest, created_at FROM trace_refs
WHERE org_id = @org_id AND trace_ref = @trace_ref;

-- name: AllocateRef :one
-- Gives a trace a number; a trace that has one keeps it.
INSERT INTO trace_refs (org_id, trace_id, stub, created_at)
VALUES (@org_id, @trace_id, @stub, @created_at)
ON CONFLICT (org_id, trace_id) DO UPDATE SET stub = trace_refs.stub AND excluded.stub
RETURNING trace_ref, stub;

-- name: ClaimRef :one
-- Notes what creates a trace. The row keeps the first digest: whoever brings
-- another one reads it and is refused.
INSERT INTO trace_refs (org_id, trace_id, digest, created_at)
VALUES (@org_id, @trace_id, @digest, @created_at)
ON CONFLICT (org_id, trace_id) DO UPDATE SET stub = false, digest = coalesce(trace_refs.digest, excluded.digest)
RETURNING trace_ref, digest, created_at, (xmax = 0)::boolean AS made;

-- name: ForgetRef :exec
-- Frees a deleted trace's content for another creation; its number stays.
UPDATE trace_refs SET digest = NULL, stub = false
WHERE org_id = @org_id AND trace_id = @trace_id;

-- name: RefsOf :many
-- The numbers of those of the given traces that have one.
SELECT trace_ref, trace_id, stub FROM trace_refs
WHERE org_id = @org_id AND trace_id = ANY (@trace_ids::bytea[]);

-- name: NextFeedback :one
-- A number for feedback.
-- all orgs: numbers come from one sequence.
SELECT nextval('feedback_ids')::bigint AS id;

-- name: InsertDeletion :one
-- Notes that a trace is to be deleted.
INSERT INTO trace_deletions (org_id, trace_id, requested_at)
VALUES (@org_id, @trace_id, @requested_at)
RETURNING id;

-- name: FinishDeletion :exec
-- Notes that nothing of a deleted trace is left.
UPDATE trace_deletions SET purged_at = @purged_at
WHERE org_id = @org_id AND id = @id AND purged_at IS NULL;

-- name: FindDeletion :one
-- The newest deletion of a trace.
SELECT id, requested_at, purged_at FROM trace_deletions
WHERE org_id = @org_id AND trace_id = @trace_id
ORDER BY id DESC
LIMIT 1;

-- name: MentionRefs :exec
-- Gives traces that are mentioned a number; those that have one keep it.
INSERT INTO trace_refs (org_id, trace_id, stub, created_at)
SELECT @org_id, m.trace_id, true, @created_at
FROM (SELECT unnest(@trace_ids::bytea[]) AS trace_id ORDER BY 1) AS m
ON CONFLICT (org_id, trace_id) DO NOTHING;
