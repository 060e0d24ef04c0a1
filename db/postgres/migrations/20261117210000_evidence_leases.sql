-- +goose Up

-- Whoever stores something under keys holds a lease meanwhile, and others wait for its
-- end: what they add is put together with what is stored by then. A lease that was not
-- given back ends by itself, when nothing of its holder can be on its way any more.
CREATE TABLE evidence_leases (
  org_id uuid        NOT NULL REFERENCES organizations (id),
  id     bigint      NOT NULL,
  until  timestamptz NOT NULL,
  -- What is stored under it, if the same can be stored again at any time: a request that
  -- is repeated does not wait for itself.
  digest bytea       CHECK (length(digest) = 16),
  PRIMARY KEY (org_id, id)
);
SELECT tenant_table('evidence_leases');
REVOKE UPDATE ON evidence_leases FROM assay_app;
GRANT UPDATE (until) ON evidence_leases TO assay_app;
CREATE INDEX evidence_leases_until ON evidence_leases (until);
CREATE POLICY sweep ON evidence_leases FOR DELETE
  USING (nullif(current_setting('app.sweep', true), '') = 'evidence_keys');
CREATE POLICY sweep_find ON evidence_leases FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'evidence_keys');
-- fixture: INSERT INTO evidence_leases (org_id, id, until) SELECT id, 1, '2026-11-18T00:00:00Z' FROM organizations;

-- The lease under which something was last stored; it may have ended long ago.
ALTER TABLE evidence_keys ADD COLUMN holder bigint;
-- When the record is gone; null for records that last.
ALTER TABLE evidence_keys ADD COLUMN expires date;
ALTER TABLE evidence_keys DROP COLUMN shared;
GRANT UPDATE (holder, expires) ON evidence_keys TO assay_app;
-- Keys are made in the order in which they expire, or nearly so.
CREATE INDEX evidence_keys_expires ON evidence_keys USING brin (expires);
DROP POLICY immutable ON evidence_keys;
CREATE POLICY immutable ON evidence_keys AS RESTRICTIVE FOR DELETE
  USING (expires < current_date OR org_id::text = nullif(current_setting('app.erase', true), ''));
CREATE POLICY sweep ON evidence_keys FOR DELETE
  USING (nullif(current_setting('app.sweep', true), '') = 'evidence_keys');
CREATE POLICY sweep_find ON evidence_keys FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'evidence_keys');
