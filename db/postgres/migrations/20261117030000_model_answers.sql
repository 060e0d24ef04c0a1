-- +goose Up

-- Answers of models that callers allowed to be used again, by a digest of all that
-- was asked. They are copies: whoever finds none asks the model.
CREATE TABLE model_answers (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  digest     bytea       NOT NULL CHECK (octet_length(digest) = 32),
  answer     json        NOT NULL,
  bytes      integer     NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, digest)
);
CREATE INDEX model_answers_oldest ON model_answers (org_id, created_at) INCLUDE (bytes);
CREATE INDEX model_answers_expired ON model_answers (expires_at);
SELECT tenant_table('model_answers');
-- Answers that have expired, and those above an organization's share of space, go
-- in every organization at once.
CREATE POLICY sweep ON model_answers FOR DELETE
  USING (nullif(current_setting('app.sweep', true), '') = 'model_answers');
CREATE POLICY sweep_find ON model_answers FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'model_answers');
-- fixture: INSERT INTO model_answers (org_id, digest, answer, bytes, created_at, expires_at) SELECT org_id, decode(repeat('00', 32), 'hex'), '{}', 2, '2026-11-17T00:00:00Z', '2026-11-18T00:00:00Z' FROM provider_keys LIMIT 1;
