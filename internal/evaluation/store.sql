-- name: InsertEvaluation :one
-- Makes an evaluation without runs.
INSERT INTO evaluations (org_id, name, description, dataset_id, dataset_version, plan, tags, metadata, created_by, created_at, updated_at)
VALUES (@org_id, @name, @description, @dataset_id, sqlc.narg('dataset_version'), @plan, @tags, @metadata, @created_by, @created_at, @created_at)
RETURNING id, version;

-- name: FindEvaluation :one
-- One evaluation, with its newest run and its newest completed one. Its status
-- is that of its runs: running while one of them is.
SELECT e.id, e.name, e.description, e.dataset_id, e.dataset_version, e.plan, e.tags, e.metadata, e.archived_at, e.created_by, e.created_at, e.updated_at, e.version, e.baseline_run,
       coalesce(latest.id, 0)::bigint AS latest_run, coalesce(latest.status, '')::text AS latest_status,
       EXISTS (SELECT 1 FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id AND r.status = 'running') AS running,
       done.outcome
FROM evaluations e
LEFT JOIN LATERAL (
  SELECT r.id, r.status FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id ORDER BY r.id DESC LIMIT 1
) latest ON true
LEFT JOIN LATERAL (
  SELECT r.outcome FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id AND r.status = 'completed' ORDER BY r.id DESC LIMIT 1
) done ON true
WHERE e.org_id = @org_id AND e.id = @id AND e.deleted_at IS NULL;

-- name: ListEvaluations :many
-- A page of evaluations, newest first; an absent filter matches everything. What
-- runs say is looked up for the page alone.
WITH page AS (
  SELECT e.org_id, e.id, e.name, e.dataset_id, e.dataset_version, e.tags, e.archived_at, e.created_at, e.updated_at, e.version
  FROM evaluations e
  WHERE e.org_id = @org_id AND e.deleted_at IS NULL
    AND (sqlc.narg('dataset_id')::text IS NULL OR e.dataset_id = sqlc.narg('dataset_id'))
    AND (sqlc.narg('tag')::text IS NULL OR sqlc.narg('tag') = ANY (e.tags))
    AND (sqlc.narg('search')::text IS NULL OR strpos(lower(e.name), lower(sqlc.narg('search'))) > 0)
    AND (sqlc.narg('created_after')::timestamptz IS NULL OR e.created_at > sqlc.narg('created_after'))
    AND (sqlc.narg('created_before')::timestamptz IS NULL OR e.created_at < sqlc.narg('created_before'))
    AND (sqlc.narg('statuses')::text[] IS NULL OR CASE
      WHEN e.archived_at IS NOT NULL THEN 'archived'
      WHEN EXISTS (SELECT 1 FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id AND r.status = 'running') THEN 'running'
      ELSE coalesce((SELECT r.status FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id ORDER BY r.id DESC LIMIT 1), 'pending')
    END = ANY (sqlc.narg('statuses')::text[]))
    AND e.id < @below
  ORDER BY e.id DESC
  LIMIT @row_limit OFFSET @row_offset
)
SELECT p.id, p.name, p.dataset_id, p.dataset_version, p.tags, p.archived_at, p.created_at, p.updated_at, p.version,
       coalesce(latest.id, 0)::bigint AS latest_run, coalesce(latest.status, '')::text AS latest_status,
       EXISTS (SELECT 1 FROM evaluation_runs r WHERE r.org_id = p.org_id AND r.evaluation_id = p.id AND r.status = 'running') AS running,
       done.overall
FROM page p
LEFT JOIN LATERAL (
  SELECT r.id, r.status FROM evaluation_runs r WHERE r.org_id = p.org_id AND r.evaluation_id = p.id ORDER BY r.id DESC LIMIT 1
) latest ON true
LEFT JOIN LATERAL (
  SELECT (r.outcome -> 'overall')::json AS overall
  FROM evaluation_runs r WHERE r.org_id = p.org_id AND r.evaluation_id = p.id AND r.status = 'completed' ORDER BY r.id DESC LIMIT 1
) done ON true
ORDER BY p.id DESC;

