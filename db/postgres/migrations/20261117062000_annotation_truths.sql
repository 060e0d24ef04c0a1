-- +goose Up

-- What is known about items besides what their annotators say: the labels of gold
-- questions, which whoever adds items knows, and what adjudications decided. It is
-- kept apart from the items, so that nothing that reads an item reads it.
CREATE TABLE annotation_truths (
  org_id    uuid    NOT NULL,
  item_id   bigint  NOT NULL,
  task_id   bigint  NOT NULL,
  origin    text    NOT NULL CHECK (origin IN ('gold', 'decision')),
  -- The label, or the rating as a text; null if a decision names none.
  label     text    CHECK (origin = 'decision' OR label IS NOT NULL),
  -- Whether a decision confirms what the annotators say; null if it does not say so.
  confirmed boolean,
  PRIMARY KEY (org_id, task_id, item_id, origin),
  FOREIGN KEY (org_id, item_id) REFERENCES annotation_items (org_id, id) ON DELETE CASCADE
);
CREATE INDEX annotation_truths_item ON annotation_truths (org_id, item_id);
SELECT tenant_table('annotation_truths');
-- fixture: INSERT INTO annotation_truths (org_id, item_id, task_id, origin, label) SELECT org_id, id, task_id, 'gold', 'good' FROM annotation_items;

-- Agreed answers that are drawn at random are decided by a person, too.
ALTER TABLE adjudication_items DROP CONSTRAINT adjudication_items_source_check;
ALTER TABLE adjudication_items ADD CONSTRAINT adjudication_items_source_check
  CHECK (source IN ('manual', 'judge_disagreement', 'annotator_disagreement', 'low_confidence', 'policy_denial', 'user_report', 'replay_divergence', 'audit'));
CREATE INDEX adjudication_items_subject ON adjudication_items (org_id, subject_key);
