-- +goose Up

-- Probes, which are paired experiments with judges: does a verdict change with
-- something that should not matter?
CREATE TABLE judge_probes (
  org_id         uuid        NOT NULL,
  id             bigint      GENERATED ALWAYS AS IDENTITY,
  config_id      bigint      NOT NULL,
  config_version integer     NOT NULL,
  status         text        NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  request        json        NOT NULL,
  -- What is judged, once the probe has begun: ids of items or of results.
  subjects       json,
  units          integer     NOT NULL DEFAULT 0,
  -- Why the probe failed; null otherwise.
  error_code     text,
  error_message  text,
  -- What came out; null until the probe has ended.
  report         json,
  created_by     text        NOT NULL,
  created_at     timestamptz NOT NULL,
  ended_at       timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, config_id) REFERENCES judge_configs (org_id, id)
);
SELECT tenant_table('judge_probes');
CREATE INDEX judge_probes_of_config ON judge_probes (org_id, config_id, id DESC);
CREATE INDEX judge_probes_running ON judge_probes (org_id, id) WHERE status = 'running';

-- One row for each verdict of a probe, kept so that none is paid for twice.
CREATE TABLE judge_probe_verdicts (
  org_id     uuid        NOT NULL,
  probe_id   bigint      NOT NULL,
  unit       integer     NOT NULL,
  verdict    json        NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, probe_id, unit),
  FOREIGN KEY (org_id, probe_id) REFERENCES judge_probes (org_id, id)
);
SELECT tenant_table('judge_probe_verdicts');
REVOKE UPDATE ON judge_probe_verdicts FROM assay_app;
-- fixture: INSERT INTO judge_probes (org_id, config_id, config_version, status, request, created_by, created_at) SELECT org_id, id, 1, 'running', '{}', 'key/1', now() FROM judge_configs;
-- fixture: INSERT INTO judge_probe_verdicts (org_id, probe_id, unit, verdict, created_at) SELECT org_id, id, 0, '{}', now() FROM judge_probes;
