-- +goose Up

-- A view is a named filter over a list. Without an owner it is the
-- organization's, and every member sees it.
CREATE TABLE views (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  id         bigint      GENERATED ALWAYS AS IDENTITY,
  owner_id   uuid,
  name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  list       text        NOT NULL CHECK (length(list) BETWEEN 1 AND 64),
  filters    jsonb       NOT NULL,
  creator    text        NOT NULL,
  version    bigint      NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, owner_id) REFERENCES members (org_id, user_id)
);
CREATE UNIQUE INDEX views_name ON views (org_id, list, owner_id, name) NULLS NOT DISTINCT;
SELECT tenant_table('views');
-- fixture: INSERT INTO views (org_id, name, list, filters, creator, created_at, updated_at)
-- fixture: VALUES ('01900000-0000-7000-8000-000000000001', 'Failed', 'evaluations', '{"status":["failed"]}', 'system', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z');
