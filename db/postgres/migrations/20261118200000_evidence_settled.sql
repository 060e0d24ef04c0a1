-- +goose Up
-- Whoever dispatches a side effect settles which decision it uses and what class it has, and
-- lists must find it by both. The name of an effect that did not happen passes to the next one.
GRANT UPDATE (decision_id, side_effect_class) ON evidence_records TO assay_app;
GRANT UPDATE (id) ON evidence_keys TO assay_app;

ALTER TABLE evidence_records NO FORCE ROW LEVEL SECURITY;
ALTER TABLE evidence_history NO FORCE ROW LEVEL SECURITY;

-- PostgreSQL reads no value out of JSON with the character U+0000. What follows an odd number
-- of backslashes is an escape.
UPDATE evidence_records SET body = regexp_replace(body::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json WHERE body::text LIKE '%\\u0000%';
UPDATE evidence_history SET body = regexp_replace(body::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json WHERE body::text LIKE '%\\u0000%';

UPDATE evidence_records SET decision_id = (body ->> 'policy_decision_id')::bigint, side_effect_class = body ->> 'side_effect_class'
WHERE kind = 'side-effect-ledger'
  AND (decision_id IS DISTINCT FROM (body ->> 'policy_decision_id')::bigint OR side_effect_class IS DISTINCT FROM body ->> 'side_effect_class');

ALTER TABLE evidence_records FORCE ROW LEVEL SECURITY;
ALTER TABLE evidence_history FORCE ROW LEVEL SECURITY;
-- fixture: UPDATE evidence_records SET side_effect_class = 'transact' WHERE kind = 'side-effect-ledger';
