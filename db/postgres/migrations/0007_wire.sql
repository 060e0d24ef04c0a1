-- +goose Up

-- Versions for updates under If-Match, who made a key or gave feedback, and
-- evaluations that are deleted for good.
ALTER TABLE api_keys
  ADD COLUMN version bigint NOT NULL DEFAULT 1,
  ADD COLUMN creator text   NOT NULL DEFAULT 'system';

ALTER TABLE members ADD COLUMN version bigint NOT NULL DEFAULT 1;

-- An item that was never changed has no time of its last change.
ALTER TABLE dataset_items
  ADD COLUMN version    bigint NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz;

ALTER TABLE trace_feedback ADD COLUMN creator text NOT NULL DEFAULT 'system';

ALTER TABLE evaluations ADD COLUMN deleted_at timestamptz;
