-- name: InsertTask :one
-- Makes a task without items.
INSERT INTO annotation_tasks (org_id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, created_by, created_at, updated_at)
VALUES (@org_id, @name, @type, @status, @label_schema, @guidelines, @description, sqlc.narg('due_at'), @tags, @annotators_per_item, @agreement_threshold, @blind, @assignee_ids, sqlc.narg('source'), @created_by, @created_at, @created_at)
RETURNING id, version;

-- name: FindTask :one
-- One task.
SELECT org_id, id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, total_items, completed_items, created_by, created_at, updated_at, version, deleted_at
FROM annotation_tasks
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: LockTask :one
-- One task, kept from changing until the transaction ends.
SELECT org_id, id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, total_items, completed_items, created_by, created_at, updated_at, version, deleted_at
FROM annotation_tasks
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL
FOR UPDATE;

-- name: KeepTask :one
-- One task whose settings stay as they are until the transaction ends. Its counts may
-- change: people answer side by side.
SELECT org_id, id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, total_items, completed_items, created_by, created_at, updated_at, version, deleted_at
FROM annotation_tasks
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL
FOR KEY SHARE;

-- name: ListTasks :many
-- A page of tasks, newest first; an absent filter matches everything.
SELECT org_id, id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, total_items, completed_items, created_by, created_at, updated_at, version, deleted_at
FROM annotation_tasks
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('only_id')::bigint IS NULL OR id = sqlc.narg('only_id'))
  AND (sqlc.narg('status')::text IS NULL OR status = sqlc.narg('status'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountTasks :one
-- How many tasks the same filters match.
SELECT count(*)
FROM annotation_tasks
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('only_id')::bigint IS NULL OR id = sqlc.narg('only_id'))
  AND (sqlc.narg('status')::text IS NULL OR status = sqlc.narg('status'))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0);

-- name: UpdateTask :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE annotation_tasks
SET name = @name, type = @type, status = @status, label_schema = @label_schema, guidelines = @guidelines, description = @description, due_at = sqlc.narg('due_at'), tags = @tags,
    annotators_per_item = @annotators_per_item, agreement_threshold = @agreement_threshold, blind = @blind, assignee_ids = @assignee_ids, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND version = @expected_version AND status = @expected_status;

-- name: CountInTask :one
-- Adds to the counts of a task and returns it as it is then.
UPDATE annotation_tasks
SET total_items = total_items + @items, completed_items = completed_items + @completed
WHERE org_id = @org_id AND id = @id
RETURNING org_id, id, name, type, status, label_schema, guidelines, description, due_at, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, source, total_items, completed_items, created_by, created_at, updated_at, version, deleted_at;

-- name: DeleteTask :execrows
-- Marks a task as deleted, unless somebody has decided about one of its items.
UPDATE annotation_tasks t SET deleted_at = @deleted_at, version = t.version + 1
WHERE t.org_id = @org_id AND t.id = @id AND t.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM annotation_items i WHERE i.org_id = t.org_id AND i.task_id = t.id AND i.status = 'adjudicated');

-- name: TaskAnswered :one
-- Whether somebody has answered an item of the task.
SELECT EXISTS (SELECT 1 FROM annotations a WHERE a.org_id = @org_id AND a.task_id = @task_id::bigint AND a.deleted_at IS NULL)::boolean;

-- name: InsertItems :many
-- Adds items at the end of the task's queue, in the order given.
INSERT INTO annotation_items (org_id, task_id, status, content, suggestion, bytes, evaluation_run_id, test_case_id, trace_id, span_id, inclusion_probability, required, created_at, updated_at)
SELECT @org_id, @task_id, 'pending', i.content::json, nullif(i.suggestion, '')::json, octet_length(i.content) + octet_length(i.suggestion),
       nullif(i.run, 0), nullif(i.test_case, 0), nullif(i.trace, ''::bytea), nullif(i.span, ''), nullif(i.probability, 0), @required, @created_at, @created_at
FROM (
  SELECT unnest(@contents::text[]) AS content, unnest(@suggestions::text[]) AS suggestion, unnest(@runs::bigint[]) AS run, unnest(@test_cases::bigint[]) AS test_case,
         unnest(@traces::bytea[]) AS trace, unnest(@spans::text[]) AS span, unnest(@probabilities::double precision[]) AS probability
) i
RETURNING org_id, id, task_id, status, content, suggestion, bytes, evaluation_run_id, test_case_id, trace_id, span_id, required, submitted, held, skipped, agreement, adjudication_id, queue, created_at, updated_at, version, inclusion_probability;

