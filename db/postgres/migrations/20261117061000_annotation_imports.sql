-- +goose Up
-- Answers that were imported with an item, from a file: what somebody said elsewhere.
-- They are nobody's answer here: they take no place of the item, and count for nothing.
CREATE TABLE annotation_imports (
  org_id      uuid        NOT NULL,
  id          bigint      GENERATED ALWAYS AS IDENTITY,
  item_id     bigint      NOT NULL,
  -- The answer as the file has it, with the name of who gave it.
  answer      json        NOT NULL,
  imported_by text        NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, item_id) REFERENCES annotation_items (org_id, id) ON DELETE CASCADE
);
CREATE INDEX annotation_imports_item ON annotation_imports (org_id, item_id, id);
SELECT tenant_table('annotation_imports');
REVOKE UPDATE ON annotation_imports FROM assay_app;
-- fixture: INSERT INTO annotation_imports (org_id, item_id, answer, imported_by, created_at) SELECT org_id, id, '{}', 'system', now() FROM annotation_items;
