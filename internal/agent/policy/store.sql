-- name: FindRevision :one
-- How often the active policies have changed.
SELECT revision FROM policy_sets WHERE org_id = @org_id;

-- name: InsertSet :execrows
-- Begins to count, unless that has been done.
INSERT INTO policy_sets (org_id, revision) VALUES (@org_id, 1) ON CONFLICT (org_id) DO NOTHING;

-- name: LockSet :one
-- Lets one transaction at a time change policies.
SELECT revision FROM policy_sets WHERE org_id = @org_id FOR UPDATE;

-- name: BumpSet :exec
-- Notes that the active policies have changed.
UPDATE policy_sets SET revision = revision + 1 WHERE org_id = @org_id;

-- name: ListActive :many
-- The policies that decide, with the revision that they are of: one statement sees one
-- state of the database.
SELECT s.revision, p.key, p.policy_version, p.mode, p.source, p.applies_to
FROM policy_sets s
LEFT JOIN policies p ON p.org_id = s.org_id AND p.state = 'active' AND p.mode <> 'disabled'
WHERE s.org_id = @org_id
ORDER BY p.key;

-- name: InsertPolicy :one
-- Makes a policy; its first version follows.
INSERT INTO policies (org_id, key, name, mode, state, source, applies_to, tests, used, created_by, created_at, updated_at)
VALUES (@org_id, @key, @name, @mode, @state, @source, @applies_to, @tests, @used, @created_by, @created_at, @created_at)
RETURNING id;

-- name: InsertVersion :exec
-- Keeps a version for good.
INSERT INTO policy_versions (org_id, policy_id, number, mode, source, applies_to, tests, created_by, created_at)
VALUES (@org_id, @policy_id, @number, @mode, @source, @applies_to, @tests, @created_by, @created_at);

-- name: FindPolicy :one
-- One policy.
SELECT *
FROM policies
WHERE org_id = @org_id AND id = @id;

-- name: LockPolicy :one
-- One policy, kept from changing until the transaction ends.
SELECT *
FROM policies
WHERE org_id = @org_id AND id = @id
FOR UPDATE;

-- name: ListPolicies :many
-- A page of policies, newest first; an absent filter matches everything.
SELECT *
FROM policies
WHERE org_id = @org_id
  AND (sqlc.narg('states')::text[] IS NULL OR state = ANY (sqlc.narg('states')::text[]))
  AND (sqlc.narg('modes')::text[] IS NULL OR mode = ANY (sqlc.narg('modes')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR key = sqlc.narg('key'))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountPolicies :one
-- How many policies the same filters match.
SELECT count(*)
FROM policies
WHERE org_id = @org_id
  AND (sqlc.narg('states')::text[] IS NULL OR state = ANY (sqlc.narg('states')::text[]))
  AND (sqlc.narg('modes')::text[] IS NULL OR mode = ANY (sqlc.narg('modes')::text[]))
  AND (sqlc.narg('key')::text IS NULL OR key = sqlc.narg('key'));

-- name: UpdatePolicy :exec
-- Changes a policy.
UPDATE policies
SET name = @name, mode = @mode, state = @state, source = @source, applies_to = @applies_to, tests = @tests,
    policy_version = @policy_version, used = @used, version = @version, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id;

-- name: DeleteVersions :exec
-- Removes the versions of a policy that was never active.
DELETE FROM policy_versions WHERE org_id = @org_id AND policy_id = @policy_id;

-- name: DeletePolicy :exec
-- Removes a policy that was never active.
DELETE FROM policies WHERE org_id = @org_id AND id = @id AND NOT used;

-- name: ListVersions :many
-- A page of a policy's versions, newest first.
SELECT number, mode, source, applies_to, tests, created_by, created_at
FROM policy_versions
WHERE org_id = @org_id AND policy_id = @policy_id AND number < @below
ORDER BY number DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountVersions :one
-- How many versions a policy has.
SELECT count(*) FROM policy_versions WHERE org_id = @org_id AND policy_id = @policy_id;

-- name: LockActor :exec
-- Lets one transaction at a time decide about an actor, until it ends.
-- all orgs: a lock has no rows; its number is made from the organization and the actor.
SELECT pg_advisory_xact_lock(@number::bigint);

-- name: ListFacts :many
-- How often actors were allowed to use tools between some times, apart from one decision each, and
-- the sums of arguments. One that is not listed is zero. At most so many actions are looked at
-- for each, and their arguments only for sums.
SELECT f.position::int AS position, count(*)::bigint AS number, coalesce(sum((a.numbers ->> f.argument)::numeric), 0)::text AS total,
       coalesce(bool_or(json_typeof(a.numbers -> f.argument) = 'null' OR json_typeof(a.numbers -> '') = 'null'), false)::boolean AS unknown
FROM (
  SELECT unnest(@positions::int[]) AS position, unnest(@decisions::bigint[]) AS decision, unnest(@actors::text[]) AS actor, unnest(@connectors::text[]) AS connector,
         unnest(@tools::text[]) AS tool, unnest(@arguments::text[]) AS argument, unnest(@since::timestamptz[]) AS since, unnest(@until::timestamptz[]) AS until,
         unnest(@most::int[]) AS most
) f
CROSS JOIN LATERAL (
  (SELECT p.numbers FROM policy_actions p
   WHERE f.argument <> '' AND p.org_id = @org_id AND p.actor = f.actor AND p.connector = f.connector AND p.tool = f.tool AND p.at > f.since AND p.at <= f.until AND p.decision_id <> f.decision
   LIMIT f.most)
  UNION ALL
  (SELECT NULL::json FROM policy_actions p
   WHERE f.argument = '' AND p.org_id = @org_id AND p.actor = f.actor AND p.connector = f.connector AND p.tool = f.tool AND p.at > f.since AND p.at <= f.until AND p.decision_id <> f.decision
   LIMIT f.most)
) a
GROUP BY f.position;

-- name: InsertAction :exec
-- Notes an action that was allowed.
INSERT INTO policy_actions (org_id, decision_id, actor, connector, tool, numbers, at)
VALUES (@org_id, @decision_id, @actor, @connector, @tool, @numbers, @at);

-- name: DeleteOldActions :execrows
-- Forgets actions that no policy can ask about, a bounded number a call.
-- all orgs: actions expire by age, and the sweeper has no organization.
DELETE FROM policy_actions a
USING (SELECT o.org_id, o.decision_id FROM policy_actions o WHERE o.at < @before LIMIT 10000) AS gone
WHERE a.org_id = gone.org_id AND a.decision_id = gone.decision_id;
