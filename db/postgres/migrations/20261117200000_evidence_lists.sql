-- +goose Up

-- Every list parameter finds its records in the order of their ids. Two that are often
-- asked for together, a runtime and what became of its actions, have indexes of their
-- own.
CREATE INDEX evidence_records_class ON evidence_records (org_id, kind, side_effect_class, id) WHERE side_effect_class IS NOT NULL;
CREATE INDEX evidence_records_mode ON evidence_records (org_id, kind, failure_mode, id) WHERE failure_mode IS NOT NULL;
CREATE INDEX evidence_records_failure ON evidence_records (org_id, kind, failure_key, id) WHERE kind = 'quality-cases' AND failure_key IS NOT NULL;
CREATE INDEX evidence_records_step ON evidence_records (org_id, kind, step_id, id) WHERE step_id IS NOT NULL;
CREATE INDEX evidence_records_effect ON evidence_records (org_id, kind, effect_id, id) WHERE effect_id IS NOT NULL;
CREATE INDEX evidence_records_explanation ON evidence_records (org_id, kind, explanation_id, id) WHERE explanation_id IS NOT NULL;
CREATE INDEX evidence_records_runtime_state ON evidence_records (org_id, kind, runtime_id, state, id) WHERE runtime_id IS NOT NULL AND state IS NOT NULL;
CREATE INDEX evidence_records_runtime_decision ON evidence_records (org_id, kind, runtime_id, decision, id) WHERE runtime_id IS NOT NULL AND decision IS NOT NULL;
-- fixture: SELECT 1;
