-- name: InsertVote :exec
-- Notes a vote. A person has one for each approval.
INSERT INTO approval_votes (org_id, approval_id, user_id, decision, people, separation, created_at)
VALUES (@org_id, @approval_id, @user_id, @decision, @people, @separation, @created_at);

-- name: ListVotes :many
-- The votes on an approval.
SELECT user_id, decision, people FROM approval_votes
WHERE org_id = @org_id AND approval_id = @approval_id
ORDER BY created_at, user_id;

-- name: LockAction :exec
-- Keeps others from asking for an approval of the same action until the transaction ends.
-- all orgs: a lock has no rows; its number is made from the organization and the action.
SELECT pg_advisory_xact_lock(@number::bigint);
