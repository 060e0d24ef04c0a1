-- +goose Up

-- Row-level security of a table of organizations: enabled, forced on the owner
-- too, with the policy that shows each organization its own rows. The migration
-- of a new table is CREATE TABLE and SELECT tenant_table('its_name').
-- +goose StatementBegin
CREATE FUNCTION tenant_table(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
  EXECUTE format($p$CREATE POLICY org ON %s
    USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
    WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid)$p$, t);
END
$$;
-- +goose StatementEnd