-- name: FindItem :one
-- One item.
SELECT org_id, id, task_id, status, content, suggestion, bytes, evaluation_run_id, test_case_id, trace_id, span_id, required, submitted, held, skipped, agreement, adjudication_id, queue, created_at, updated_at, version, inclusion_probability
FROM annotation_items
WHERE org_id = @org_id AND id = @id;

-- name: LockItem :one
-- One item, kept from changing until the transaction ends. Everything that changes
-- an item's counts locks it first.
SELECT org_id, id, task_id, status, content, suggestion, bytes, evaluation_run_id, test_case_id, trace_id, span_id, required, submitted, held, skipped, agreement, adjudication_id, queue, created_at, updated_at, version, inclusion_probability
FROM annotation_items
WHERE org_id = @org_id AND id = @id
FOR UPDATE;

-- name: ListItems :many
-- A page of a task's items, newest first. It ends early when it has enough bytes, with
-- the annotations that the caller may read; more says of each item whether another follows it.
SELECT p.org_id, p.id, p.task_id, p.status, p.content, p.suggestion, p.bytes, p.evaluation_run_id, p.test_case_id, p.trace_id, p.span_id, p.required, p.submitted, p.held, p.skipped,
       p.agreement, p.adjudication_id, p.queue, p.created_at, p.updated_at, p.version, p.inclusion_probability, p.more
FROM (
  SELECT i.org_id, i.id, i.task_id, i.status, i.content, i.suggestion, i.bytes, i.evaluation_run_id, i.test_case_id, i.trace_id, i.span_id, i.required, i.submitted, i.held, i.skipped,
         i.agreement, i.adjudication_id, i.queue, i.created_at, i.updated_at, i.version, i.inclusion_probability,
         (lead(i.id) OVER (ORDER BY i.id DESC) IS NOT NULL)::boolean AS more, (sum(i.load) OVER (ORDER BY i.id DESC) - i.load)::bigint AS before
  FROM (
    SELECT a.org_id, a.id, a.task_id, a.status, a.content, a.suggestion, a.bytes, a.evaluation_run_id, a.test_case_id, a.trace_id, a.span_id, a.required, a.submitted, a.held, a.skipped,
           a.agreement, a.adjudication_id, a.queue, a.created_at, a.updated_at, a.version, a.inclusion_probability,
           a.bytes + coalesce((
             SELECT sum(octet_length(n.answer::text)) FROM annotations n
             WHERE n.org_id = @org_id AND n.item_id = a.id AND n.status <> 'discarded' AND n.deleted_at IS NULL AND (n.open OR n.person = sqlc.narg('reader'))), 0) AS load
    FROM annotation_items a
    WHERE a.org_id = @org_id AND a.task_id = @task_id AND a.id < @below
      AND CASE @annotated::text
        WHEN 'true' THEN a.submitted > 0
        WHEN 'false' THEN a.submitted = 0
        WHEN 'partial' THEN a.submitted > 0 AND a.submitted < a.required
        WHEN 'complete' THEN a.submitted >= a.required
        ELSE true END
    ORDER BY a.id DESC
    LIMIT @one_more OFFSET @row_offset
  ) i
) p
WHERE p.before < @max_bytes::bigint
ORDER BY p.id DESC
LIMIT @row_limit;

-- name: CountItems :one
-- How many items the same filter matches.
SELECT count(*)
FROM annotation_items a
WHERE a.org_id = @org_id AND a.task_id = @task_id
  AND CASE @annotated::text
    WHEN 'true' THEN a.submitted > 0
    WHEN 'false' THEN a.submitted = 0
    WHEN 'partial' THEN a.submitted > 0 AND a.submitted < a.required
    WHEN 'complete' THEN a.submitted >= a.required
    ELSE true END;

-- name: UpdateItem :execrows
-- Replaces what changes, if the item still has the status that was read. An item
-- that needs people again goes to the end of the queue.
UPDATE annotation_items
SET status = @status, content = @content, suggestion = sqlc.narg('suggestion'), bytes = @bytes, submitted = @submitted, held = @held, skipped = @skipped, agreement = sqlc.narg('agreement'),
    adjudication_id = sqlc.narg('adjudication_id'), queue = CASE WHEN @requeue::boolean THEN nextval('annotation_queue') ELSE queue END, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND status = @expected_status;

