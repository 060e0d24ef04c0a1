-- +goose Up

-- Stored events that are read again with the mappings of this release.
CREATE TABLE evidence_normalizations (
  org_id       uuid        NOT NULL REFERENCES organizations (id),
  id           bigint      NOT NULL DEFAULT nextval('evidence_ids'),
  events       text        NOT NULL CHECK (events IN ('outdated', 'all')),
  state        text        NOT NULL CHECK (state IN ('running', 'completed')),
  -- The last event that was read.
  position     bigint      NOT NULL DEFAULT 0,
  read         bigint      NOT NULL DEFAULT 0,
  changed      bigint      NOT NULL DEFAULT 0,
  refused      bigint      NOT NULL DEFAULT 0,
  actor        text        NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenant_table('evidence_normalizations');
-- One at a time: a second one would find nothing to do.
CREATE UNIQUE INDEX evidence_normalizations_running ON evidence_normalizations (org_id) WHERE state = 'running';
-- fixture: INSERT INTO evidence_normalizations (org_id, events, state, actor, created_at, updated_at) SELECT id, 'outdated', 'running', 'system', '2026-11-17T00:00:00Z', '2026-11-17T00:00:00Z' FROM organizations;
