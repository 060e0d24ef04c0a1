-- +goose Up

-- What it cost to score an answer, beside what the answer cost.
ALTER TABLE {{ .Local "run_results" }} {{ .OnCluster }} ADD COLUMN IF NOT EXISTS scoring_nano_usd UInt64 CODEC(T64, ZSTD(1)) AFTER calls;
{{ if .Cluster }}
ALTER TABLE run_results {{ .OnCluster }} ADD COLUMN IF NOT EXISTS scoring_nano_usd UInt64 AFTER calls;
{{ end }}
