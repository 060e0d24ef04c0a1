-- +goose Up
-- How an entry's digests were made. Entries that exist, and those of an older
-- binary, have format 1.
ALTER TABLE audit_logs ADD COLUMN digest_format smallint NOT NULL DEFAULT 1;

-- What a dataset's items add up to, as its frozen versions show it.
ALTER TABLE datasets ADD COLUMN content_digest bytea NOT NULL GENERATED ALWAYS AS (sha256(content_sum)) STORED;
