-- +goose Up

-- Which pepper the hashes of API keys were made with, by its number. It says
-- nothing about the pepper itself; a process that has another one would find
-- every key invalid, so it does not start.
CREATE TABLE key_peppers (
  version     integer NOT NULL PRIMARY KEY,
  fingerprint bytea   NOT NULL CHECK (octet_length(fingerprint) = 8)
);
ALTER TABLE key_peppers ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_peppers FORCE ROW LEVEL SECURITY;
CREATE POLICY sweep ON key_peppers
  USING (nullif(current_setting('app.sweep', true), '') = 'key_peppers');
REVOKE UPDATE, DELETE ON key_peppers FROM assay_app;
-- fixture: SELECT set_config('app.sweep', 'key_peppers', false);
-- fixture: INSERT INTO key_peppers (version, fingerprint) VALUES (1, '\x0011223344556677') ON CONFLICT DO NOTHING;
