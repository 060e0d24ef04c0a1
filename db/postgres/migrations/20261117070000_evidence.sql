-- +goose Up

-- Records of all kinds of evidence have their ids from here, wherever they are kept.
CREATE SEQUENCE evidence_ids;
GRANT USAGE ON SEQUENCE evidence_ids TO assay_app;

-- What a record is recognized by when it is reported again: a name that its sender gave
-- it, or what names it by nature. The first to claim a key settles the record's id.
CREATE TABLE evidence_keys (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  key        bytea       NOT NULL CHECK (length(key) = 16),
  id         bigint      NOT NULL DEFAULT nextval('evidence_ids'),
  -- Digest of what was sent under a name; null if the record is named by nature, and
  -- later reports add to it.
  content    bytea       CHECK (length(content) = 32),
  -- Whether it was claimed more than once.
  shared     boolean     NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, key)
) PARTITION BY HASH (org_id);

-- Evidence that lasts and changes: runtimes, connectors, decisions, approvals, side
-- effects, failures. What filters ask for is in columns, and the rest in the body.
CREATE TABLE evidence_records (
  org_id            uuid        NOT NULL REFERENCES organizations (id),
  kind              text        NOT NULL,
  id                bigint      NOT NULL DEFAULT nextval('evidence_ids'),
  -- Its key for the organization, such as that of a runtime.
  name              text,
  idempotency_key   text,
  origin            text        NOT NULL CHECK (origin IN ('platform', 'ingested', 'reported')),
  actor             text        NOT NULL,
  state             text,
  decision          text,
  runtime_id        bigint,
  runtime_key       text,
  connector_id      bigint,
  connector_key     text,
  trace_id          bytea       CHECK (length(trace_id) = 16),
  evaluation_run_id bigint,
  raw_event_id      bigint,
  step_id           bigint,
  tool_id           bigint,
  invocation_id     text,
  decision_id       bigint,
  effect_id         bigint,
  explanation_id    bigint,
  report_id         bigint,
  failure_key       text,
  failure_mode      text,
  side_effect_class text,
  body              json        NOT NULL,
  occurred_at       timestamptz NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  version           bigint      NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, kind, id)
) PARTITION BY HASH (org_id);
CREATE UNIQUE INDEX evidence_records_id ON evidence_records (org_id, id);
CREATE UNIQUE INDEX evidence_records_thing ON evidence_records (org_id, kind, name) WHERE kind IN ('runtimes', 'connectors', 'failures', 'quality-cases');
CREATE INDEX evidence_records_name ON evidence_records (org_id, kind, name, id) WHERE name IS NOT NULL;
CREATE INDEX evidence_records_idempotency ON evidence_records (org_id, kind, idempotency_key, id) WHERE idempotency_key IS NOT NULL;
CREATE INDEX evidence_records_state ON evidence_records (org_id, kind, state, id) WHERE state IS NOT NULL;
CREATE INDEX evidence_records_decision ON evidence_records (org_id, kind, decision, id) WHERE decision IS NOT NULL;
CREATE INDEX evidence_records_runtime ON evidence_records (org_id, kind, runtime_id, id) WHERE runtime_id IS NOT NULL;
CREATE INDEX evidence_records_connector ON evidence_records (org_id, kind, connector_id, id) WHERE connector_id IS NOT NULL;
CREATE INDEX evidence_records_trace ON evidence_records (org_id, trace_id, kind, id) WHERE trace_id IS NOT NULL;
CREATE INDEX evidence_records_run ON evidence_records (org_id, kind, evaluation_run_id, id) WHERE evaluation_run_id IS NOT NULL;
CREATE INDEX evidence_records_event ON evidence_records (org_id, kind, raw_event_id, id) WHERE raw_event_id IS NOT NULL;
CREATE INDEX evidence_records_invocation ON evidence_records (org_id, kind, invocation_id, id) WHERE invocation_id IS NOT NULL;
CREATE INDEX evidence_records_tool ON evidence_records (org_id, kind, tool_id, id) WHERE tool_id IS NOT NULL;
CREATE INDEX evidence_records_of_decision ON evidence_records (org_id, kind, decision_id, id) WHERE decision_id IS NOT NULL;

-- What a record was before each change.
CREATE TABLE evidence_history (
  org_id      uuid        NOT NULL REFERENCES organizations (id),
  record_id   bigint      NOT NULL,
  version     bigint      NOT NULL,
  state       text,
  decision    text,
  body        json        NOT NULL,
  actor       text        NOT NULL,
  replaced_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, record_id, version)
) PARTITION BY HASH (org_id);

-- Evidence is kept until its organization is erased.
-- +goose StatementBegin
DO $$
DECLARE t text; part text;
BEGIN
  FOREACH t IN ARRAY ARRAY['evidence_keys', 'evidence_records', 'evidence_history'] LOOP
    PERFORM tenant_table(t::regclass);
    FOR i IN 0..7 LOOP
      part := t || '_' || i;
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part, t, i);
      PERFORM tenant_table(part::regclass);
      EXECUTE format('REVOKE ALL ON %I FROM assay_app', part);
    END LOOP;
    EXECUTE format('CREATE POLICY immutable ON %I AS RESTRICTIVE FOR DELETE USING (org_id::text = nullif(current_setting(''app.erase'', true), ''''))', t);
    EXECUTE format('REVOKE UPDATE ON %I FROM assay_app', t);
  END LOOP;
END
$$;
-- +goose StatementEnd
-- A key can be claimed again, and a record can move. What it is, whom it is about and
-- when it happened stay.
GRANT UPDATE (shared) ON evidence_keys TO assay_app;
GRANT UPDATE (state, decision, body, updated_at, version) ON evidence_records TO assay_app;
-- fixture: INSERT INTO evidence_keys (org_id, key) SELECT id, decode(repeat('01', 16), 'hex') FROM organizations;
-- fixture: INSERT INTO evidence_records (org_id, kind, name, origin, actor, state, body, occurred_at, created_at, updated_at) SELECT id, 'runtimes', 'agent', 'reported', 'system', 'active', '{}', now(), now(), now() FROM organizations;
-- fixture: INSERT INTO evidence_history (org_id, record_id, version, state, body, actor, replaced_at) SELECT org_id, id, 1, 'active', '{}', 'system', now() FROM evidence_records;