-- name: EnterQueue :one
-- A person's place in the queue of a task, kept from changing until the transaction
-- ends: two requests of one person happen one after the other.
INSERT INTO annotation_places (org_id, task_id, person, queue)
VALUES (@org_id, @task_id, @person, 0)
ON CONFLICT (org_id, task_id, person) DO UPDATE SET queue = annotation_places.queue
RETURNING queue;

-- name: Renew :one
-- The item that a person holds, from now until later.
UPDATE annotation_leases SET expires_at = @expires_at
WHERE org_id = @org_id AND task_id = @task_id AND person = @person
RETURNING item_id;

-- name: Take :one
-- Hands the person the next item of the queue that needs somebody and that they
-- have neither answered nor skipped; a draft is not an answer. It begins after the person's place and ends at
-- the first item, however long the queue is. Whoever meets an item that is being
-- taken waits, and goes on if no place is left: nobody passes an item that still
-- needs them. The place moves to the first item that was seen to be free. OFFSET 0
-- keeps each look at what the person did a look into an index.
WITH first AS (
  SELECT f.queue FROM annotation_items f
  WHERE f.org_id = @org_id AND f.task_id = @task_id AND f.queue > @place
    AND f.submitted + f.held < f.required AND f.status IN ('pending', 'in_progress')
    AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.org_id = @org_id AND a.item_id = f.id AND a.person = @person AND a.status = 'submitted' AND a.deleted_at IS NULL OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM annotation_skips s WHERE s.org_id = @org_id AND s.item_id = f.id AND s.person = @person OFFSET 0)
  ORDER BY f.queue
  LIMIT 1
), chosen AS (
  SELECT i.id FROM annotation_items i
  WHERE i.org_id = @org_id AND i.task_id = @task_id AND i.queue > @place
    AND i.submitted + i.held < i.required AND i.status IN ('pending', 'in_progress')
    AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.org_id = @org_id AND a.item_id = i.id AND a.person = @person AND a.status = 'submitted' AND a.deleted_at IS NULL OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM annotation_skips s WHERE s.org_id = @org_id AND s.item_id = i.id AND s.person = @person OFFSET 0)
  ORDER BY i.queue
  LIMIT 1
  FOR UPDATE OF i
), taken AS (
  UPDATE annotation_items t SET held = t.held + 1, status = 'in_progress', updated_at = @now
  FROM chosen c WHERE t.org_id = @org_id AND t.id = c.id
  RETURNING t.id
), moved AS (
  UPDATE annotation_places p SET queue = f.queue
  FROM first f WHERE p.org_id = @org_id AND p.task_id = @task_id AND p.person = @person
)
INSERT INTO annotation_leases (org_id, task_id, person, item_id, expires_at)
SELECT @org_id, @task_id, @person, t.id, @expires_at FROM taken t
RETURNING item_id;

-- name: ExpiredItems :many
-- Some items of a task that people held and did not answer in time, locked. Those
-- that somebody is changing are left for later.
SELECT i.org_id, i.id, i.task_id, i.status, i.content, i.suggestion, i.bytes, i.evaluation_run_id, i.test_case_id, i.trace_id, i.span_id, i.required, i.submitted, i.held, i.skipped, i.agreement, i.adjudication_id, i.queue, i.created_at, i.updated_at, i.version, i.inclusion_probability
FROM annotation_items i
WHERE i.org_id = @org_id AND i.id = ANY (ARRAY(
  SELECT l.item_id FROM annotation_leases l
  WHERE l.org_id = @org_id AND l.task_id = @task_id AND l.expires_at <= @now
  ORDER BY l.expires_at
  LIMIT @batch))
FOR UPDATE SKIP LOCKED;

-- name: DropExpired :execrows
-- Removes the leases of an item that have expired.
DELETE FROM annotation_leases WHERE org_id = @org_id AND item_id = @item_id AND expires_at <= @now;

-- name: DropLease :execrows
-- Removes the lease of a person on an item.
DELETE FROM annotation_leases WHERE org_id = @org_id AND item_id = @item_id AND person = @person;

-- name: DropLeases :exec
-- Removes all leases of an item.
DELETE FROM annotation_leases WHERE org_id = @org_id AND item_id = @item_id;

-- name: Leases :many
-- Who holds some items now.
SELECT item_id, person, expires_at FROM annotation_leases
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]) AND expires_at > @now
ORDER BY item_id, expires_at, person;

-- name: Skip :execrows
-- Notes that a person will not answer an item.
INSERT INTO annotation_skips (org_id, item_id, person, reason, created_at)
VALUES (@org_id, @item_id, @person, @reason, @created_at)
ON CONFLICT DO NOTHING;

