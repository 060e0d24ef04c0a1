-- +goose Up

-- Organizations get a plan, settings and an end.
ALTER TABLE organizations
  ADD COLUMN plan         text        NOT NULL DEFAULT 'self_hosted' CHECK (plan IN ('free', 'pro', 'enterprise', 'self_hosted')),
  -- Requests an hour and key; null means what the plan says.
  ADD COLUMN hourly_limit integer     CHECK (hourly_limit > 0),
  ADD COLUMN settings     json        NOT NULL DEFAULT '{}',
  ADD COLUMN version      bigint      NOT NULL DEFAULT 1,
  -- The default lets the binary before this one insert while both run.
  ADD COLUMN updated_at   timestamptz NOT NULL DEFAULT now();
ALTER TABLE organizations DROP CONSTRAINT organizations_status_check;
ALTER TABLE organizations ADD CONSTRAINT organizations_status_check CHECK (status IN ('active', 'suspended', 'deleting'));

-- A person in one organization. The same person in two organizations is two
-- rows with two ids: nothing about one organization can be learnt in another.
CREATE TABLE members (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  user_id    uuid        NOT NULL,
  email      text        NOT NULL CHECK (length(email) BETWEEN 3 AND 320),
  name       text        NOT NULL DEFAULT '',
  role       text        NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'annotator', 'viewer')),
  status     text        NOT NULL CHECK (status IN ('invited', 'active')),
  created_at timestamptz NOT NULL,
  -- A removed member stays as the name behind old records.
  removed_at timestamptz,
  PRIMARY KEY (org_id, user_id)
);
CREATE UNIQUE INDEX members_email ON members (org_id, lower(email)) WHERE removed_at IS NULL;

-- A key with an owner is personal and ends with the membership; one without is
-- a service key and belongs to the organization.
ALTER TABLE api_keys
  ADD COLUMN owner_id      uuid,
  ADD COLUMN created_by    uuid,
  ADD COLUMN last_used_at  timestamptz,
  -- Set by rotation: the key works on for its grace, and its name is free.
  ADD COLUMN superseded_at timestamptz,
  -- A key decides about owners only if an owner, or the operator of the
  -- deployment, made it. Keys from before were all made by the operator.
  ADD COLUMN over_owners   boolean NOT NULL DEFAULT true,
  -- Somebody else made this personal key for its owner: whoever uses it only
  -- says that they are the owner.
  ADD COLUMN asserted      boolean NOT NULL DEFAULT false,
  ADD FOREIGN KEY (org_id, owner_id) REFERENCES members (org_id, user_id),
  ADD FOREIGN KEY (org_id, created_by) REFERENCES members (org_id, user_id);
ALTER TABLE api_keys ALTER COLUMN over_owners SET DEFAULT false;
CREATE UNIQUE INDEX api_keys_name ON api_keys (org_id, name) WHERE revoked_at IS NULL AND superseded_at IS NULL;
CREATE INDEX api_keys_owner ON api_keys (org_id, owner_id) WHERE owner_id IS NOT NULL;

-- Who did what. Rows are only ever added.
CREATE TABLE audit_logs (
  org_id        uuid        NOT NULL REFERENCES organizations (id),
  id            bigint      GENERATED ALWAYS AS IDENTITY,
  at            timestamptz NOT NULL,
  actor_type    text        NOT NULL CHECK (actor_type IN ('user', 'api_key', 'system')),
  user_id       uuid,
  api_key_id    bigint,
  asserted      boolean     NOT NULL DEFAULT false,
  action        text        NOT NULL,
  resource_type text        NOT NULL,
  resource_id   text        NOT NULL,
  request_id    text        NOT NULL,
  ip            text        NOT NULL,
  before_digest bytea,
  after_digest  bytea,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX audit_logs_resource ON audit_logs (org_id, resource_type, resource_id, id);
CREATE INDEX audit_logs_user ON audit_logs (org_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_logs_action ON audit_logs (org_id, action, id);
CREATE INDEX audit_logs_at ON audit_logs (org_id, at);
REVOKE UPDATE ON audit_logs FROM assay_app;

-- One data key per organization, wrapped by the deployment's master key.
CREATE TABLE data_keys (
  org_id        uuid        NOT NULL PRIMARY KEY REFERENCES organizations (id),
  wrapped       bytea       NOT NULL,
  master_key_id text        NOT NULL,
  created_at    timestamptz NOT NULL
);
CREATE INDEX data_keys_master ON data_keys (master_key_id);

-- Credentials for model providers. The secret is bound to the organization,
-- the row and the destination: moved or pointed elsewhere, it cannot be read.
CREATE TABLE provider_keys (
  org_id       uuid        NOT NULL REFERENCES organizations (id),
  id           bigint      GENERATED ALWAYS AS IDENTITY,
  provider     text        NOT NULL CHECK (length(provider) BETWEEN 1 AND 64),
  name         text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  base_url     text        NOT NULL,
  secret       bytea       NOT NULL,
  last4        text        NOT NULL,
  models       text[]      NOT NULL DEFAULT '{}',
  status       text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'invalid', 'disabled')),
  version      bigint      NOT NULL DEFAULT 1,
  last_used_at timestamptz,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  deleted_at   timestamptz,
  PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX provider_keys_name ON provider_keys (org_id, name) WHERE deleted_at IS NULL;

-- What was deleted of an organization, and when. It outlives the organization,
-- so it refers to none.
CREATE TABLE deletion_certificates (
  org_id       uuid        NOT NULL PRIMARY KEY,
  requested_at timestamptz NOT NULL,
  requested_by text        NOT NULL,
  completed_at timestamptz,
  contents     json        NOT NULL DEFAULT '{}',
  digest       bytea
);

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['members', 'audit_logs', 'data_keys', 'provider_keys', 'deletion_certificates'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format($p$CREATE POLICY org ON %I
      USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
      WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid)$p$, t);
  END LOOP;
END
$$;
-- +goose StatementEnd

-- An entry goes only with its whole organization, under a claim that names it.
CREATE POLICY immutable ON audit_logs AS RESTRICTIVE FOR DELETE
  USING (org_id::text = nullif(current_setting('app.erase', true), ''));

-- Whoever presents a key may also read the key's organization and its owner.
CREATE POLICY presented ON organizations FOR SELECT
  USING (id IN (SELECT k.org_id FROM api_keys k WHERE k.key_id = nullif(current_setting('app.api_key', true), '')));
CREATE POLICY presented ON members FOR SELECT
  USING ((org_id, user_id) IN (SELECT k.org_id, k.owner_id FROM api_keys k WHERE k.key_id = nullif(current_setting('app.api_key', true), '')));
-- Rotation of the master key walks over every organization's data key.
CREATE POLICY sweep ON data_keys
  USING (nullif(current_setting('app.sweep', true), '') = 'data_keys');
