-- +goose Up

-- What gates decided about a run, null before one has. The next release
-- is compared with the last run that passed, so a build that failed never becomes
-- what it is measured against.
ALTER TABLE evaluation_runs ADD COLUMN verdict text CHECK (verdict IN ('PASS', 'FAIL', 'INCONCLUSIVE'));
CREATE INDEX evaluation_runs_passed ON evaluation_runs (org_id, evaluation_id, id) WHERE verdict = 'PASS';

-- The run that an evaluation is measured against over many releases.
ALTER TABLE evaluations ADD COLUMN baseline_run bigint;

-- Every decision is kept as it was made: what was asked, and the figures behind
-- each answer.
CREATE TABLE gate_decisions (
  org_id        uuid        NOT NULL REFERENCES organizations (id),
  id            bigint      GENERATED ALWAYS AS IDENTITY,
  evaluation_id bigint      NOT NULL,
  run_id        bigint      NOT NULL,
  baseline_run  bigint,
  verdict       text        NOT NULL CHECK (verdict IN ('PASS', 'FAIL', 'INCONCLUSIVE')),
  asked         json        NOT NULL,
  decided       json        NOT NULL,
  created_by    text        NOT NULL,
  created_at    timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, evaluation_id) REFERENCES evaluations (org_id, id),
  FOREIGN KEY (org_id, run_id) REFERENCES evaluation_runs (org_id, id) ON DELETE CASCADE
);
CREATE INDEX gate_decisions_run ON gate_decisions (org_id, run_id, id);
SELECT tenant_table('gate_decisions');
-- fixture: UPDATE evaluation_runs SET verdict = 'PASS';
-- fixture: UPDATE evaluations SET baseline_run = 1;
-- fixture: INSERT INTO gate_decisions (org_id, evaluation_id, run_id, verdict, asked, decided, created_by, created_at) SELECT org_id, evaluation_id, id, 'PASS', '{}', '{}', 'key/1', now() FROM evaluation_runs;