-- name: Unskip :exec
-- Forgets who would not answer an item.
DELETE FROM annotation_skips WHERE org_id = @org_id AND item_id = @item_id;

-- name: UnskipOwn :execrows
-- Forgets that a person would not answer an item.
DELETE FROM annotation_skips WHERE org_id = @org_id AND item_id = @item_id AND person = @person;

-- name: Skips :many
-- Who would not answer some items, and why.
SELECT item_id, person, reason, created_at FROM annotation_skips
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[])
ORDER BY item_id, created_at, person;

-- name: InsertAnnotation :one
-- Keeps what a person says. One person says one thing about an item.
INSERT INTO annotations (org_id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at)
VALUES (@org_id, sqlc.narg('task_id'), sqlc.narg('item_id'), sqlc.narg('evaluation_run_id'), sqlc.narg('test_case_id'), sqlc.narg('trace_id'), sqlc.narg('span_id'), @person, @asserted, @status, @answer, sqlc.narg('duration_ms'), @open, @nonce, @created_at, @created_at)
RETURNING id, version;

-- name: FindAnnotation :one
-- One annotation that the caller may read.
SELECT org_id, id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at, version, deleted_at
FROM annotations
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND (open OR person = sqlc.narg('reader'));

-- name: LockAnnotation :one
-- One annotation that the caller may read, kept from changing until the transaction ends.
SELECT org_id, id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at, version, deleted_at
FROM annotations
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND (open OR person = sqlc.narg('reader'))
FOR UPDATE;

-- name: OwnAnnotation :one
-- What a person says about an item, if they have not taken it back.
SELECT org_id, id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at, version, deleted_at
FROM annotations
WHERE org_id = @org_id AND item_id = @item_id::bigint AND person = @person AND status <> 'discarded' AND deleted_at IS NULL;

-- name: Submitted :many
-- The answers to an item that count, in the order in which they came.
SELECT org_id, id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at, version, deleted_at
FROM annotations
WHERE org_id = @org_id AND item_id = @item_id::bigint AND status = 'submitted' AND deleted_at IS NULL
ORDER BY id;

-- name: AnnotationsOfItems :many
-- What the caller may read of the annotations of some items.
SELECT org_id, id, task_id, item_id, evaluation_run_id, test_case_id, trace_id, span_id, person, asserted, status, answer, duration_ms, open, nonce, created_at, updated_at, version, deleted_at
FROM annotations
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]) AND status <> 'discarded' AND deleted_at IS NULL AND (open OR person = sqlc.narg('reader'))
ORDER BY item_id, id;

-- name: ListAnnotations :many
-- A page of the annotations that the caller may read, newest first. It ends early when
-- it has enough bytes; more says of each annotation whether another follows it.
SELECT sqlc.embed(a), p.more
FROM (
  SELECT f.id, (lead(f.id) OVER (ORDER BY f.id DESC) IS NOT NULL)::boolean AS more, (sum(f.bytes) OVER (ORDER BY f.id DESC) - f.bytes)::bigint AS before
  FROM (
    SELECT n.id, octet_length(n.answer::text) AS bytes
    FROM annotations n
    WHERE n.org_id = @org_id AND n.deleted_at IS NULL AND (n.open OR n.person = sqlc.narg('reader'))
      AND (sqlc.narg('evaluation_run_id')::bigint IS NULL OR n.evaluation_run_id = sqlc.narg('evaluation_run_id'))
      AND (sqlc.narg('test_case_id')::bigint IS NULL OR n.test_case_id = sqlc.narg('test_case_id'))
      AND (sqlc.narg('trace_id')::bytea IS NULL OR n.trace_id = sqlc.narg('trace_id'))
      AND (sqlc.narg('task_id')::bigint IS NULL OR n.task_id = sqlc.narg('task_id'))
      AND (sqlc.narg('person')::uuid IS NULL OR n.person = sqlc.narg('person'))
      AND n.id < @below
    ORDER BY n.id DESC
    LIMIT @one_more OFFSET @row_offset
  ) f
) p
JOIN annotations a ON a.org_id = @org_id AND a.id = p.id
WHERE p.before < @max_bytes::bigint
ORDER BY a.id DESC
LIMIT @row_limit;

