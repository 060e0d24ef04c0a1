-- name: InsertItem :one
-- Opens an item; its content follows.
INSERT INTO adjudication_items (org_id, source, status, priority, disagreement, rank_at, subject, subject_key, evaluation_run_id, trace_id, title, question, context, candidates,
  content_digest, due_at, tags, notes, created_by, created_at, updated_at)
VALUES (@org_id, @source, 'open', @priority, @disagreement, @rank_at, @subject, @subject_key, sqlc.narg('evaluation_run_id'), sqlc.narg('trace_id'), @title, @question, @context, @candidates,
  @content_digest, sqlc.narg('due_at'), @tags, @notes, @created_by, @created_at, @created_at)
RETURNING id;

-- name: InsertContent :exec
-- Keeps what is assessed.
INSERT INTO adjudication_contents (org_id, item_id, content) VALUES (@org_id, @item_id, @content);

-- name: FindContent :one
-- What is assessed.
SELECT content FROM adjudication_contents WHERE org_id = @org_id AND item_id = @item_id;

-- name: FindUnresolved :one
-- The item of a source about a subject that is not resolved.
SELECT id FROM adjudication_items
WHERE org_id = @org_id AND source = @source AND subject_key = @subject_key AND status IN ('open', 'assigned', 'decided');

-- name: WasOpened :one
-- Whether a source has ever opened an item about a subject.
SELECT EXISTS (SELECT 1 FROM adjudication_items WHERE org_id = @org_id AND source = @source AND subject_key = @subject_key);

-- name: FindItem :one
-- One item.
SELECT * FROM adjudication_items WHERE org_id = @org_id AND id = @id;

-- name: LockItem :one
-- One item, kept from changing until the transaction ends.
SELECT * FROM adjudication_items WHERE org_id = @org_id AND id = @id FOR UPDATE;

-- name: ListItems :many
-- A page of items in the order of the queue; an absent filter matches everything. The
-- inner query reads each status in the order of its index, as far as the page needs.
SELECT i.*
FROM (
  SELECT q.id, q.rank_at
  FROM unnest(@statuses::text[]) AS wanted (status)
  CROSS JOIN LATERAL (
    SELECT a.id, a.rank_at
    FROM adjudication_items a
    WHERE a.org_id = @org_id AND a.status = wanted.status
      AND (a.rank_at, a.id) > (@after_rank::timestamptz, @after_id::bigint)
      AND (sqlc.narg('sources')::text[] IS NULL OR a.source = ANY (sqlc.narg('sources')::text[]))
      AND (sqlc.narg('priorities')::text[] IS NULL OR a.priority = ANY (sqlc.narg('priorities')::text[]))
      AND (sqlc.narg('assignee_id')::uuid IS NULL OR a.assignee_id = sqlc.narg('assignee_id'))
      AND (sqlc.narg('evaluation_run_id')::bigint IS NULL OR a.evaluation_run_id = sqlc.narg('evaluation_run_id'))
      AND (sqlc.narg('trace_id')::text IS NULL OR a.trace_id = sqlc.narg('trace_id'))
      AND (sqlc.narg('failure_mode')::text IS NULL OR a.failure_mode = sqlc.narg('failure_mode'))
      AND (sqlc.narg('search')::text IS NULL OR strpos(lower(a.title), lower(sqlc.narg('search'))) > 0)
      AND (sqlc.narg('created_after')::timestamptz IS NULL OR a.created_at > sqlc.narg('created_after'))
      AND (sqlc.narg('created_before')::timestamptz IS NULL OR a.created_at < sqlc.narg('created_before'))
    ORDER BY a.rank_at, a.id
    LIMIT @reach
  ) q
  ORDER BY q.rank_at, q.id
  LIMIT @row_limit OFFSET @row_offset
) p
JOIN adjudication_items i ON i.org_id = @org_id AND i.id = p.id
ORDER BY i.rank_at, i.id;

-- name: CountItems :one
-- How many items the same filters match.
SELECT count(*)
FROM adjudication_items a
WHERE a.org_id = @org_id AND a.status = ANY (@statuses::text[])
  AND (sqlc.narg('sources')::text[] IS NULL OR a.source = ANY (sqlc.narg('sources')::text[]))
  AND (sqlc.narg('priorities')::text[] IS NULL OR a.priority = ANY (sqlc.narg('priorities')::text[]))
  AND (sqlc.narg('assignee_id')::uuid IS NULL OR a.assignee_id = sqlc.narg('assignee_id'))
  AND (sqlc.narg('evaluation_run_id')::bigint IS NULL OR a.evaluation_run_id = sqlc.narg('evaluation_run_id'))
  AND (sqlc.narg('trace_id')::text IS NULL OR a.trace_id = sqlc.narg('trace_id'))
  AND (sqlc.narg('failure_mode')::text IS NULL OR a.failure_mode = sqlc.narg('failure_mode'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(a.title), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR a.created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR a.created_at < sqlc.narg('created_before'));

-- name: UpdateItem :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE adjudication_items
SET status = @status, priority = @priority, rank_at = @rank_at, title = @title, failure_mode = sqlc.narg('failure_mode'), assignee_id = sqlc.narg('assignee_id'),
    assigned_by = sqlc.narg('assigned_by'), assigned_at = sqlc.narg('assigned_at'), due_at = sqlc.narg('due_at'), tags = @tags, notes = @notes, reason = @reason,
    updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND version = @expected_version AND status = @expected_status;

-- name: InsertDecision :one
-- Records a decision, if the item has none that stands.
INSERT INTO adjudication_decisions (org_id, item_id, decision, rationale, label, score, expected_output, failure_mode, confidence, decided_by, decider_id, independent, override, separation, overturned, created_at)
VALUES (@org_id, @item_id, @decision, @rationale, sqlc.narg('label'), sqlc.narg('score'), sqlc.narg('expected_output'), sqlc.narg('failure_mode'), sqlc.narg('confidence'), @decided_by, @decider_id,
  @independent, @override, @separation, sqlc.narg('overturned'), @created_at)
RETURNING id;

-- name: SupersedeDecision :exec
-- Ends the decision that stands.
UPDATE adjudication_decisions SET superseded_at = @superseded_at, superseded_by = @superseded_by, superseded_reason = @superseded_reason
WHERE org_id = @org_id AND item_id = @item_id AND superseded_at IS NULL;

-- name: Decisions :many
-- The decisions about some items, newest first.
SELECT * FROM adjudication_decisions
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[])
ORDER BY item_id, id DESC;

