-- +goose Up

-- Traces that have a number, beside their hexadecimal id: those that a person
-- or a record has named. Telemetry makes no rows here.
CREATE TABLE trace_refs (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  trace_ref  bigint      GENERATED ALWAYS AS IDENTITY,
  trace_id   bytea       NOT NULL CHECK (length(trace_id) = 16),
  -- A stub is named before anything of it has arrived.
  stub       boolean     NOT NULL DEFAULT false,
  -- The digest of what created the trace over REST, null if nothing did.
  digest     bytea,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, trace_ref),
  UNIQUE (org_id, trace_id)
);
ALTER TABLE trace_refs ENABLE ROW LEVEL SECURITY;
ALTER TABLE trace_refs FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON trace_refs
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);

-- What people said about a trace or one of its spans.
CREATE TABLE trace_feedback (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  id         bigint      GENERATED ALWAYS AS IDENTITY,
  trace_id   bytea       NOT NULL CHECK (length(trace_id) = 16),
  span_id    bytea       CHECK (length(span_id) = 8),
  type       text        NOT NULL CHECK (type IN ('thumbs', 'rating', 'comment', 'correction')),
  value      json,
  comment    text        NOT NULL DEFAULT '',
  user_id    text        NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX trace_feedback_trace ON trace_feedback (org_id, trace_id, id);
ALTER TABLE trace_feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE trace_feedback FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON trace_feedback
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);

-- Traces that were deleted, and when their bytes were gone.
CREATE TABLE trace_deletions (
  org_id       uuid        NOT NULL REFERENCES organizations (id),
  id           bigint      GENERATED ALWAYS AS IDENTITY,
  trace_id     bytea       NOT NULL CHECK (length(trace_id) = 16),
  requested_at timestamptz NOT NULL,
  purged_at    timestamptz,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX trace_deletions_trace ON trace_deletions (org_id, trace_id, id);
ALTER TABLE trace_deletions ENABLE ROW LEVEL SECURITY;
ALTER TABLE trace_deletions FORCE ROW LEVEL SECURITY;
CREATE POLICY org ON trace_deletions
  USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
  WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid);
