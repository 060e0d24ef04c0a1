-- +goose Up

-- Tasks of people: items that they answer.
CREATE TABLE annotation_tasks (
  org_id              uuid             NOT NULL REFERENCES organizations (id),
  id                  bigint           GENERATED ALWAYS AS IDENTITY,
  name                text             NOT NULL,
  type                text             NOT NULL CHECK (type IN ('rating', 'classification', 'multi_label', 'pairwise', 'ranking', 'free_text', 'correction')),
  status              text             NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'completed', 'archived')),
  label_schema        json             NOT NULL,
  guidelines          text             NOT NULL,
  description         text             NOT NULL,
  due_at              timestamptz,
  tags                text[]           NOT NULL,
  annotators_per_item integer          NOT NULL CHECK (annotators_per_item BETWEEN 1 AND 10),
  agreement_threshold double precision NOT NULL CHECK (agreement_threshold BETWEEN 0 AND 1),
  blind               boolean          NOT NULL,
  -- Who may answer; none means every member.
  assignee_ids        uuid[]           NOT NULL,
  -- What the items were made from; null if they were added.
  source              json,
  -- Equal to the number of its items, and of those that need nobody any more.
  total_items         bigint           NOT NULL DEFAULT 0,
  completed_items     bigint           NOT NULL DEFAULT 0 CHECK (completed_items BETWEEN 0 AND total_items),
  created_by          text             NOT NULL,
  created_at          timestamptz      NOT NULL,
  updated_at          timestamptz      NOT NULL,
  version             bigint           NOT NULL DEFAULT 1,
  deleted_at          timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenant_table('annotation_tasks');

-- Where an item stands in the queue of its task. An item that needs people again
-- gets a new number: whoever has passed its old one comes to it once more.
CREATE SEQUENCE annotation_queue;
GRANT USAGE ON SEQUENCE annotation_queue TO assay_app;

CREATE TABLE annotation_items (
  org_id            uuid             NOT NULL,
  id                bigint           GENERATED ALWAYS AS IDENTITY,
  task_id           bigint           NOT NULL,
  status            text             NOT NULL CHECK (status IN ('pending', 'in_progress', 'annotated', 'skipped', 'conflicted', 'adjudicated')),
  content           json             NOT NULL,
  suggestion        json,
  -- Bytes of the content and the suggestion.
  bytes             integer          NOT NULL,
  evaluation_run_id bigint,
  test_case_id      bigint,
  trace_id          bytea            CHECK (length(trace_id) = 16),
  span_id           text,
  -- People that the item needs; of them have answered and hold it now. Those who
  -- have skipped it do not count among them.
  required          integer          NOT NULL CHECK (required BETWEEN 1 AND 10),
  submitted         integer          NOT NULL DEFAULT 0 CHECK (submitted >= 0),
  held              integer          NOT NULL DEFAULT 0 CHECK (held >= 0),
  skipped           integer          NOT NULL DEFAULT 0 CHECK (skipped >= 0),
  agreement         double precision,
  adjudication_id   bigint,
  queue             bigint           NOT NULL DEFAULT nextval('annotation_queue'),
  created_at        timestamptz      NOT NULL,
  updated_at        timestamptz      NOT NULL,
  version           bigint           NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, id),
  CONSTRAINT annotation_items_slots CHECK (submitted + held <= required),
  FOREIGN KEY (org_id, task_id) REFERENCES annotation_tasks (org_id, id)
);
CREATE INDEX annotation_items_task ON annotation_items (org_id, task_id, id);
-- The queue: items that somebody may take.
CREATE INDEX annotation_items_queue ON annotation_items (org_id, task_id, queue)
  WHERE submitted + held < required AND status IN ('pending', 'in_progress');
SELECT tenant_table('annotation_items');

-- How far each person has come in the queue of a task.
CREATE TABLE annotation_places (
  org_id  uuid   NOT NULL,
  task_id bigint NOT NULL,
  person  uuid   NOT NULL,
  queue   bigint NOT NULL,
  PRIMARY KEY (org_id, task_id, person),
  FOREIGN KEY (org_id, task_id) REFERENCES annotation_tasks (org_id, id)
);
SELECT tenant_table('annotation_places');

-- Items that people hold: one for a person and task. Each counts in the item's held
-- until it is removed, also after it has expired.
CREATE TABLE annotation_leases (
  org_id     uuid        NOT NULL,
  task_id    bigint      NOT NULL,
  person     uuid        NOT NULL,
  item_id    bigint      NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, task_id, person),
  FOREIGN KEY (org_id, item_id) REFERENCES annotation_items (org_id, id)
);
CREATE INDEX annotation_leases_item ON annotation_leases (org_id, item_id);
CREATE INDEX annotation_leases_expiry ON annotation_leases (org_id, task_id, expires_at);
SELECT tenant_table('annotation_leases');

