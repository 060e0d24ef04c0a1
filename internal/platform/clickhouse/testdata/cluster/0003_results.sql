-- +goose Up

-- What came of the items of evaluation runs. A row with an empty metric is an
-- item's outcome in one repetition; a row with a metric is one score of it. The
-- key holds no clock, so work that is done again replaces what it wrote before.
-- A run lies in one partition: that of the month in which it began.
CREATE TABLE IF NOT EXISTS run_results_local ON CLUSTER 'main' (
  org_id        UUID CODEC(ZSTD(1)),
  run_id        Int64 CODEC(ZSTD(1)),
  metric        LowCardinality(String) CODEC(ZSTD(1)),
  item_id       Int64 CODEC(Delta, ZSTD(1)),
  epoch         UInt16 CODEC(ZSTD(1)),
  run_started   DateTime('UTC') CODEC(ZSTD(1)),
  -- What the item was, so that runs of different versions can be compared.
  content       FixedString(16) CODEC(ZSTD(1)),
  cluster       String CODEC(ZSTD(1)),
  weight        Float64 CODEC(ZSTD(1)),
  -- Of an outcome.
  status        LowCardinality(String) CODEC(ZSTD(1)),
  output        String CODEC(ZSTD(3)),
  tool_calls    String CODEC(ZSTD(3)),
  otel_trace_id FixedString(16) CODEC(ZSTD(1)),
  duration_us   UInt64 CODEC(T64, ZSTD(1)),
  duration_known Bool CODEC(ZSTD(1)),
  cost_nano_usd UInt64 CODEC(T64, ZSTD(1)),
  cost_known    Bool CODEC(ZSTD(1)),
  input_tokens  UInt32 CODEC(T64, ZSTD(1)),
  output_tokens UInt32 CODEC(T64, ZSTD(1)),
  calls         UInt16 CODEC(T64, ZSTD(1)),
  error_code    LowCardinality(String) CODEC(ZSTD(1)),
  error_message String CODEC(ZSTD(3)),
  attempts      String CODEC(ZSTD(3)),
  -- Of a score, and of an outcome its overall. A missing score has a reason and
  -- no value.
  scored        Bool CODEC(ZSTD(1)),
  value         Float64 CODEC(ZSTD(1)),
  reason        LowCardinality(String) CODEC(ZSTD(1)),
  explanation   String CODEC(ZSTD(3)),
  version       UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/assay/run_results', '{replica}', version)
PARTITION BY toYYYYMM(run_started)
ORDER BY (org_id, run_id, metric, item_id, epoch)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 2048;

CREATE TABLE IF NOT EXISTS run_results ON CLUSTER 'main' AS run_results_local
ENGINE = Distributed('main', 'assay', 'run_results_local', cityHash64(org_id, run_id));
