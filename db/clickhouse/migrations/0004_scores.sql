-- +goose Up

-- What was said about traces, spans, items of runs, matches and conversations.
-- The newest row of a key is the score; an older one is replaced, whatever
-- partition it lies in. A question about a time therefore reads every partition
-- from its beginning to the present, and leaves out what is too new afterwards.
CREATE TABLE IF NOT EXISTS {{ .Local "scores" }} {{ .OnCluster }} (
  org_id         UUID CODEC(ZSTD(1)),
  kind           LowCardinality(String) CODEC(ZSTD(1)),
  subject        String CODEC(ZSTD(1)),
  part           String CODEC(ZSTD(1)),
  metric         LowCardinality(String) CODEC(ZSTD(1)),
  source         LowCardinality(String) CODEC(ZSTD(1)),
  source_id      String CODEC(ZSTD(1)),
  -- Zero, or the number of a score that replaces no other.
  entry          Int64 CODEC(ZSTD(1)),
  record         Int64 CODEC(ZSTD(1)),
  scored         Bool CODEC(ZSTD(1)),
  value          Float64 CODEC(ZSTD(1)),
  label          LowCardinality(String) CODEC(ZSTD(1)),
  comment        String CODEC(ZSTD(3)),
  detail         String CODEC(ZSTD(3)),
  config_version Int64 CODEC(ZSTD(1)),
  actor          String CODEC(ZSTD(1)),
  at             DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  -- Zero keeps the row until it is erased.
  retention_days UInt16 CODEC(ZSTD(1))
)
ENGINE = {{ .Engine "ReplacingMergeTree" "scores" "at" }}
PARTITION BY (retention_days, toYYYYMM(at))
ORDER BY (org_id, kind, subject, part, metric, source, source_id, entry)
TTL if(retention_days = 0, toDateTime('2106-01-01 00:00:00', 'UTC'), toDateTime(at) + toIntervalDay(retention_days))
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, index_granularity = 1024;

{{ .Distributed "scores" "cityHash64(org_id, subject)" }}
