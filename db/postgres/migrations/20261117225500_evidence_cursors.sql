-- +goose Up

-- How far the traces of an organization were read for evidence. Arrivals are ordered by
-- their time, and those of one millisecond by the trace's id.
CREATE TABLE evidence_cursors (
  org_id   uuid        NOT NULL PRIMARY KEY REFERENCES organizations (id),
  at_ms    bigint      NOT NULL,
  trace_id bytea       NOT NULL CHECK (octet_length(trace_id) = 16),
  -- The period whose workflow reads at the moment, and until when the others wait for it.
  holder   bigint      NOT NULL,
  until    timestamptz NOT NULL
);
SELECT tenant_table('evidence_cursors');
-- fixture: INSERT INTO evidence_cursors (org_id, at_ms, trace_id, holder, until) SELECT id, 0, decode(repeat('00', 16), 'hex'), 0, '2026-11-17T00:00:00Z' FROM organizations;
