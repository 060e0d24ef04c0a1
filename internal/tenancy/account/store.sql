-- name: PutInvitation :exec
-- Makes an invitation in place of the member's earlier one.
INSERT INTO invitations (org_id, user_id, hash, invited_by, created_at, expires_at)
VALUES (@org_id, @user_id, @hash, sqlc.narg('invited_by'), @created_at, @expires_at)
ON CONFLICT (org_id, user_id) DO UPDATE
SET hash = excluded.hash, invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at;

-- name: FindInvitation :one
-- Who an invitation is for.
SELECT user_id, expires_at FROM invitations WHERE org_id = @org_id AND hash = @hash;

-- name: TakeInvitation :one
-- Uses an invitation up. One that a member has made holds as long as that member could make it: the inviter is still there,
-- may let in whoever has the role that the invited one has by now, and that one has not come in meanwhile.
DELETE FROM invitations i WHERE i.org_id = @org_id AND i.user_id = @user_id AND i.hash = @hash AND i.expires_at > @at
  AND (i.invited_by IS NULL OR (
    NOT EXISTS (SELECT 1 FROM accounts a WHERE a.org_id = i.org_id AND a.user_id = i.user_id)
    AND EXISTS (
      SELECT 1 FROM members b JOIN members m ON m.org_id = b.org_id AND m.user_id = i.user_id
      WHERE b.org_id = i.org_id AND b.user_id = i.invited_by AND b.removed_at IS NULL
        AND (b.role = 'owner' OR b.role = 'admin' AND m.role <> 'owner')
    )
  ))
RETURNING i.invited_by;

-- name: ActivateMember :execrows
-- Notes that a member has come in, and by whose first invitation: whoever saw that may hold keys from then.
UPDATE members SET status = 'active', invited_by = CASE WHEN status = 'active' THEN invited_by ELSE sqlc.narg('invited_by') END
WHERE org_id = @org_id AND user_id = @user_id AND removed_at IS NULL;

-- name: PutAccount :exec
-- Sets the password of a member.
INSERT INTO accounts (org_id, user_id, password, created_at, updated_at)
VALUES (@org_id, @user_id, @password, @at, @at)
ON CONFLICT (org_id, user_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at;

-- name: CountAccounts :one
-- Whether a member has an account.
SELECT count(*) FROM accounts WHERE org_id = @org_id AND user_id = @user_id;

-- name: FindAccount :one
-- The account of the member with an e-mail address.
SELECT a.user_id, a.password FROM accounts a
JOIN members m ON m.org_id = a.org_id AND m.user_id = a.user_id
WHERE a.org_id = @org_id AND lower(m.email) = @email AND m.removed_at IS NULL;

-- name: InsertSession :exec
-- Begins a session.
INSERT INTO sessions (org_id, hash, user_id, created_at, used_at) VALUES (@org_id, @hash, @user_id, @at, @at);

-- name: FindSession :one
-- A session.
SELECT user_id, created_at, used_at FROM sessions WHERE org_id = @org_id AND hash = @hash;

-- name: TouchSession :exec
-- Notes that a session is used.
UPDATE sessions SET used_at = @at WHERE org_id = @org_id AND hash = @hash AND used_at < @at;

-- name: DeleteSession :exec
-- Ends a session.
DELETE FROM sessions WHERE org_id = @org_id AND hash = @hash;

-- name: DeleteSessionsOf :exec
-- Ends the sessions of a member that were last used, or began, before some times.
DELETE FROM sessions WHERE org_id = @org_id AND user_id = @user_id AND (used_at <= @used_before OR created_at <= @began_before);
