-- +goose Up

-- What a repeated request gets back. The row is written in the transaction of
-- the effect, so that either both exist or neither does.
CREATE TABLE idempotency_keys (
  org_id      uuid        NOT NULL REFERENCES organizations (id),
  method      text        NOT NULL,
  path        text        NOT NULL,
  key         text        NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  fingerprint bytea       NOT NULL,
  -- Exactly one of the two: the output of the operation, or its fault.
  output      bytea,
  fault       bytea,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, method, path, key),
  CHECK ((output IS NULL) <> (fault IS NULL))
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON idempotency_keys
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);
-- Keys are forgotten after a day, in every organization at once.
CREATE POLICY sweep ON idempotency_keys FOR DELETE
  USING (nullif(current_setting('app.sweep', true), '') = 'idempotency_keys');
CREATE POLICY sweep_find ON idempotency_keys FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'idempotency_keys');

-- Work that a committed change has promised. The dispatcher reads the rows of
-- every organization, hands each to its topic's handler and deletes it.
CREATE TABLE outbox (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  id         bigint      GENERATED ALWAYS AS IDENTITY,
  topic      text        NOT NULL,
  subject    text        NOT NULL,
  payload    bytea       NOT NULL,
  attempts   integer     NOT NULL DEFAULT 0,
  due_at     timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX outbox_due ON outbox (topic, due_at, id);
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON outbox
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);
CREATE POLICY sweep ON outbox
  USING (nullif(current_setting('app.sweep', true), '') = 'outbox');