-- name: CountAnnotations :one
-- How many annotations the same filters match.
SELECT count(*)
FROM annotations
WHERE org_id = @org_id AND deleted_at IS NULL AND (open OR person = sqlc.narg('reader'))
  AND (sqlc.narg('evaluation_run_id')::bigint IS NULL OR evaluation_run_id = sqlc.narg('evaluation_run_id'))
  AND (sqlc.narg('test_case_id')::bigint IS NULL OR test_case_id = sqlc.narg('test_case_id'))
  AND (sqlc.narg('trace_id')::bytea IS NULL OR trace_id = sqlc.narg('trace_id'))
  AND (sqlc.narg('task_id')::bigint IS NULL OR task_id = sqlc.narg('task_id'))
  AND (sqlc.narg('person')::uuid IS NULL OR person = sqlc.narg('person'));

-- name: UpdateAnnotation :execrows
-- Replaces what a person says, if the row is still the one that was read.
UPDATE annotations
SET status = @status, answer = @answer, duration_ms = sqlc.narg('duration_ms'), open = @open, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND version = @expected_version AND status = @expected_status;

-- name: OpenAnswers :exec
-- Lets others read the answers to an item, or not. One that was taken back is closed
-- with the others, and is not opened again.
UPDATE annotations SET open = @open
WHERE org_id = @org_id AND item_id = @item_id::bigint AND (status = 'submitted' OR NOT @open) AND open <> @open;

-- name: DeleteAnnotation :execrows
-- Marks an annotation as deleted.
UPDATE annotations SET deleted_at = @deleted_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: InsertRevision :exec
-- Keeps what an annotation said before it changes.
INSERT INTO annotation_revisions (org_id, annotation_id, version, status, answer, duration_ms, replaced_at)
VALUES (@org_id, @annotation_id, @version, @status, @answer, sqlc.narg('duration_ms'), @replaced_at);

-- name: Revisions :many
-- What an annotation said before, newest first.
SELECT version, status, answer, duration_ms, replaced_at FROM annotation_revisions
WHERE org_id = @org_id AND annotation_id = @annotation_id
ORDER BY version DESC
LIMIT 100;

-- name: OpenAnswersOfTask :many
-- Some of the answers of a task that everybody may read, in the order in which they
-- came, and no more of them than there is room for. Those of a blind task are the
-- answers to its complete items.
SELECT a.id, i.id AS item_id, i.status AS item_status, i.agreement, a.person, a.asserted, a.answer, a.duration_ms
FROM (
  SELECT f.id, (sum(f.bytes) OVER (ORDER BY f.id) - f.bytes)::bigint AS before
  FROM (
    SELECT n.id, octet_length(n.answer::text) AS bytes
    FROM annotations n
    WHERE n.org_id = @org_id AND n.task_id = @task_id::bigint AND n.id > @above AND n.status = 'submitted' AND n.open AND n.deleted_at IS NULL
    ORDER BY n.id
    LIMIT @row_limit
  ) f
) p
JOIN annotations a ON a.org_id = @org_id AND a.id = p.id
JOIN annotation_items i ON i.org_id = a.org_id AND i.id = a.item_id
WHERE p.before < @max_bytes::bigint
ORDER BY a.id;

-- name: ContentOfItems :many
-- What some items of a task show.
SELECT id, content FROM annotation_items
WHERE org_id = @org_id AND task_id = @task_id AND id = ANY (@items::bigint[])
ORDER BY id;

-- name: ScoredAnnotations :many
-- One annotation, or those of an item, whatever has become of them, with the label
-- schema of their task.
SELECT sqlc.embed(a), coalesce(t.label_schema::text, '')::text AS label_schema
FROM annotations a
LEFT JOIN annotation_tasks t ON t.org_id = a.org_id AND t.id = a.task_id
WHERE a.org_id = @org_id AND (a.id = sqlc.narg('id')::bigint OR a.item_id = sqlc.narg('item_id')::bigint)
ORDER BY a.id;

-- name: DoomedItems :many
-- Some items of a deleted task, kept from changing until the transaction ends.
SELECT i.id FROM annotation_items i
JOIN annotation_tasks t ON t.org_id = i.org_id AND t.id = i.task_id AND t.deleted_at IS NOT NULL
WHERE i.org_id = @org_id AND i.task_id = @task_id
ORDER BY i.id
LIMIT @batch
FOR UPDATE OF i;

-- name: PurgeLeases :exec
-- Removes who holds some items.
DELETE FROM annotation_leases WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]);

-- name: PurgeSkips :exec
-- Removes who would not answer some items.
DELETE FROM annotation_skips WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]);