-- Who would not answer an item, and why.
CREATE TABLE annotation_skips (
  org_id     uuid        NOT NULL,
  item_id    bigint      NOT NULL,
  person     uuid        NOT NULL,
  reason     text        NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, item_id, person),
  FOREIGN KEY (org_id, item_id) REFERENCES annotation_items (org_id, id)
);
SELECT tenant_table('annotation_skips');

CREATE TABLE annotations (
  org_id            uuid        NOT NULL REFERENCES organizations (id),
  id                bigint      GENERATED ALWAYS AS IDENTITY,
  task_id           bigint,
  item_id           bigint,
  evaluation_run_id bigint,
  test_case_id      bigint,
  trace_id          bytea       CHECK (length(trace_id) = 16),
  span_id           text,
  -- The person who answers: one person is one annotator, however many keys they have.
  person            uuid        NOT NULL,
  -- Whether somebody else made the person's key.
  asserted          boolean     NOT NULL,
  status            text        NOT NULL CHECK (status IN ('draft', 'submitted', 'discarded')),
  answer            json        NOT NULL,
  duration_ms       bigint,
  -- Whether others may read it: in a blind task not before its item is complete.
  open              boolean     NOT NULL,
  -- Keeps the digests of the audit log from being guessed.
  nonce             uuid        NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  version           bigint      NOT NULL DEFAULT 1,
  deleted_at        timestamptz,
  PRIMARY KEY (org_id, id),
  CHECK ((task_id IS NULL) = (item_id IS NULL)),
  FOREIGN KEY (org_id, item_id) REFERENCES annotation_items (org_id, id)
);
CREATE UNIQUE INDEX annotations_person ON annotations (org_id, item_id, person) WHERE item_id IS NOT NULL AND status <> 'discarded' AND deleted_at IS NULL;
CREATE INDEX annotations_item ON annotations (org_id, item_id, person) WHERE item_id IS NOT NULL;
CREATE INDEX annotations_task ON annotations (org_id, task_id, id) WHERE task_id IS NOT NULL;
CREATE INDEX annotations_run ON annotations (org_id, evaluation_run_id, id) WHERE evaluation_run_id IS NOT NULL;
CREATE INDEX annotations_trace ON annotations (org_id, trace_id, id) WHERE trace_id IS NOT NULL;
CREATE INDEX annotations_who ON annotations (org_id, person, id);
SELECT tenant_table('annotations');

-- What a submitted annotation said before it was changed.
CREATE TABLE annotation_revisions (
  org_id        uuid        NOT NULL,
  annotation_id bigint      NOT NULL,
  version       bigint      NOT NULL,
  status        text        NOT NULL,
  answer        json        NOT NULL,
  duration_ms   bigint,
  replaced_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, annotation_id, version),
  FOREIGN KEY (org_id, annotation_id) REFERENCES annotations (org_id, id)
);
SELECT tenant_table('annotation_revisions');
REVOKE UPDATE ON annotation_revisions FROM assay_app;
-- fixture: INSERT INTO annotation_tasks (org_id, name, type, status, label_schema, guidelines, description, tags, annotators_per_item, agreement_threshold, blind, assignee_ids, total_items, created_by, created_at, updated_at) SELECT id, 'Labels', 'rating', 'active', '{"fields":[]}', '', '', '{}', 1, 0.67, true, '{}', 1, 'system', now(), now() FROM organizations;
-- fixture: INSERT INTO annotation_items (org_id, task_id, status, content, bytes, required, held, created_at, updated_at) SELECT org_id, id, 'in_progress', '{}', 2, 2, 1, now(), now() FROM annotation_tasks;
-- fixture: INSERT INTO annotation_places (org_id, task_id, person, queue) SELECT org_id, task_id, '00000000-0000-0000-0000-000000000001', queue FROM annotation_items;
-- fixture: INSERT INTO annotation_leases (org_id, task_id, person, item_id, expires_at) SELECT org_id, task_id, '00000000-0000-0000-0000-000000000001', id, now() FROM annotation_items;
-- fixture: INSERT INTO annotation_skips (org_id, item_id, person, reason, created_at) SELECT org_id, id, '00000000-0000-0000-0000-000000000002', 'Not my language', now() FROM annotation_items;
-- fixture: INSERT INTO annotations (org_id, task_id, item_id, person, asserted, status, answer, open, nonce, created_at, updated_at) SELECT org_id, task_id, id, '00000000-0000-0000-0000-000000000001', false, 'draft', '{}', false, gen_random_uuid(), now(), now() FROM annotation_items;
-- fixture: INSERT INTO annotation_revisions (org_id, annotation_id, version, status, answer, replaced_at) SELECT org_id, id, 1, 'submitted', '{}', now() FROM annotations;