-- name: CountEvaluations :one
-- How many evaluations ListEvaluations has on all pages.
SELECT count(*) FROM evaluations e
WHERE e.org_id = @org_id AND e.deleted_at IS NULL
  AND (sqlc.narg('dataset_id')::text IS NULL OR e.dataset_id = sqlc.narg('dataset_id'))
  AND (sqlc.narg('tag')::text IS NULL OR sqlc.narg('tag') = ANY (e.tags))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(e.name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR e.created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR e.created_at < sqlc.narg('created_before'))
  AND (sqlc.narg('statuses')::text[] IS NULL OR CASE
    WHEN e.archived_at IS NOT NULL THEN 'archived'
    WHEN EXISTS (SELECT 1 FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id AND r.status = 'running') THEN 'running'
    ELSE coalesce((SELECT r.status FROM evaluation_runs r WHERE r.org_id = e.org_id AND r.evaluation_id = e.id ORDER BY r.id DESC LIMIT 1), 'pending')
  END = ANY (sqlc.narg('statuses')::text[]));

-- name: LockEvaluation :one
-- The evaluation, kept from changing until the transaction ends.
SELECT e.id FROM evaluations e WHERE e.org_id = @org_id AND e.id = @id AND e.deleted_at IS NULL FOR UPDATE;

-- name: UpdateEvaluation :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE evaluations
SET name = @name, description = @description, dataset_id = @dataset_id, dataset_version = sqlc.narg('dataset_version'), plan = @plan,
    tags = @tags, metadata = @metadata, archived_at = sqlc.narg('archived_at'), baseline_run = sqlc.narg('baseline_run'), updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND version = @expected_version;

-- name: DeleteEvaluation :execrows
-- Hides an evaluation and everything of it; a purge removes it.
UPDATE evaluations SET deleted_at = @deleted_at
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: RunningRuns :many
-- The runs of an evaluation that are under way, as many as are worth naming.
SELECT id FROM evaluation_runs
WHERE org_id = @org_id AND evaluation_id = @evaluation_id AND status = 'running'
ORDER BY id
LIMIT @row_limit;

-- name: AllRunningRuns :many
-- Runs of all evaluations that are under way.
SELECT id FROM evaluation_runs
WHERE org_id = @org_id AND status = 'running'
ORDER BY id
LIMIT @row_limit;

-- name: PurgeableRuns :many
-- Runs of a deleted evaluation that are still there.
SELECT r.id FROM evaluation_runs r
JOIN evaluations e ON e.org_id = r.org_id AND e.id = r.evaluation_id
WHERE r.org_id = @org_id AND r.evaluation_id = @evaluation_id AND e.deleted_at IS NOT NULL
ORDER BY r.id
LIMIT @row_limit;

-- name: PurgeRunItems :exec
-- The order of a purged run.
DELETE FROM evaluation_run_items WHERE org_id = @org_id AND run_id = @run_id;

-- name: PurgeRunChunks :exec
-- The progress of a purged run.
DELETE FROM evaluation_run_chunks WHERE org_id = @org_id AND run_id = @run_id;

-- name: PurgeRunNotes :exec
-- The notes of a purged run.
DELETE FROM evaluation_run_notes WHERE org_id = @org_id AND run_id = @run_id;

-- name: PurgeRunArtifacts :exec
-- The artifacts of a purged run, whose bytes are gone.
DELETE FROM evaluation_artifacts WHERE org_id = @org_id AND run_id = @run_id;

-- name: PurgeRun :exec
-- The last of a purged run.
DELETE FROM evaluation_runs WHERE org_id = @org_id AND id = @id;

-- name: PurgeEvaluation :exec
-- The last of a deleted evaluation.
DELETE FROM evaluations WHERE org_id = @org_id AND id = @id AND deleted_at IS NOT NULL;

-- name: InsertRun :one
-- A run of an evaluation that is not archived.
INSERT INTO evaluation_runs (org_id, evaluation_id, status, phase, request, created_by, started_at, updated_at)
VALUES (@org_id, @evaluation_id, 'running', 'queued', @request, @created_by, @started_at, @started_at)
RETURNING id;

