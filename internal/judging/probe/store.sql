-- name: InsertProbe :one
-- Makes a probe, which runs from then on.
INSERT INTO judge_probes (org_id, config_id, config_version, status, request, created_by, created_at)
VALUES (@org_id, @config_id, @config_version, 'running', @request, @created_by, @created_at)
RETURNING id;

-- name: FindProbe :one
-- One probe with how many of its verdicts there are.
SELECT sqlc.embed(p), (SELECT count(*) FROM judge_probe_verdicts v WHERE v.org_id = p.org_id AND v.probe_id = p.id) AS done
FROM judge_probes p
WHERE p.org_id = @org_id AND p.id = @id;

-- name: LockProbe :one
-- One probe, kept from changing until the transaction ends.
SELECT sqlc.embed(p), (SELECT count(*) FROM judge_probe_verdicts v WHERE v.org_id = p.org_id AND v.probe_id = p.id) AS done
FROM judge_probes p
WHERE p.org_id = @org_id AND p.id = @id
FOR UPDATE OF p;

-- name: ListProbes :many
-- A page of a judge's probes, newest first.
SELECT sqlc.embed(p), (SELECT count(*) FROM judge_probe_verdicts v WHERE v.org_id = p.org_id AND v.probe_id = p.id) AS done
FROM judge_probes p
WHERE p.org_id = @org_id AND p.config_id = @config_id AND p.id < @below
ORDER BY p.id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountProbes :one
-- How many probes a judge has.
SELECT count(*) FROM judge_probes WHERE org_id = @org_id AND config_id = @config_id;

-- name: RunningProbes :many
-- Probes that are under way.
SELECT id FROM judge_probes WHERE org_id = @org_id AND status = 'running' ORDER BY id LIMIT @row_limit;

-- name: IsRunning :one
-- Whether a probe is still under way.
SELECT EXISTS (SELECT FROM judge_probes WHERE org_id = @org_id AND id = @id AND status = 'running')::boolean AS running;

-- name: LockCount :exec
-- Lets one transaction at a time count an organization's probes and make one.
SELECT pg_advisory_xact_lock(hashtextextended('judge_probes ' || @org_id::text, 0));

-- name: CountRunning :one
-- How many probes are under way.
SELECT count(*) FROM judge_probes WHERE org_id = @org_id AND status = 'running';

-- name: ReplaceReport :exec
-- Replaces the report of a probe that was cancelled.
UPDATE judge_probes SET report = @report WHERE org_id = @org_id AND id = @id AND status = 'cancelled';

-- name: BeginProbe :execrows
-- Fixes what a probe judges, unless that is fixed.
UPDATE judge_probes SET subjects = @subjects, units = @units
WHERE org_id = @org_id AND id = @id AND status = 'running' AND subjects IS NULL;

-- name: EndProbe :execrows
-- Ends a probe that is running.
UPDATE judge_probes
SET status = @status, error_code = sqlc.narg('error_code'), error_message = sqlc.narg('error_message'), report = sqlc.narg('report'), ended_at = @ended_at
WHERE org_id = @org_id AND id = @id AND status = 'running';

-- name: InsertVerdict :exec
-- Keeps a verdict; the first one stays.
INSERT INTO judge_probe_verdicts (org_id, probe_id, unit, verdict, created_at)
VALUES (@org_id, @probe_id, @unit, @verdict, @created_at)
ON CONFLICT (org_id, probe_id, unit) DO NOTHING;

-- name: ListVerdicts :many
-- The verdicts of a probe so far.
SELECT unit, verdict FROM judge_probe_verdicts
WHERE org_id = @org_id AND probe_id = @probe_id
ORDER BY unit;
