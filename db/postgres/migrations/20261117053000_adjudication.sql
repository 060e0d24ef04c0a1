-- +goose Up

-- What is used for what, by the digest of what was assessed (input and output).
-- Content that judges are tuned on never gates a release, and the reverse: each
-- content of an organization has one side.
CREATE TABLE assessed_contents (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  digest     bytea       NOT NULL CHECK (length(digest) = 32),
  side       text        NOT NULL CHECK (side IN ('golden', 'tuning')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, digest)
);
SELECT tenant_table('assessed_contents');

-- Items of golden and calibration datasets have the digest; others have none.
ALTER TABLE dataset_items ADD COLUMN assessed bytea CHECK (length(assessed) = 32);
ALTER TABLE dataset_items ALTER COLUMN assessed SET STATISTICS 0; -- samples would outlive their organization
CREATE INDEX dataset_items_assessed ON dataset_items (org_id, assessed) WHERE assessed IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION item_side() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wanted text; taken text;
BEGIN
  SELECT CASE WHEN d.purpose = 'golden' THEN 'golden'
              WHEN d.purpose = 'calibration' AND NEW.split IN ('train', 'dev') THEN 'tuning' END
  INTO wanted FROM datasets d WHERE d.org_id = NEW.org_id AND d.id = NEW.dataset_id;
  IF wanted IS NULL THEN
    RETURN NEW;
  END IF;
  -- The update locks the row: whoever comes second waits and then sees the side.
  INSERT INTO assessed_contents AS c (org_id, digest, side) VALUES (NEW.org_id, NEW.assessed, wanted)
  ON CONFLICT (org_id, digest) DO UPDATE SET side = c.side
  RETURNING c.side INTO taken;
  IF taken <> wanted THEN
    RAISE EXCEPTION 'content that is used for % cannot be used for %', taken, wanted
      USING ERRCODE = 'check_violation', CONSTRAINT = 'assessed_contents_one_side', DETAIL = 'sha256:' || encode(NEW.assessed, 'hex');
  END IF;
  RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER item_side BEFORE INSERT OR UPDATE OF assessed, split ON dataset_items
  FOR EACH ROW WHEN (NEW.assessed IS NOT NULL AND NEW.valid_to IS NULL) EXECUTE FUNCTION item_side();