-- name: FindRun :one
-- One run.
SELECT *
FROM evaluation_runs
WHERE org_id = @org_id AND id = @id;

-- name: LockRun :one
-- The run, kept from changing until the transaction ends.
SELECT *
FROM evaluation_runs
WHERE org_id = @org_id AND id = @id
FOR UPDATE;

-- name: NewestRun :one
-- The newest run of an evaluation before another one: however it stands, or the
-- newest that can be a baseline. A run on a sample is one for a run on the same
-- sample only, and a run that lacks more than a twentieth of its answers for none.
SELECT id FROM evaluation_runs
WHERE org_id = @org_id AND evaluation_id = @evaluation_id AND id < @before
  AND (NOT @completed::bool OR status = 'completed'
    AND (request ->> 'sample_size' IS NULL OR request ->> 'sample_size' = @sample::text AND resolved ->> 'seed' = @seed::text)
    AND 20 * ((outcome ->> 'items')::bigint - (outcome ->> 'errored')::bigint) >= 19 * (resolved ->> 'units')::bigint)
  AND (NOT @passed::bool OR verdict = 'PASS')
  AND (NOT @unfailed::bool OR verdict IS DISTINCT FROM 'FAIL')
  AND (sqlc.narg('branch')::text IS NULL OR request #>> '{metadata,branch}' = sqlc.narg('branch'))
  AND (sqlc.narg('tag')::text IS NULL OR request #>> '{metadata,tag}' = sqlc.narg('tag'))
  AND (sqlc.narg('release')::text IS NULL OR request ->> 'release_id' = sqlc.narg('release'))
ORDER BY id DESC
LIMIT 1;

-- name: SetVerdict :execrows
-- Says what gates decided about a run. One that failed stays so: an easier question
-- asked later does not make it a baseline.
UPDATE evaluation_runs r SET verdict = CASE WHEN r.verdict = 'FAIL' THEN r.verdict ELSE @verdict END, updated_at = @updated_at
FROM evaluations e
WHERE r.org_id = @org_id AND r.id = @id AND e.org_id = r.org_id AND e.id = r.evaluation_id AND e.deleted_at IS NULL;

-- name: ListRuns :many
-- A page of an evaluation's runs, newest first.
SELECT *
FROM evaluation_runs
WHERE org_id = @org_id AND evaluation_id = @evaluation_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR started_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR started_at < sqlc.narg('created_before'))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountRuns :one
-- How many runs ListRuns has on all pages.
SELECT count(*) FROM evaluation_runs
WHERE org_id = @org_id AND evaluation_id = @evaluation_id
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR started_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR started_at < sqlc.narg('created_before'));

-- name: ResolveRun :execrows
-- Records what a running run works on. Whoever does it first decides.
UPDATE evaluation_runs SET resolved = @resolved, phase = 'executing', updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND status = 'running' AND resolved IS NULL;

-- name: SetPhase :execrows
-- Says where a running run is.
UPDATE evaluation_runs SET phase = @phase, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND status = 'running' AND phase <> @phase;

-- name: BeginScoring :exec
-- A run that executes has what is to be scored. One that is further stays there.
UPDATE evaluation_runs SET phase = 'scoring', updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND status = 'running' AND phase = 'executing';

-- name: MoveRun :execrows
-- Ends a running run.
UPDATE evaluation_runs
SET status = @status, phase = 'done', error_code = sqlc.narg('error_code'), error_message = sqlc.narg('error_message'), completed_at = @completed_at, updated_at = @completed_at
WHERE org_id = @org_id AND id = @id AND status = 'running';

-- name: SetOutcome :exec
-- Records what came out of a run that has ended.
UPDATE evaluation_runs SET outcome = @outcome, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id AND status <> 'running';

