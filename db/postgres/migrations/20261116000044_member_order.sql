-- +goose Up

-- Members are listed newest first; those of one moment by their ids.
CREATE INDEX members_order ON members (org_id, created_at, user_id) WHERE removed_at IS NULL;
-- fixture: SELECT 1;
