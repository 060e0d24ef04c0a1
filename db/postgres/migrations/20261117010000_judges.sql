-- +goose Up

-- Judges, which are models that are asked for verdicts. What can change a
-- verdict lies in versions, which never change.
CREATE TABLE judge_configs (
  org_id         uuid        NOT NULL REFERENCES organizations (id),
  id             bigint      GENERATED ALWAYS AS IDENTITY,
  key            text        NOT NULL,
  name           text        NOT NULL,
  description    text        NOT NULL,
  label_key      text        NOT NULL,
  label_sampling text        NOT NULL CHECK (label_sampling IN ('unknown', 'random')),
  status         text        NOT NULL CHECK (status IN ('draft', 'active', 'retired')),
  config_version integer     NOT NULL,
  -- What the judge may cost in all; null without a limit.
  spend_cap_nano bigint      CHECK (spend_cap_nano >= 0),
  created_by     text        NOT NULL,
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  version        bigint      NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id),
  CONSTRAINT judge_configs_key UNIQUE (org_id, key)
);
SELECT tenant_table('judge_configs');

CREATE TABLE judge_versions (
  org_id     uuid        NOT NULL,
  config_id  bigint      NOT NULL,
  number     integer     NOT NULL,
  spec       json        NOT NULL,
  digest     bytea       NOT NULL,
  -- Makes the codes by which a judge shows that it followed its own
  -- instructions; whoever knew it could forge them.
  salt       bytea       NOT NULL,
  created_by text        NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, config_id, number),
  FOREIGN KEY (org_id, config_id) REFERENCES judge_configs (org_id, id)
);
SELECT tenant_table('judge_versions');
REVOKE UPDATE ON judge_versions FROM assay_app;

-- Verdicts lie in ClickHouse, which does not number rows.
CREATE SEQUENCE judge_result_ids;
-- fixture: INSERT INTO judge_configs (org_id, key, name, description, label_key, label_sampling, status, config_version, created_by, created_at, updated_at) SELECT id, 'helpfulness', 'Helpfulness', '', 'helpfulness', 'unknown', 'active', 1, 'key/1', now(), now() FROM organizations;
-- fixture: INSERT INTO judge_versions (org_id, config_id, number, spec, digest, salt, created_by, created_at) SELECT org_id, id, 1, '{}', '\x00', '\x00', 'key/1', now() FROM judge_configs;
