-- +goose Up

-- The key that a key replaced when it was rotated: whoever held the old one holds this one.
ALTER TABLE api_keys ADD COLUMN succeeds bigint;
-- fixture: UPDATE api_keys SET succeeds = id;
