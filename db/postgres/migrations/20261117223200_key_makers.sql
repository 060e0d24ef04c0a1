-- +goose Up

-- The key that a key was made with: whoever held it may hold this one too.
ALTER TABLE api_keys ADD COLUMN made_with bigint;
-- fixture: UPDATE api_keys SET made_with = id;
