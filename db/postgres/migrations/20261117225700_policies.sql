-- +goose Up

-- Policies, in Cedar. What can change a decision lies in versions, which never change;
-- the policy repeats its current one.
CREATE TABLE policies (
  org_id         uuid        NOT NULL REFERENCES organizations (id),
  id             bigint      GENERATED ALWAYS AS IDENTITY,
  key            text        NOT NULL,
  name           text        NOT NULL,
  mode           text        NOT NULL CHECK (mode IN ('enforce', 'shadow', 'disabled')),
  state          text        NOT NULL CHECK (state IN ('draft', 'active', 'retired')),
  source         text        NOT NULL CHECK (octet_length(source) <= 10240),
  applies_to     json        NOT NULL,
  tests          json        NOT NULL,
  policy_version bigint      NOT NULL DEFAULT 1,
  -- Whether it ever was active: decisions may then name it.
  used           boolean     NOT NULL,
  created_by     text        NOT NULL,
  version        bigint      NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  CONSTRAINT policies_key UNIQUE (org_id, key)
);
SELECT tenant_table('policies');

CREATE TABLE policy_versions (
  org_id     uuid        NOT NULL,
  policy_id  bigint      NOT NULL,
  number     bigint      NOT NULL,
  mode       text        NOT NULL CHECK (mode IN ('enforce', 'shadow', 'disabled')),
  source     text        NOT NULL,
  applies_to json        NOT NULL,
  tests      json        NOT NULL,
  created_by text        NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, policy_id, number),
  FOREIGN KEY (org_id, policy_id) REFERENCES policies (org_id, id)
);
SELECT tenant_table('policy_versions');
REVOKE UPDATE ON policy_versions FROM assay_app;

-- The active policies of an organization decide together. The revision counts their
-- changes, so that a process notices that what it has compiled is old.
CREATE TABLE policy_sets (
  org_id   uuid   NOT NULL PRIMARY KEY REFERENCES organizations (id),
  revision bigint NOT NULL
);
SELECT tenant_table('policy_sets');
-- fixture: INSERT INTO policies (org_id, key, name, mode, state, source, applies_to, tests, used, created_by, created_at, updated_at) SELECT id, 'baseline', 'Baseline', 'enforce', 'active', 'permit (principal, action, resource);', '{}', '[]', true, 'system', '2026-11-17T00:00:00Z', '2026-11-17T00:00:00Z' FROM organizations;
-- fixture: INSERT INTO policy_versions (org_id, policy_id, number, mode, source, applies_to, tests, created_by, created_at) SELECT org_id, id, 1, mode, source, applies_to, tests, created_by, created_at FROM policies;
-- fixture: INSERT INTO policy_sets (org_id, revision) SELECT id, 1 FROM organizations;