-- A revision that a frozen version contains never changes. It ends once, when a
-- later one takes its place, and goes with its dataset.
-- +goose StatementBegin
CREATE FUNCTION item_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND coalesce(current_setting('app.erase', true), '') <> '' THEN
    RETURN OLD;
  END IF;
  IF EXISTS (SELECT FROM datasets d WHERE d.org_id = OLD.org_id AND d.id = OLD.dataset_id AND d.latest_version >= OLD.valid_from AND d.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'a frozen version contains item % of dataset %', OLD.id, OLD.dataset_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dataset_items_frozen';
  END IF;
  RETURN coalesce(NEW, OLD);
END
$$;
-- +goose StatementEnd
CREATE TRIGGER item_frozen BEFORE UPDATE OF content, digest, split, weight, valid_from OR DELETE ON dataset_items FOR EACH ROW EXECUTE FUNCTION item_frozen();
CREATE TRIGGER item_ended BEFORE UPDATE OF valid_to ON dataset_items
  FOR EACH ROW WHEN (OLD.valid_to IS NOT NULL) EXECUTE FUNCTION item_frozen();

-- Answers about which somebody has to decide.
CREATE TABLE adjudication_items (
  org_id            uuid             NOT NULL REFERENCES organizations (id),
  id                bigint           GENERATED ALWAYS AS IDENTITY,
  source            text             NOT NULL CHECK (source IN ('manual', 'judge_disagreement', 'annotator_disagreement', 'low_confidence', 'policy_denial', 'user_report', 'replay_divergence')),
  status            text             NOT NULL CHECK (status IN ('open', 'assigned', 'decided', 'closed', 'dismissed')),
  priority          text             NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'critical')),
  -- How far apart the positions are.
  disagreement      double precision NOT NULL CHECK (disagreement BETWEEN 0 AND 1),
  -- Place in the queue: when the item was opened, less a day for each point of
  -- its priority. A day of waiting counts like a point, so that the order of two
  -- items never changes by itself.
  rank_at           timestamptz      NOT NULL,
  subject           json             NOT NULL,
  -- The subject in one form, for comparisons.
  subject_key       text             NOT NULL,
  evaluation_run_id bigint,
  trace_id          text,
  title             text             NOT NULL,
  question          text             NOT NULL,
  context           json             NOT NULL,
  candidates        json             NOT NULL,
  content_digest    bytea            NOT NULL CHECK (length(content_digest) = 32),
  failure_mode      text,
  assignee_id       uuid,
  assigned_by       text,
  assigned_at       timestamptz,
  due_at            timestamptz,
  tags              text[]           NOT NULL DEFAULT '{}',
  notes             text             NOT NULL,
  -- Why the item was dismissed, reopened or closed without ground truth.
  reason            text             NOT NULL DEFAULT '',
  created_by        text             NOT NULL,
  created_at        timestamptz      NOT NULL,
  updated_at        timestamptz      NOT NULL,
  version           bigint           NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id),
  CHECK (status <> 'assigned' OR assignee_id IS NOT NULL),
  CHECK (status <> 'open' OR assignee_id IS NULL)
);
SELECT tenant_table('adjudication_items');
-- Of what one source says about one subject, one item is unresolved.
CREATE UNIQUE INDEX adjudication_items_unresolved ON adjudication_items (org_id, source, subject_key) WHERE status IN ('open', 'assigned', 'decided');
CREATE INDEX adjudication_items_queue ON adjudication_items (org_id, status, rank_at, id);
CREATE INDEX adjudication_items_of_run ON adjudication_items (org_id, evaluation_run_id) WHERE evaluation_run_id IS NOT NULL;
CREATE INDEX adjudication_items_of_trace ON adjudication_items (org_id, trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX adjudication_items_assigned ON adjudication_items (org_id, assignee_id) WHERE assignee_id IS NOT NULL;

-- What is assessed, as it was when its item was opened; kept apart, so that lists do
-- not read it.
CREATE TABLE adjudication_contents (
  org_id  uuid   NOT NULL,
  item_id bigint NOT NULL,
  content json   COMPRESSION lz4 NOT NULL,
  PRIMARY KEY (org_id, item_id),
  FOREIGN KEY (org_id, item_id) REFERENCES adjudication_items (org_id, id)
);
SELECT tenant_table('adjudication_contents');
REVOKE UPDATE ON adjudication_contents FROM assay_app;

-- Decisions about items. A superseded one stays.
CREATE TABLE adjudication_decisions (
  org_id            uuid             NOT NULL,
  id                bigint           GENERATED ALWAYS AS IDENTITY,
  item_id           bigint           NOT NULL,
  decision          text             NOT NULL CHECK (decision IN ('pass', 'fail', 'needs_revision', 'not_applicable', 'inconclusive')),
  rationale         text             NOT NULL CHECK (length(rationale) >= 10),
  label             text,
  score             double precision CHECK (score BETWEEN 0 AND 1),
  expected_output   json,
  failure_mode      text,
  confidence        double precision CHECK (confidence BETWEEN 0 AND 1),
  decided_by        text             NOT NULL,
  decider_id        uuid             NOT NULL,
  -- False if the decider had assessed the answer before.
  independent       boolean          NOT NULL,
  -- True if the item was assigned to somebody else.
  override          boolean          NOT NULL,
  -- The separation of duties under which the decision was made.
  separation        text             NOT NULL CHECK (separation IN ('requester', 'key_owner', 'off')),
  -- Whether the decision is another one than that of the judges; null if there was
  -- none to compare with.
  overturned        boolean,
  created_at        timestamptz      NOT NULL,
  superseded_at     timestamptz,
  superseded_by     text,
  superseded_reason text,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, item_id, id, decision),
  FOREIGN KEY (org_id, item_id) REFERENCES adjudication_items (org_id, id)
);
SELECT tenant_table('adjudication_decisions');
CREATE UNIQUE INDEX adjudication_decisions_current ON adjudication_decisions (org_id, item_id) WHERE superseded_at IS NULL;
CREATE INDEX adjudication_decisions_made ON adjudication_decisions (org_id, created_at);

-- What is right about an answer. It rests on a decision that allows one.
CREATE TABLE ground_truths (
  org_id          uuid             NOT NULL,
  id              bigint           GENERATED ALWAYS AS IDENTITY,
  item_id         bigint           NOT NULL,
  decision_id     bigint           NOT NULL,
  decision        text             NOT NULL CHECK (decision IN ('pass', 'fail', 'needs_revision')),
  label           text,
  score           double precision CHECK (score BETWEEN 0 AND 1),
  expected_output json,
  rationale       text             NOT NULL,
  decided_by      text             NOT NULL,
  created_by      text             NOT NULL,
  -- Counts the ground truths that replace each other.
  number          integer          NOT NULL CHECK (number > 0),
  supersedes_id   bigint,
  status          text             NOT NULL CHECK (status IN ('active', 'superseded', 'revoked')),
  reason          text             NOT NULL DEFAULT '',
  content_digest  bytea            NOT NULL CHECK (length(content_digest) = 32),
  created_at      timestamptz      NOT NULL,
  ended_at        timestamptz,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, item_id, id),
  CHECK ((status = 'active') = (ended_at IS NULL)),
  FOREIGN KEY (org_id, item_id, decision_id, decision) REFERENCES adjudication_decisions (org_id, item_id, id, decision),
  FOREIGN KEY (org_id, supersedes_id) REFERENCES ground_truths (org_id, id)
);
SELECT tenant_table('ground_truths');
CREATE UNIQUE INDEX ground_truths_active ON ground_truths (org_id, item_id) WHERE status = 'active';
CREATE UNIQUE INDEX ground_truths_supersedes ON ground_truths (org_id, supersedes_id) WHERE supersedes_id IS NOT NULL;

