-- +goose Up

-- What agents did, as it was reported: events, steps, calls of tools, explanations. The
-- row of an id with the highest version is the record.
CREATE TABLE IF NOT EXISTS evidence_local  (
  org_id            UUID CODEC(ZSTD(1)),
  kind              LowCardinality(String) CODEC(ZSTD(1)),
  id                Int64 CODEC(Delta, ZSTD(1)),
  replaces          UInt64 CODEC(Delta, ZSTD(1)),
  -- What the record is recognized by when it is reported again.
  key               FixedString(16) CODEC(NONE),
  version           Int64 CODEC(ZSTD(1)),
  idempotency_key   String CODEC(ZSTD(1)),
  origin            LowCardinality(String) CODEC(ZSTD(1)),
  actor             LowCardinality(String) CODEC(ZSTD(1)),
  state             LowCardinality(String) CODEC(ZSTD(1)),
  runtime_id        Int64 CODEC(ZSTD(1)),
  runtime_key       LowCardinality(String) CODEC(ZSTD(1)),
  connector_id      Int64 CODEC(ZSTD(1)),
  connector_key     LowCardinality(String) CODEC(ZSTD(1)),
  trace_id          FixedString(16) CODEC(ZSTD(1)),
  evaluation_run_id Int64 CODEC(ZSTD(1)),
  raw_event_id      Int64 CODEC(ZSTD(1)),
  step_id           Int64 CODEC(ZSTD(1)),
  invocation_id     String CODEC(ZSTD(1)),
  decision_id       Int64 CODEC(ZSTD(1)),
  primitive_type    LowCardinality(String) CODEC(ZSTD(1)),
  side_effect_class LowCardinality(String) CODEC(ZSTD(1)),
  occurred_at       DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  created_at        DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  updated_at        DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  body              String CODEC(ZSTD(3)),
  retention_days    UInt16 CODEC(ZSTD(1)),
  -- What does not change from report to report finds the few records that have it.
  INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_event raw_event_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_invocation invocation_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_runtime runtime_key TYPE bloom_filter(0.01) GRANULARITY 4,
  INDEX by_name idempotency_key TYPE bloom_filter(0.01) GRANULARITY 4,
  INDEX by_run evaluation_run_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = ReplacingMergeTree(replaces)
PARTITION BY (retention_days, toYYYYMM(created_at))
ORDER BY (org_id, kind, id)
TTL toDateTime(created_at) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS evidence  AS evidence_local
ENGINE = Distributed('main', 'assay', 'evidence_local', cityHash64(org_id, id));