-- name: InsertTruth :one
-- Records ground truth.
INSERT INTO ground_truths (org_id, item_id, decision_id, decision, label, score, expected_output, rationale, decided_by, created_by, number, supersedes_id, status, content_digest, created_at)
VALUES (@org_id, @item_id, @decision_id, @decision, sqlc.narg('label'), sqlc.narg('score'), sqlc.narg('expected_output'), @rationale, @decided_by, @created_by, @number, sqlc.narg('supersedes_id'), 'active', @content_digest, @created_at)
RETURNING id;

-- name: EndTruth :execrows
-- Ends ground truth that is active.
UPDATE ground_truths SET status = @status, reason = @reason, ended_at = @ended_at
WHERE org_id = @org_id AND id = @id AND status = 'active';

-- name: FindTruth :one
-- One ground truth.
SELECT * FROM ground_truths WHERE org_id = @org_id AND id = @id;

-- name: ActiveTruths :many
-- The active ground truth of some items.
SELECT * FROM ground_truths WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]) AND status = 'active';

-- name: Entries :many
-- The entries of some items in datasets, in the order in which they were made.
SELECT * FROM ground_truth_entries WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]) ORDER BY id;

-- name: EntriesOfDatasetItem :many
-- The entries behind an item of a dataset, newest first.
SELECT * FROM ground_truth_entries WHERE org_id = @org_id AND dataset_id = @dataset_id AND dataset_item_id = @dataset_item_id ORDER BY id DESC;

-- name: InsertEntry :one
-- Records that an item of a dataset rests on ground truth.
INSERT INTO ground_truth_entries (org_id, item_id, ground_truth_id, purpose, dataset_id, dataset_item_id, split, judge_config_id, tags, justification, created_by, created_at)
VALUES (@org_id, @item_id, @ground_truth_id, @purpose, @dataset_id, @dataset_item_id, sqlc.narg('split'), sqlc.narg('judge_config_id'), @tags, @justification, @created_by, @created_at)
RETURNING id;

-- name: MoveEntry :exec
-- Lets an entry rest on the ground truth that replaces its former one.
UPDATE ground_truth_entries SET ground_truth_id = @ground_truth_id WHERE org_id = @org_id AND id = @id;

-- name: DeleteEntry :exec
-- Removes an entry whose item has left its dataset.
DELETE FROM ground_truth_entries WHERE org_id = @org_id AND id = @id;

-- name: LockSets :exec
-- Waits until no other transaction of the organization looks for its default sets.
SELECT pg_advisory_xact_lock(hashtextextended('adjudication_sets ' || @org_id::text, 0));

-- name: FindSet :one
-- The default set of a purpose.
SELECT dataset_id FROM adjudication_sets WHERE org_id = @org_id AND purpose = @purpose;

-- name: PutSet :exec
-- Makes a dataset the default set of a purpose.
INSERT INTO adjudication_sets (org_id, purpose, dataset_id, created_at) VALUES (@org_id, @purpose, @dataset_id, @created_at)
ON CONFLICT (org_id, purpose) DO UPDATE SET dataset_id = excluded.dataset_id, created_at = excluded.created_at;

-- name: CountsByStatus :many
-- How many items there are with each status.
SELECT status, count(*) AS items FROM adjudication_items WHERE org_id = @org_id GROUP BY status;

-- name: CountsOfQueue :many
-- How many undecided items there are of each source and priority.
SELECT source, priority, count(*) AS items
FROM adjudication_items
WHERE org_id = @org_id AND status IN ('open', 'assigned')
GROUP BY source, priority;

-- name: QueueAges :one
-- How long undecided items have waited.
SELECT count(*) FILTER (WHERE i.due_at < @now::timestamptz) AS overdue, min(i.created_at)::timestamptz AS oldest,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY i.created_at)::timestamptz AS median,
       percentile_disc(0.1) WITHIN GROUP (ORDER BY i.created_at)::timestamptz AS p90
FROM adjudication_items i
WHERE i.org_id = @org_id AND i.status IN ('open', 'assigned')
HAVING count(*) > 0;

-- name: DecidedSince :many
-- How many standing decisions each person has made since a time.
SELECT decider_id, count(*) AS decided
FROM adjudication_decisions
WHERE org_id = @org_id AND created_at >= @since AND superseded_at IS NULL
GROUP BY decider_id;

-- name: Overturned :one
-- How many standing decisions could be compared with judges, and how many went against them.
SELECT count(overturned) AS compared, count(*) FILTER (WHERE overturned) AS overturned
FROM adjudication_decisions
WHERE org_id = @org_id AND superseded_at IS NULL;

-- name: OpenPerAssignee :many
-- How many undecided items each person has.
SELECT assignee_id::uuid AS assignee_id, count(*) AS items
FROM adjudication_items
WHERE org_id = @org_id AND status = 'assigned'
GROUP BY assignee_id;
