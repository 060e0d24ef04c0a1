-- +goose Up

-- Rules that have a judge assess a share of new traces.
CREATE TABLE judge_rules (
  org_id         uuid             NOT NULL REFERENCES organizations (id),
  id             bigint           GENERATED ALWAYS AS IDENTITY,
  key            text             NOT NULL,
  name           text             NOT NULL,
  description    text             NOT NULL,
  config_id      bigint           NOT NULL,
  filter         json             NOT NULL,
  -- Which traces are chosen follows from the sampling key, the trace's id and
  -- the rate alone.
  sampling_key   text             NOT NULL,
  sample_rate    double precision NOT NULL CHECK (sample_rate > 0 AND sample_rate <= 1),
  status         text             NOT NULL CHECK (status IN ('active', 'paused')),
  spend_cap_nano bigint           CHECK (spend_cap_nano >= 0),
  cap_period     text             NOT NULL CHECK (cap_period IN ('month', 'total')),
  -- Counts activations: each has a workflow of its own.
  activation     bigint           NOT NULL,
  created_by     text             NOT NULL,
  created_at     timestamptz      NOT NULL,
  updated_at     timestamptz      NOT NULL,
  version        bigint           NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id),
  CONSTRAINT judge_rules_key UNIQUE (org_id, key),
  FOREIGN KEY (org_id, config_id) REFERENCES judge_configs (org_id, id)
);
SELECT tenant_table('judge_rules');

-- How far a rule has read the arrivals of traces: those that ended by
-- themselves, and those that nothing came to for long. Step counts the moves, so
-- that one that is made twice counts once.
CREATE TABLE judge_rule_cursors (
  org_id          uuid        NOT NULL,
  rule_id         bigint      NOT NULL,
  step            bigint      NOT NULL,
  ended_ms        bigint      NOT NULL,
  ended_id        bytea       NOT NULL,
  idle_ms         bigint      NOT NULL,
  idle_id         bytea       NOT NULL,
  -- Why the last traces were not judged; null if they were.
  blocked_code    text,
  blocked_message text,
  blocked_at      timestamptz,
  PRIMARY KEY (org_id, rule_id),
  FOREIGN KEY (org_id, rule_id) REFERENCES judge_rules (org_id, id) ON DELETE CASCADE
);
SELECT tenant_table('judge_rule_cursors');

-- Back-fills, which apply a rule to traces of the past.
CREATE TABLE judge_rule_backfills (
  org_id         uuid             NOT NULL,
  id             bigint           GENERATED ALWAYS AS IDENTITY,
  rule_id        bigint           NOT NULL,
  -- The rule and the version of its judge, as they were at the start.
  config_id      bigint           NOT NULL,
  config_version integer          NOT NULL,
  filter         json             NOT NULL,
  sampling_key   text             NOT NULL,
  sample_rate    double precision NOT NULL CHECK (sample_rate > 0 AND sample_rate <= 1),
  from_at        timestamptz      NOT NULL,
  to_at          timestamptz      NOT NULL,
  max_traces     integer          CHECK (max_traces > 0),
  spend_cap_nano bigint           CHECK (spend_cap_nano >= 0),
  status         text             NOT NULL CHECK (status IN ('running', 'completed', 'stopped', 'cancelled')),
  reason_code    text,
  reason_message text,
  -- Matching traces at the start; null until they are counted.
  total          bigint,
  matched        bigint           NOT NULL,
  sampled        bigint           NOT NULL,
  step           bigint           NOT NULL,
  -- Where the walk through the traces stands, from the newest to the oldest.
  below_start    bigint           NOT NULL,
  below_id       bytea            NOT NULL,
  created_by     text             NOT NULL,
  created_at     timestamptz      NOT NULL,
  updated_at     timestamptz      NOT NULL,
  ended_at       timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, rule_id) REFERENCES judge_rules (org_id, id) ON DELETE CASCADE
);
CREATE INDEX judge_rule_backfills_rule ON judge_rule_backfills (org_id, rule_id, id);
SELECT tenant_table('judge_rule_backfills');

-- What became of sampled traces, by rule and by back-fill.
CREATE TABLE judge_rule_tallies (
  org_id      uuid   NOT NULL,
  rule_id     bigint NOT NULL,
  -- Zero for what the rule itself did.
  backfill_id bigint NOT NULL,
  outcome     text   NOT NULL CHECK (outcome IN ('judged', 'abstained', 'failed', 'skipped')),
  reason      text   NOT NULL,
  traces      bigint NOT NULL,
  cost_nano   bigint NOT NULL,
  PRIMARY KEY (org_id, rule_id, backfill_id, outcome, reason),
  FOREIGN KEY (org_id, rule_id) REFERENCES judge_rules (org_id, id) ON DELETE CASCADE
);
SELECT tenant_table('judge_rule_tallies');

-- Traces that a rule or a back-fill is having judged at this moment. Whoever has
-- the claim asks the judge; all others leave the trace alone. A claim goes when
-- its outcome is counted: by then the result can be read among the scores.
CREATE TABLE judge_rule_claims (
  org_id         uuid        NOT NULL,
  config_id      bigint      NOT NULL,
  config_version integer     NOT NULL,
  trace_id       bytea       NOT NULL CHECK (length(trace_id) = 16),
  rule_id        bigint      NOT NULL,
  backfill_id    bigint      NOT NULL,
  -- Of the rule; zero for a back-fill. What an earlier activation still holds is not
  -- the later one's.
  activation     bigint      NOT NULL,
  claimed_at     timestamptz NOT NULL,
  -- Null until the trace is judged.
  outcome        text        CHECK (outcome IN ('judged', 'abstained', 'failed', 'skipped')),
  reason         text        NOT NULL,
  cost_nano      bigint      NOT NULL,
  PRIMARY KEY (org_id, config_id, config_version, trace_id),
  FOREIGN KEY (org_id, rule_id) REFERENCES judge_rules (org_id, id) ON DELETE CASCADE
);
CREATE INDEX judge_rule_claims_holder ON judge_rule_claims (org_id, rule_id, backfill_id, activation);
SELECT tenant_table('judge_rule_claims');
-- fixture: INSERT INTO judge_rules (org_id, key, name, description, config_id, filter, sampling_key, sample_rate, status, cap_period, activation, created_by, created_at, updated_at) SELECT org_id, 'live', 'Live', '', id, '{}', 'live', 0.1, 'paused', 'total', 1, 'key/1', now(), now() FROM judge_configs;
-- fixture: INSERT INTO judge_rule_cursors (org_id, rule_id, step, ended_ms, ended_id, idle_ms, idle_id) SELECT org_id, id, 0, 0, '', 0, '' FROM judge_rules;
-- fixture: INSERT INTO judge_rule_backfills (org_id, rule_id, config_id, config_version, filter, sampling_key, sample_rate, from_at, to_at, status, matched, sampled, step, below_start, below_id, created_by, created_at, updated_at) SELECT org_id, id, config_id, 1, '{}', 'live', 0.1, now(), now(), 'completed', 0, 0, 0, 0, '', 'key/1', now(), now() FROM judge_rules;
-- fixture: INSERT INTO judge_rule_tallies (org_id, rule_id, backfill_id, outcome, reason, traces, cost_nano) SELECT org_id, id, 0, 'judged', '', 1, 0 FROM judge_rules;
-- fixture: INSERT INTO judge_rule_claims (org_id, config_id, config_version, trace_id, rule_id, backfill_id, activation, claimed_at, reason, cost_nano) SELECT org_id, config_id, 1, '\x00112233445566778899aabbccddeeff', id, 0, 1, now(), '', 0 FROM judge_rules;