-- name: PurgeRevisions :exec
-- Removes earlier versions of what people did not submit, or took back.
DELETE FROM annotation_revisions r USING annotations a
WHERE r.org_id = @org_id AND a.org_id = r.org_id AND a.id = r.annotation_id
  AND a.item_id = ANY (@items::bigint[]) AND (a.status <> 'submitted' OR a.deleted_at IS NOT NULL);

-- name: PurgeAnnotations :exec
-- Removes what people did not submit, or took back.
DELETE FROM annotations
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[]) AND (status <> 'submitted' OR deleted_at IS NOT NULL);

-- name: PurgeItems :exec
-- Removes items of a deleted task.
DELETE FROM annotation_items WHERE org_id = @org_id AND id = ANY (@items::bigint[]);

-- name: PurgePlaces :exec
-- Removes how far people have come in a task that is deleted.
DELETE FROM annotation_places p USING annotation_tasks t
WHERE p.org_id = @org_id AND p.task_id = @task_id AND t.org_id = p.org_id AND t.id = p.task_id AND t.deleted_at IS NOT NULL;

-- name: PurgeTask :exec
-- Removes a deleted task whose items are gone.
DELETE FROM annotation_tasks WHERE org_id = @org_id AND id = @id AND deleted_at IS NOT NULL;

-- name: InsertGold :exec
-- Keeps the labels of gold questions.
INSERT INTO annotation_truths (org_id, task_id, item_id, origin, label)
SELECT @org_id, @task_id, g.item, 'gold', g.label
FROM (SELECT unnest(@items::bigint[]) AS item, unnest(@labels::text[]) AS label) g;

-- name: HasGold :one
-- Whether a task has gold questions.
SELECT EXISTS (SELECT 1 FROM annotation_truths WHERE org_id = @org_id AND task_id = @task_id AND origin = 'gold');

-- name: KeepDecision :exec
-- Keeps what an adjudication decided about an item; a later decision replaces it.
INSERT INTO annotation_truths (org_id, task_id, item_id, origin, label, confirmed)
VALUES (@org_id, @task_id, @item_id, 'decision', sqlc.narg('label'), sqlc.narg('confirmed'))
ON CONFLICT (org_id, task_id, item_id, origin) DO UPDATE SET label = excluded.label, confirmed = excluded.confirmed;

-- name: DropDecision :exec
-- Forgets what an adjudication decided about an item.
DELETE FROM annotation_truths WHERE org_id = @org_id AND item_id = @item_id AND origin = 'decision';

-- name: Truths :many
-- What is known about the items of a task.
SELECT item_id, origin, label, confirmed FROM annotation_truths
WHERE org_id = @org_id AND task_id = @task_id
ORDER BY item_id, origin;

-- name: HasAnswered :one
-- Whether a person has said anything about an item of a task.
SELECT EXISTS (SELECT 1 FROM annotations WHERE org_id = @org_id AND task_id = @task_id::bigint AND person = @person);

-- name: ItemsAbove :many
-- Some items of a task, oldest first, until they have enough bytes.
SELECT p.org_id, p.id, p.task_id, p.status, p.content, p.suggestion, p.bytes, p.evaluation_run_id, p.test_case_id, p.trace_id, p.span_id, p.required, p.submitted, p.held, p.skipped,
       p.agreement, p.adjudication_id, p.queue, p.created_at, p.updated_at, p.version, p.inclusion_probability
FROM annotation_items p
JOIN (
  SELECT i.id, (sum(i.bytes) OVER (ORDER BY i.id) - i.bytes)::bigint AS before
  FROM (
    SELECT a.id, a.bytes
    FROM annotation_items a
    WHERE a.org_id = @org_id AND a.task_id = @task_id AND a.id > @above
    ORDER BY a.id
    LIMIT @row_limit
  ) i
) n ON n.id = p.id
WHERE p.org_id = @org_id AND n.before < @max_bytes::bigint
ORDER BY p.id;

-- name: InsertImports :exec
-- Keeps answers that were imported with items.
INSERT INTO annotation_imports (org_id, item_id, answer, imported_by, created_at)
SELECT @org_id, a.item, a.answer::json, @imported_by, @created_at
FROM (SELECT unnest(@items::bigint[]) AS item, unnest(@answers::text[]) AS answer) a;

-- name: ImportsOfItems :many
-- The answers that were imported with some items, in the order of their file.
SELECT item_id, answer FROM annotation_imports
WHERE org_id = @org_id AND item_id = ANY (@items::bigint[])
ORDER BY item_id, id;
