-- +goose Up
-- The dispatcher serves organizations in turn: it skips from one to the next, and reads
-- the first due messages of each. The outbox is small, so the lock is short.
CREATE INDEX outbox_turn ON outbox (topic, org_id, due_at, id);
DROP INDEX outbox_due;
-- fixture: SELECT 1;
