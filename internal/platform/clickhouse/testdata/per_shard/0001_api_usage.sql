-- +goose Up

-- One row per API request. The edge writes them in blocks; nothing else in the
-- product is written once per request.
CREATE TABLE IF NOT EXISTS api_usage_local  (
  org_id      UUID,
  at          DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  key_id      LowCardinality(String),
  operation   LowCardinality(String),
  status      UInt16,
  duration_us UInt32 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree()
PARTITION BY toYYYYMM(at)
ORDER BY (org_id, key_id, at)
TTL toDateTime(at) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS api_usage  AS api_usage_local
ENGINE = Distributed('main', 'assay', 'api_usage_local', cityHash64(org_id));
