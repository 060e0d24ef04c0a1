-- +goose Up

-- A personal key remembers the personal key that it was made with, and ends with
-- it. A key may be made that calls no operation that deletes.
ALTER TABLE api_keys
  ADD COLUMN parent_id bigint,
  ADD COLUMN no_delete boolean NOT NULL DEFAULT false;
CREATE INDEX api_keys_parent ON api_keys (org_id, parent_id) WHERE parent_id IS NOT NULL;
-- fixture: UPDATE api_keys SET parent_id = id, no_delete = true WHERE owner_id IS NOT NULL;
