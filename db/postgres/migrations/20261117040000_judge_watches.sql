-- +goose Up

-- What watches found out about versions of judges. A version itself never
-- changes; the model behind it may.
CREATE TABLE judge_conditions (
  org_id     uuid        NOT NULL,
  config_id  bigint      NOT NULL,
  number     integer     NOT NULL,
  -- When the answers were given that later ones are compared with.
  settled_at timestamptz,
  -- The last time that the verdicts were seen to be the same as before.
  quiet_at   timestamptz,
  -- When they were seen to be others; null if they never were.
  drifted_at timestamptz,
  message    text        NOT NULL,
  PRIMARY KEY (org_id, config_id, number),
  FOREIGN KEY (org_id, config_id, number) REFERENCES judge_versions (org_id, config_id, number)
);
SELECT tenant_table('judge_conditions');

-- Watches, which ask a version of a judge about the same answers again and again.
CREATE TABLE judge_watches (
  org_id          uuid             NOT NULL,
  id              bigint           GENERATED ALWAYS AS IDENTITY,
  config_id       bigint           NOT NULL,
  config_version  integer          NOT NULL,
  dataset_id      bigint           NOT NULL,
  dataset_version integer          NOT NULL,
  every_seconds   integer          NOT NULL CHECK (every_seconds > 0),
  tolerance       double precision NOT NULL CHECK (tolerance > 0 AND tolerance < 1),
  status          text             NOT NULL CHECK (status IN ('preparing', 'watching', 'drifted', 'stopped')),
  -- Why the last step came to nothing, or why the watch ended.
  problem         text             NOT NULL DEFAULT '',
  anchors         integer          NOT NULL DEFAULT 0,
  -- How often the judge contradicts itself without any change, at most; zero until
  -- that is known.
  flip_limit      double precision NOT NULL DEFAULT 0,
  evidence        double precision NOT NULL DEFAULT 1,
  checks          integer          NOT NULL DEFAULT 0,
  next_at         timestamptz      NOT NULL,
  created_by      text             NOT NULL,
  created_at      timestamptz      NOT NULL,
  updated_at      timestamptz      NOT NULL,
  version         bigint           NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, config_id, config_version) REFERENCES judge_versions (org_id, config_id, number)
);
CREATE UNIQUE INDEX judge_watches_open ON judge_watches (org_id, config_id) WHERE status IN ('preparing', 'watching');
SELECT tenant_table('judge_watches');

-- Answers of the judge: number 0 has what the watch began with, the others are
-- those of checks. Old ones are removed.
CREATE TABLE judge_watch_answers (
  org_id     uuid     NOT NULL,
  watch_id   bigint   NOT NULL,
  number     integer  NOT NULL,
  item_id    bigint   NOT NULL,
  repetition smallint NOT NULL,
  -- Null where the judge gave no verdict.
  passed     boolean,
  cost_nano  bigint   NOT NULL,
  PRIMARY KEY (org_id, watch_id, number, item_id, repetition),
  FOREIGN KEY (org_id, watch_id) REFERENCES judge_watches (org_id, id)
);
SELECT tenant_table('judge_watch_answers');

CREATE TABLE judge_watch_checks (
  org_id     uuid        NOT NULL,
  id         bigint      GENERATED ALWAYS AS IDENTITY,
  watch_id   bigint      NOT NULL,
  number     integer     NOT NULL,
  verdict    text        NOT NULL CHECK (verdict IN ('quiet', 'unresolved', 'drifted', 'failed')),
  found      json        NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  CONSTRAINT judge_watch_checks_number UNIQUE (org_id, watch_id, number),
  FOREIGN KEY (org_id, watch_id) REFERENCES judge_watches (org_id, id)
);
SELECT tenant_table('judge_watch_checks');
REVOKE UPDATE ON judge_watch_checks FROM assay_app;
-- fixture: INSERT INTO judge_conditions (org_id, config_id, number, quiet_at, message) SELECT org_id, config_id, number, now(), '' FROM judge_versions;
-- fixture: INSERT INTO judge_watches (org_id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, next_at, created_by, created_at, updated_at) SELECT org_id, config_id, number, 1, 1, 86400, 0.02, 'watching', now(), 'key/1', now(), now() FROM judge_versions;
-- fixture: INSERT INTO judge_watch_answers (org_id, watch_id, number, item_id, repetition, passed, cost_nano) SELECT org_id, id, 0, 1, 0, true, 0 FROM judge_watches;
-- fixture: INSERT INTO judge_watch_checks (org_id, watch_id, number, verdict, found, created_at) SELECT org_id, id, 1, 'quiet', '{}', now() FROM judge_watches;
