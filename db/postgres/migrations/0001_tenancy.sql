-- +goose Up

-- The runtime role owns nothing: row-level security binds it. Deployments give
-- it a password and LOGIN; the migration only makes sure that it exists.
-- +goose StatementBegin
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'assay_app') THEN
    CREATE ROLE assay_app NOLOGIN;
  END IF;
END
$$;
-- +goose StatementEnd

GRANT USAGE ON SCHEMA public TO assay_app;
GRANT SELECT ON goose_db_version TO assay_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO assay_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO assay_app;

CREATE TABLE organizations (
  id         uuid        NOT NULL PRIMARY KEY,
  name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  status     text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  created_at timestamptz NOT NULL
);
ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON organizations
  USING      (id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (id = nullif(current_setting('app.org', true), '')::uuid);

CREATE TABLE api_keys (
  org_id         uuid        NOT NULL REFERENCES organizations (id),
  id             bigint      GENERATED ALWAYS AS IDENTITY,
  -- The public part of the key, random and unique over all organizations: it
  -- is how a key is found before its organization is known.
  key_id         text        NOT NULL UNIQUE CHECK (key_id ~ '^[0-9A-Za-z]{12}$'),
  name           text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  environment    text        NOT NULL CHECK (environment IN ('live', 'test')),
  scopes         text[]      NOT NULL,
  hash           bytea       NOT NULL CHECK (length(hash) = 32),
  pepper_version integer     NOT NULL,
  last4          text        NOT NULL,
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz,
  revoked_at     timestamptz,
  PRIMARY KEY (org_id, id)
);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON api_keys
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);
-- Whoever presents a key may read that key's row, and no other.
CREATE POLICY presented ON api_keys FOR SELECT
  USING (key_id = nullif(current_setting('app.api_key', true), ''));
