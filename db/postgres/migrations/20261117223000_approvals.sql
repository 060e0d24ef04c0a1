-- +goose Up

-- Approvals are found by their action: one that is pending is not asked for twice, and who asked
-- for one approves no other.
CREATE INDEX evidence_records_action ON evidence_records (org_id, (body ->> 'input_digest')) WHERE kind = 'approvals';
-- Samples of what an index holds would outlive an organization.
-- +goose StatementBegin
DO $$
DECLARE
  i regclass;
BEGIN
  FOR i IN SELECT 'evidence_records_action'::regclass UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'evidence_records_action'::regclass LOOP
    EXECUTE format('ALTER INDEX %s ALTER COLUMN 2 SET STATISTICS 0', i);
  END LOOP;
END
$$;
-- +goose StatementEnd

-- Who decided on an approval: each person once.
CREATE TABLE approval_votes (
  org_id      uuid        NOT NULL REFERENCES organizations (id),
  approval_id bigint      NOT NULL,
  user_id     uuid        NOT NULL,
  decision    text        NOT NULL CHECK (decision IN ('approved', 'rejected')),
  -- The voter, and whoever made the key that the vote was cast with, if the voter did not.
  people      uuid[]      NOT NULL,
  separation  text        NOT NULL CHECK (separation IN ('requester', 'key_owner', 'off')),
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, approval_id, user_id)
);
SELECT tenant_table('approval_votes');
REVOKE UPDATE ON approval_votes FROM assay_app;
-- fixture: INSERT INTO approval_votes (org_id, approval_id, user_id, decision, people, separation, created_at) SELECT org_id, 1, user_id, 'approved', ARRAY[user_id], 'requester', '2026-11-17T00:00:00Z' FROM members;
