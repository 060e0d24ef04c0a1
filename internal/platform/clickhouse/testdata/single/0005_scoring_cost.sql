-- +goose Up

-- What it cost to score an answer, beside what the answer cost.
ALTER TABLE run_results  ADD COLUMN IF NOT EXISTS scoring_nano_usd UInt64 CODEC(T64, ZSTD(1)) AFTER calls;

