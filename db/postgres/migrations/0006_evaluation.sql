-- +goose Up

-- What is measured, on which dataset and how. The dataset and the metrics are
-- names here: what they stand for is looked up when a run begins.
CREATE TABLE evaluations (
  org_id          uuid        NOT NULL REFERENCES organizations (id),
  id              bigint      GENERATED ALWAYS AS IDENTITY,
  name            text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description     text        NOT NULL DEFAULT '',
  dataset_id      text        NOT NULL,
  dataset_version integer     CHECK (dataset_version > 0),
  -- Everything that a run copies: metrics, target, judges, pass rule.
  plan            json        NOT NULL,
  tags            text[]      NOT NULL DEFAULT '{}',
  metadata        json        NOT NULL DEFAULT '{}',
  archived_at     timestamptz,
  created_by      text        NOT NULL,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  version         bigint      NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id)
);

-- One execution of an evaluation. The row is the promise that it will happen.
CREATE TABLE evaluation_runs (
  org_id          uuid        NOT NULL REFERENCES organizations (id),
  id              bigint      GENERATED ALWAYS AS IDENTITY,
  evaluation_id   bigint      NOT NULL,
  status          text        NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  phase           text        NOT NULL CHECK (phase IN ('queued', 'executing', 'scoring', 'aggregating', 'done')),
  -- What was asked for, and the evaluation's plan as it was then.
  request         json        NOT NULL,
  -- What the run began with: dataset, version, items, digest. Null while queued.
  resolved        json,
  -- What came out, with its statistics. Null until the run has ended.
  outcome         json,
  error_code      text,
  error_message   text,
  created_by      text        NOT NULL,
  started_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  completed_at    timestamptz,
  -- When a client last sent results, for runs that wait for them.
  heard_at        timestamptz,
  -- A client said that all its results are there.
  final           boolean     NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, evaluation_id) REFERENCES evaluations (org_id, id),
  CHECK ((status = 'running') = (completed_at IS NULL))
);
CREATE INDEX evaluation_runs_evaluation ON evaluation_runs (org_id, evaluation_id, id);
CREATE INDEX evaluation_runs_running ON evaluation_runs (org_id, id) WHERE status = 'running';

-- The items of a run in the order in which they are executed, so many to a row.
CREATE TABLE evaluation_run_items (
  org_id  uuid     NOT NULL,
  run_id  bigint   NOT NULL,
  page    integer  NOT NULL,
  items   bigint[] NOT NULL,
  PRIMARY KEY (org_id, run_id, page),
  FOREIGN KEY (org_id, run_id) REFERENCES evaluation_runs (org_id, id)
);

-- How far a run is. A chunk replaces its own row and nobody else's; a run's
-- counts are the sums.
CREATE TABLE evaluation_run_chunks (
  org_id        uuid        NOT NULL,
  run_id        bigint      NOT NULL,
  chunk         integer     NOT NULL,
  -- Results that the chunk is for, and how many are there.
  size          integer     NOT NULL,
  done          integer     NOT NULL,
  passed        integer     NOT NULL,
  failed        integer     NOT NULL,
  errored       integer     NOT NULL,
  skipped       integer     NOT NULL,
  calls         bigint      NOT NULL,
  input_tokens  bigint      NOT NULL,
  output_tokens bigint      NOT NULL,
  cost_nano_usd bigint      NOT NULL,
  overall_sum   double precision NOT NULL,
  overall_sum2  double precision NOT NULL,
  scored        integer     NOT NULL,
  updated_at    timestamptz NOT NULL,
  PRIMARY KEY (org_id, run_id, chunk),
  FOREIGN KEY (org_id, run_id) REFERENCES evaluation_runs (org_id, id)
);

-- What happened in a run, in words.
CREATE TABLE evaluation_run_notes (
  org_id  uuid        NOT NULL,
  run_id  bigint      NOT NULL,
  -- What the note is about: the same thing is noted once, however often the
  -- work is repeated.
  subject text        NOT NULL,
  at      timestamptz NOT NULL,
  level   text        NOT NULL CHECK (level IN ('info', 'warning', 'error')),
  message text        NOT NULL,
  PRIMARY KEY (org_id, run_id, subject),
  FOREIGN KEY (org_id, run_id) REFERENCES evaluation_runs (org_id, id)
);

-- Files that runs leave behind; their bytes are in object storage.
CREATE TABLE evaluation_artifacts (
  org_id        uuid        NOT NULL REFERENCES organizations (id),
  id            bigint      GENERATED ALWAYS AS IDENTITY,
  evaluation_id bigint      NOT NULL,
  run_id        bigint      NOT NULL,
  kind          text        NOT NULL CHECK (kind IN ('report', 'results', 'comparison', 'analysis', 'labeled_dataset', 'log')),
  name          text        NOT NULL,
  content_type  text        NOT NULL,
  size_bytes    bigint      NOT NULL,
  sha256        bytea       NOT NULL CHECK (length(sha256) = 32),
  object        text        NOT NULL,
  created_at    timestamptz NOT NULL,
  expires_at    timestamptz,
  PRIMARY KEY (org_id, id),
  -- A run makes each file once; making it again replaces it.
  UNIQUE (org_id, run_id, name),
  FOREIGN KEY (org_id, evaluation_id) REFERENCES evaluations (org_id, id),
  FOREIGN KEY (org_id, run_id) REFERENCES evaluation_runs (org_id, id)
);
CREATE INDEX evaluation_artifacts_evaluation ON evaluation_artifacts (org_id, evaluation_id, id);

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['evaluations', 'evaluation_runs', 'evaluation_run_items', 'evaluation_run_chunks', 'evaluation_run_notes', 'evaluation_artifacts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format($p$CREATE POLICY org ON %I
      USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
      WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid)$p$, t);
  END LOOP;
END $$;
-- +goose StatementEnd