-- name: BeginPosting :one
-- A request brings results: the run is not added up before they are stored, or
-- the time is over. Requests whose time is over are forgotten.
UPDATE evaluation_runs
SET posting = CASE WHEN posting_until > now() THEN posting ELSE 0 END + 1, posting_until = now() + make_interval(secs => @seconds::float8)
WHERE org_id = @org_id AND id = @id AND status = 'running' AND phase = 'executing'
RETURNING posting_until::timestamptz AS until;

-- name: EndPosting :execrows
-- The results of a request are stored, within its time. A client may have said
-- that they are all.
UPDATE evaluation_runs
SET posting = greatest(posting - 1, 0), final = final OR @final, heard_at = @at,
    updated_at = CASE WHEN status = 'running' THEN @at::timestamptz ELSE updated_at END
WHERE org_id = @org_id AND id = @id AND @until::timestamptz > now();

-- name: Posting :one
-- Whether requests still bring results of a run.
SELECT (posting > 0 AND posting_until > now())::boolean AS posting FROM evaluation_runs
WHERE org_id = @org_id AND id = @id;

-- name: PutRunItems :exec
-- Stores a page of a run's order; doing it again changes nothing.
INSERT INTO evaluation_run_items (org_id, run_id, page, items)
VALUES (@org_id, @run_id, @page, @items)
ON CONFLICT (org_id, run_id, page) DO UPDATE SET items = excluded.items;

-- name: RunItems :many
-- Pages of a run's items, in their order.
SELECT page, items FROM evaluation_run_items
WHERE org_id = @org_id AND run_id = @run_id AND page BETWEEN @first AND @last
ORDER BY page;

-- name: PutChunk :exec
-- A chunk's counts replace what it said before, unless they know of less.
INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, cost_nano_usd, updated_at)
VALUES (@org_id, @run_id, @chunk, @size, @done, @passed, @failed, @errored, @skipped, @cost_nano_usd, @updated_at)
ON CONFLICT (org_id, run_id, chunk) DO UPDATE SET
  size = excluded.size, done = excluded.done, passed = excluded.passed, failed = excluded.failed, errored = excluded.errored, skipped = excluded.skipped,
  cost_nano_usd = excluded.cost_nano_usd, updated_at = excluded.updated_at
WHERE excluded.done >= evaluation_run_chunks.done;

-- name: Chunks :many
-- How far each chunk of a run is.
SELECT chunk, size, done, passed, failed, errored, skipped, cost_nano_usd, updated_at
FROM evaluation_run_chunks
WHERE org_id = @org_id AND run_id = @run_id
ORDER BY chunk;

-- name: LookAtRun :one
-- What a chunk has to know of its run while it works: whether it still runs, and,
-- if it has a budget, what the other chunks have cost.
SELECT r.status, coalesce((
  SELECT sum(c.cost_nano_usd) FROM evaluation_run_chunks c WHERE @budgeted::bool AND c.org_id = r.org_id AND c.run_id = r.id AND c.chunk <> @chunk
), 0)::bigint AS spent
FROM evaluation_runs r
WHERE r.org_id = @org_id AND r.id = @run_id;

-- name: PutNote :exec
-- The same thing is noted once.
INSERT INTO evaluation_run_notes (org_id, run_id, subject, at, level, message)
VALUES (@org_id, @run_id, @subject, @at, @level, @message)
ON CONFLICT (org_id, run_id, subject) DO NOTHING;

-- name: Notes :many
-- The newest notes of a run.
SELECT at, level, message FROM evaluation_run_notes
WHERE org_id = @org_id AND run_id = @run_id
ORDER BY at DESC, subject
LIMIT @row_limit;

-- name: ChunkDeaths :one
-- How many workers have died while they scored a unit of a chunk.
SELECT deaths FROM evaluation_run_chunks
WHERE org_id = @org_id AND run_id = @run_id AND chunk = @chunk;

-- name: PutChunkDeaths :exec
-- Replaces that.
INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, cost_nano_usd, updated_at, deaths)
VALUES (@org_id, @run_id, @chunk, @size, 0, 0, 0, 0, 0, 0, @updated_at, @deaths)
ON CONFLICT (org_id, run_id, chunk) DO UPDATE SET deaths = excluded.deaths;
