-- name: Insert :one
-- Makes a watch.
INSERT INTO judge_watches (org_id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, anchors, next_at, created_by, created_at, updated_at)
VALUES (@org_id, @config_id, @config_version, @dataset_id, @dataset_version, @every_seconds, @tolerance, @status, @anchors, @next_at, @created_by, @created_at, @created_at)
RETURNING id;

-- name: Find :one
-- One watch.
SELECT org_id, id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, problem, anchors, flip_limit, evidence, checks, next_at, created_by, created_at, updated_at, version FROM judge_watches WHERE org_id = @org_id AND id = @id;

-- name: Lock :one
-- One watch, kept from changing until the transaction ends.
SELECT org_id, id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, problem, anchors, flip_limit, evidence, checks, next_at, created_by, created_at, updated_at, version FROM judge_watches WHERE org_id = @org_id AND id = @id FOR UPDATE;

-- name: Open :one
-- The open watch of a judge.
SELECT id FROM judge_watches WHERE org_id = @org_id AND config_id = @config_id AND status IN ('preparing', 'watching');

-- name: List :many
-- A page of the watches of a judge, newest first.
SELECT org_id, id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, problem, anchors, flip_limit, evidence, checks, next_at, created_by, created_at, updated_at, version FROM judge_watches
WHERE org_id = @org_id AND config_id = @config_id AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: Count :one
-- How many watches the judge has.
SELECT count(*) FROM judge_watches WHERE org_id = @org_id AND config_id = @config_id;

-- name: Update :execrows
-- Replaces what changes, if the row is still the one that was read.
UPDATE judge_watches
SET status = @status, problem = @problem, flip_limit = @flip_limit, evidence = @evidence, checks = @checks, next_at = @next_at, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND version = @expected_version AND status = @expected_status;

-- name: InsertAnswer :exec
-- Keeps an answer of the judge; the first one about an anchor stays.
INSERT INTO judge_watch_answers (org_id, watch_id, number, item_id, repetition, passed, cost_nano)
VALUES (@org_id, @watch_id, @number, @item_id, @repetition, sqlc.narg('passed'), @cost_nano)
ON CONFLICT DO NOTHING;

-- name: Answers :many
-- The answers of a check, or those that the watch began with.
SELECT item_id, repetition, passed, cost_nano FROM judge_watch_answers
WHERE org_id = @org_id AND watch_id = @watch_id AND number = @number
ORDER BY item_id, repetition;

-- name: ForgetAnswers :exec
-- Removes the answers of old checks; those that the watch began with stay.
DELETE FROM judge_watch_answers
WHERE org_id = @org_id AND watch_id = @watch_id AND number > 0 AND number < @before_number;

-- name: InsertCheck :one
-- Keeps what a check found.
INSERT INTO judge_watch_checks (org_id, watch_id, number, verdict, found, created_at)
VALUES (@org_id, @watch_id, @number, @verdict, @found, @created_at)
RETURNING id;

-- name: CountChecks :one
-- How many checks ListChecks has on all pages.
SELECT count(*) FROM judge_watch_checks WHERE org_id = @org_id AND watch_id = @watch_id;

-- name: ListChecks :many
-- A page of a watch's checks, newest first.
SELECT id, watch_id, number, verdict, found, created_at FROM judge_watch_checks
WHERE org_id = @org_id AND watch_id = @watch_id AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;
