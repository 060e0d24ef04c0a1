-- +goose Up

-- How probable it was that the item was chosen from its source; null if it was not
-- chosen by chance. Whoever generalizes from the labels weighs them by it.
ALTER TABLE annotation_items ADD COLUMN inclusion_probability double precision
  CHECK (inclusion_probability > 0 AND inclusion_probability <= 1);
-- fixture: INSERT INTO annotation_items (org_id, task_id, status, content, bytes, required, held, inclusion_probability, created_at, updated_at) SELECT org_id, id, 'pending', '{}', 2, 2, 0, 0.5, now(), now() FROM annotation_tasks;
