-- +goose Up

-- A span as lists, filters and figures need it; what people wrote and models
-- answered is in span_payloads.
--
-- Sending a span again replaces it: a later arrival has a higher version, and
-- an ended span a higher one than any open span. Every column of the key is
-- fixed when a span starts. A row whose span_id is zero is what the caller
-- said of the trace as a whole. Old data may arrive late, so a row's time to
-- live begins with the later of its start and its arrival.
CREATE TABLE IF NOT EXISTS spans_local ON CLUSTER 'main' (
  org_id           UUID CODEC(ZSTD(1)),
  trace_id         FixedString(16) CODEC(ZSTD(1)),
  span_id          FixedString(8) CODEC(ZSTD(1)),
  parent_span_id   FixedString(8) CODEC(ZSTD(1)),
  start_time       DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  duration_us      UInt64 CODEC(T64, ZSTD(1)),
  state            Enum8('open' = 0, 'ended' = 1) CODEC(ZSTD(1)),
  status           Enum8('unset' = 0, 'ok' = 1, 'error' = 2) CODEC(ZSTD(1)),
  status_message   String CODEC(ZSTD(3)),
  kind             Enum8('internal' = 0, 'server' = 1, 'client' = 2, 'producer' = 3, 'consumer' = 4) CODEC(ZSTD(1)),
  primitive_type   LowCardinality(String) CODEC(ZSTD(1)),
  name             LowCardinality(String) CODEC(ZSTD(1)),
  service_name     LowCardinality(String) CODEC(ZSTD(1)),
  environment      LowCardinality(String) CODEC(ZSTD(1)),
  release_id       LowCardinality(String) CODEC(ZSTD(1)),
  agent_name       LowCardinality(String) CODEC(ZSTD(1)),
  model            LowCardinality(String) CODEC(ZSTD(1)),
  provider         LowCardinality(String) CODEC(ZSTD(1)),
  tool_name        LowCardinality(String) CODEC(ZSTD(1)),
  conversation_id  String CODEC(ZSTD(3)),
  user_id          String CODEC(ZSTD(3)),
  input_tokens     UInt32 CODEC(T64, ZSTD(1)),
  output_tokens    UInt32 CODEC(T64, ZSTD(1)),
  cached_tokens    UInt32 CODEC(T64, ZSTD(1)),
  reasoning_tokens UInt32 CODEC(T64, ZSTD(1)),
  cost_nano_usd    UInt64 CODEC(T64, ZSTD(1)),
  cost_known       Bool CODEC(ZSTD(1)),
  first_token_us   UInt32 CODEC(T64, ZSTD(1)),
  tags             Array(LowCardinality(String)) CODEC(ZSTD(1)),
  attrs            Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  attrs_json       Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  resource         LowCardinality(String) CODEC(ZSTD(1)),
  input_preview    String CODEC(ZSTD(3)),
  output_preview   String CODEC(ZSTD(3)),
  retention_days   UInt16 CODEC(ZSTD(1)),
  ingested_at      DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  version          UInt64 CODEC(Delta, ZSTD(1)),
  INDEX by_user user_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_conversation conversation_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_text mapValues(attrs) TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(mapValues(attrs)))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/assay/spans', '{replica}', version)
PARTITION BY (retention_days, if(retention_days <= 90, toYYYYMMDD(start_time), toYYYYMM(start_time) * 100))
PRIMARY KEY (org_id, toStartOfMinute(start_time), xxHash32(trace_id))
ORDER BY (org_id, toStartOfMinute(start_time), xxHash32(trace_id), trace_id, span_id, start_time)
TTL toDateTime(greatest(start_time, ingested_at)) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000,
  min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS spans ON CLUSTER 'main' AS spans_local
ENGINE = Distributed('main', 'assay', 'spans_local', cityHash64(org_id, trace_id));

-- What went in and came out of a span. A trace's rows lie together, so that
-- what each turn repeats of the turns before compresses away. search_text is
-- what is new in the span, and the only text that is indexed.
CREATE TABLE IF NOT EXISTS span_payloads_local ON CLUSTER 'main' (
  org_id         UUID CODEC(ZSTD(1)),
  trace_id       FixedString(16) CODEC(ZSTD(1)),
  start_time     DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  span_id        FixedString(8) CODEC(ZSTD(1)),
  input          String CODEC(ZSTD(3)),
  output         String CODEC(ZSTD(3)),
  system         String CODEC(ZSTD(3)),
  tools          String CODEC(ZSTD(3)),
  events         String CODEC(ZSTD(3)),
  links          String CODEC(ZSTD(3)),
  search_text    String CODEC(ZSTD(3)),
  retention_days UInt16 CODEC(ZSTD(1)),
  ingested_at    DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  version        UInt64 CODEC(Delta, ZSTD(1)),
  INDEX by_text search_text TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(search_text))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/assay/span_payloads', '{replica}', version)
