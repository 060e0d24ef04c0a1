-- +goose Up

-- Lists skip the records that do not have what they select. What has few values is in
-- sets, and ids are in filters. Runtimes are looked for by their ids.
ALTER TABLE evidence_local 
  ADD INDEX IF NOT EXISTS by_created created_at TYPE minmax GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_state state TYPE set(32) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_class side_effect_class TYPE set(32) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_primitive primitive_type TYPE set(32) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_runtime_id runtime_id TYPE bloom_filter(0.01) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_connector_id connector_id TYPE bloom_filter(0.01) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_step step_id TYPE bloom_filter(0.01) GRANULARITY 4,
  ADD INDEX IF NOT EXISTS by_decision decision_id TYPE bloom_filter(0.01) GRANULARITY 4,
  DROP INDEX IF EXISTS by_runtime;

-- Records that are there already get them in the background.
ALTER TABLE evidence_local 
  MATERIALIZE INDEX by_created,
  MATERIALIZE INDEX by_state,
  MATERIALIZE INDEX by_class,
  MATERIALIZE INDEX by_primitive,
  MATERIALIZE INDEX by_runtime_id,
  MATERIALIZE INDEX by_connector_id,
  MATERIALIZE INDEX by_step,
  MATERIALIZE INDEX by_decision;
