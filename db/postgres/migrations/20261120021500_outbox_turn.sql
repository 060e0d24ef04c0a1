-- +goose Up
-- The dispatcher serves organizations in turn: it skips from one to the next, and reads
-- the first due messages of each.
CREATE INDEX outbox_turn ON outbox (topic, org_id, due_at, id);
-- fixture: SELECT 1;
