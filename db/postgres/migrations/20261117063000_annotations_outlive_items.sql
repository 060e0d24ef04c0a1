-- +goose Up

-- What people submitted stays readable when the items of a deleted task are removed.
ALTER TABLE annotations DROP CONSTRAINT annotations_org_id_item_id_fkey;
-- fixture: INSERT INTO annotations (org_id, task_id, item_id, person, asserted, status, answer, open, nonce, created_at, updated_at) SELECT org_id, id, 1000000, '00000000-0000-0000-0000-000000000001', false, 'submitted', '{}', true, gen_random_uuid(), now(), now() FROM annotation_tasks;