PARTITION BY (retention_days, if(retention_days <= 90, toYYYYMMDD(start_time), toYYYYMM(start_time) * 100))
ORDER BY (org_id, trace_id, start_time, span_id)
TTL toDateTime(greatest(start_time, ingested_at)) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000,
  index_granularity = 1024, index_granularity_bytes = 67108864, merge_max_block_size_bytes = 67108864,
  min_compress_block_size = 1048576, max_compress_block_size = 4194304;

CREATE TABLE IF NOT EXISTS span_payloads ON CLUSTER 'main' AS span_payloads_local
ENGINE = Distributed('main', 'assay', 'span_payloads_local', cityHash64(org_id, trace_id));

-- What was logged about a span beside it: OpenTelemetry log records that name
-- a trace. event_id is a digest of the record, so that sending it again adds
-- nothing.
CREATE TABLE IF NOT EXISTS span_events_local ON CLUSTER 'main' (
  org_id         UUID CODEC(ZSTD(1)),
  trace_id       FixedString(16) CODEC(ZSTD(1)),
  time           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  span_id        FixedString(8) CODEC(ZSTD(1)),
  event_id       FixedString(16) CODEC(ZSTD(1)),
  name           LowCardinality(String) CODEC(ZSTD(1)),
  severity       LowCardinality(String) CODEC(ZSTD(1)),
  body           String CODEC(ZSTD(3)),
  attributes     String CODEC(ZSTD(3)),
  retention_days UInt16 CODEC(ZSTD(1)),
  ingested_at    DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  version        UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/assay/span_events', '{replica}', version)
PARTITION BY (retention_days, toYYYYMM(time))
ORDER BY (org_id, trace_id, time, span_id, event_id)
TTL toDateTime(greatest(time, ingested_at)) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS span_events ON CLUSTER 'main' AS span_events_local
ENGINE = Distributed('main', 'assay', 'span_events_local', cityHash64(org_id, trace_id));

-- From when to when a trace's spans start, so that reading a trace needs no
-- time of the caller's. Only aggregates that give the same when a row arrives
-- twice are kept; everything else is read from the spans themselves.
CREATE TABLE IF NOT EXISTS traces_local ON CLUSTER 'main' (
  org_id         UUID CODEC(ZSTD(1)),
  trace_id       FixedString(16) CODEC(ZSTD(1)),
  month          Date CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  first_start    SimpleAggregateFunction(min, DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
  last_start     SimpleAggregateFunction(max, DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
  first_ingest   SimpleAggregateFunction(min, DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
  last_ingest    SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/assay/traces', '{replica}')
PARTITION BY (retention_days, toYYYYMM(month))
ORDER BY (org_id, trace_id, month)
TTL greatest(toDateTime(month + toIntervalMonth(1)), toDateTime(last_ingest)) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS traces ON CLUSTER 'main' AS traces_local
ENGINE = Distributed('main', 'assay', 'traces_local', cityHash64(org_id, trace_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS traces_from_spans_local ON CLUSTER 'main' TO traces_local AS
SELECT
  org_id, trace_id, toStartOfMonth(s.start_time) AS month, retention_days,
  min(s.start_time) AS first_start, max(s.start_time) AS last_start,
  min(s.ingested_at) AS first_ingest, max(s.ingested_at) AS last_ingest
FROM spans_local AS s
GROUP BY org_id, trace_id, month, retention_days;

-- Where in time an organization's traces are: a list reads this backwards.
CREATE TABLE IF NOT EXISTS trace_starts_local ON CLUSTER 'main' (
  org_id         UUID CODEC(ZSTD(1)),
  minute         DateTime('UTC') CODEC(Delta, ZSTD(1)),
  trace_id       FixedString(16) CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  first_start    SimpleAggregateFunction(min, DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
  last_ingest    SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/assay/trace_starts', '{replica}')
PARTITION BY (retention_days, if(retention_days <= 90, toYYYYMMDD(minute), toYYYYMM(minute) * 100))
ORDER BY (org_id, minute, trace_id)
TTL greatest(minute, toDateTime(last_ingest)) + toIntervalDay(retention_days)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS trace_starts ON CLUSTER 'main' AS trace_starts_local
ENGINE = Distributed('main', 'assay', 'trace_starts_local', cityHash64(org_id, trace_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_starts_from_spans_local ON CLUSTER 'main' TO trace_starts_local AS
SELECT org_id, toStartOfMinute(s.start_time) AS minute, trace_id, retention_days, min(s.start_time) AS first_start, max(s.ingested_at) AS last_ingest
FROM spans_local AS s
GROUP BY org_id, minute, trace_id, retention_days;
