-- name: Insert :one
-- Keeps a decision.
INSERT INTO gate_decisions (org_id, evaluation_id, run_id, baseline_run, verdict, asked, decided, created_by, created_at)
VALUES (@org_id, @evaluation_id, @run_id, sqlc.narg('baseline_run'), @verdict, @asked, @decided, @created_by, @created_at)
RETURNING id;

-- name: List :many
-- A page of the decisions on a run, newest first.
SELECT id, evaluation_id, run_id, baseline_run, verdict, asked, decided, created_by, created_at
FROM gate_decisions
WHERE org_id = @org_id AND run_id = @run_id AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: Count :one
-- How many decisions List has on all pages.
SELECT count(*) FROM gate_decisions WHERE org_id = @org_id AND run_id = @run_id;