-- Ground truth in datasets: which item of a dataset rests on which ground truth.
CREATE TABLE ground_truth_entries (
  org_id          uuid        NOT NULL,
  id              bigint      GENERATED ALWAYS AS IDENTITY,
  item_id         bigint      NOT NULL,
  ground_truth_id bigint      NOT NULL,
  purpose         text        NOT NULL CHECK (purpose IN ('calibration', 'golden')),
  dataset_id      bigint      NOT NULL,
  dataset_item_id bigint      NOT NULL,
  split           text        CHECK (split IN ('train', 'dev', 'test')),
  judge_config_id bigint,
  tags            text[]      NOT NULL DEFAULT '{}',
  justification   text        NOT NULL,
  created_by      text        NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  CONSTRAINT ground_truth_entries_once UNIQUE (org_id, item_id, dataset_id),
  CHECK ((purpose = 'calibration') = (split IS NOT NULL)),
  FOREIGN KEY (org_id, item_id, ground_truth_id) REFERENCES ground_truths (org_id, item_id, id),
  FOREIGN KEY (org_id, dataset_id) REFERENCES datasets (org_id, id) ON DELETE CASCADE
);
SELECT tenant_table('ground_truth_entries');
CREATE INDEX ground_truth_entries_of_dataset_item ON ground_truth_entries (org_id, dataset_id, dataset_item_id);

-- +goose StatementBegin
CREATE FUNCTION entry_active() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM ground_truths g
  WHERE g.org_id = NEW.org_id AND g.id = NEW.ground_truth_id AND g.status = 'active'
  FOR SHARE; -- it stays active until the entry is committed
  IF NOT FOUND THEN
    RAISE EXCEPTION 'ground truth % is not active', NEW.ground_truth_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ground_truth_entries_active';
  END IF;
  RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER entry_active BEFORE INSERT OR UPDATE OF ground_truth_id ON ground_truth_entries FOR EACH ROW EXECUTE FUNCTION entry_active();

-- The sets that are used if none is named.
CREATE TABLE adjudication_sets (
  org_id     uuid        NOT NULL,
  purpose    text        NOT NULL CHECK (purpose IN ('calibration', 'golden')),
  dataset_id bigint      NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, purpose),
  FOREIGN KEY (org_id, dataset_id) REFERENCES datasets (org_id, id) ON DELETE CASCADE
);
SELECT tenant_table('adjudication_sets');
-- fixture: INSERT INTO assessed_contents (org_id, digest, side) SELECT id, decode(repeat('01', 32), 'hex'), 'golden' FROM organizations;
-- fixture: INSERT INTO adjudication_items (org_id, source, status, priority, disagreement, rank_at, subject, subject_key, title, question, context, candidates, content_digest, notes, created_by, created_at, updated_at) SELECT id, 'manual', 'decided', 'normal', 0, now(), '{}', 'trace/1', 't', '', '{}', '[]', decode(repeat('01', 32), 'hex'), '', 'system', now(), now() FROM organizations;
-- fixture: INSERT INTO adjudication_contents (org_id, item_id, content) SELECT org_id, id, '{}' FROM adjudication_items;
-- fixture: INSERT INTO adjudication_decisions (org_id, item_id, decision, rationale, decided_by, decider_id, independent, override, separation, created_at) SELECT org_id, id, 'pass', 'As it should be.', 'system', gen_random_uuid(), true, false, 'off', now() FROM adjudication_items;
-- fixture: INSERT INTO ground_truths (org_id, item_id, decision_id, decision, label, rationale, decided_by, created_by, number, status, content_digest, created_at) SELECT org_id, item_id, id, decision, 'pass', '', 'system', 'system', 1, 'active', decode(repeat('01', 32), 'hex'), now() FROM adjudication_decisions;
-- fixture: INSERT INTO ground_truth_entries (org_id, item_id, ground_truth_id, purpose, dataset_id, dataset_item_id, justification, created_by, created_at) SELECT g.org_id, g.item_id, g.id, 'golden', d.id, 1, '', 'system', now() FROM ground_truths g JOIN datasets d ON d.org_id = g.org_id AND d.name = 'fixture';
-- fixture: INSERT INTO adjudication_sets (org_id, purpose, dataset_id, created_at) SELECT org_id, 'golden', id, now() FROM datasets WHERE name = 'fixture';
