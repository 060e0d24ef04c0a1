-- +goose Up

-- Results of clients that are on their way into ClickHouse while no transaction
-- is open: how many requests bring some, and until when at the latest. A run is
-- added up when there are none.
ALTER TABLE evaluation_runs ADD COLUMN posting integer NOT NULL DEFAULT 0, ADD COLUMN posting_until timestamptz;

-- How many workers have died while they scored a unit of the chunk, by unit.
ALTER TABLE evaluation_run_chunks ADD COLUMN deaths jsonb NOT NULL DEFAULT '{}';
-- fixture: UPDATE evaluation_runs SET posting = 1, posting_until = '2026-01-01T00:00:00Z';
-- fixture: UPDATE evaluation_run_chunks SET deaths = '{"1/0": 1}';
