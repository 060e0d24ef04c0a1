-- +goose Up

-- PostgreSQL keeps samples of every column to plan by: frequent values, and some
-- of the others. They outlive the rows they were taken from, in a table that even
-- its owner cannot delete from, so an address or a name would survive the erasure
-- of its organization. Columns that callers fill have no samples; those with a
-- closed list of values, and digests of a fixed size, keep theirs. Every query
-- finds rows by keys, which need none.
-- +goose StatementBegin
CREATE FUNCTION take_no_samples(t regclass) RETURNS void LANGUAGE plpgsql SET search_path TO 'public', 'pg_temp' AS $$
DECLARE c record;
BEGIN
  FOR c IN
    SELECT i.oid::regclass AS relation, i.relkind, a.attname, a.attnum
    FROM pg_class i JOIN pg_attribute a ON a.attrelid = i.oid
    WHERE (i.oid = t OR i.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = t AND indexprs IS NOT NULL))
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget <> 0 AND a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'bytea'::regtype)
      AND (i.oid = t OR (SELECT indkey[a.attnum - 1] = 0 FROM pg_index WHERE indexrelid = i.oid))
      AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = i.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
                      AND pg_get_constraintdef(k.oid) ~ '= ANY \(|octet_length\(\w+\) = ')
  LOOP
    IF c.relkind IN ('i', 'I') THEN
      EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', c.relation, c.attnum);
    ELSE
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', c.relation, c.attname);
    END IF;
  END LOOP;
END
$$;

-- The migration of a new table calls it by tenant_table, as before.
CREATE OR REPLACE FUNCTION tenant_table(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
  EXECUTE format($p$CREATE POLICY org ON %s
    USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
    WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid)$p$, t);
  PERFORM take_no_samples(t);
END
$$;

-- A partition does not inherit what its parent samples.
CREATE OR REPLACE FUNCTION add_partition(parent regclass, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
  SET search_path TO 'public', 'pg_temp' SET timezone TO 'UTC' AS $$
DECLARE
  unit  text        := partition_unit(parent);
  first timestamptz := date_trunc(unit, moment);
  past  timestamptz := first + ('1 ' || unit)::interval;
  name  text        := parent::text || '_' || to_char(first, 'YYYYMMDD');
BEGIN
  IF to_regclass(name) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, parent);
  EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, assay_app', name);
  PERFORM take_no_samples(name::regclass);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= $1 AND at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved', parent::text || '_default', name)
    USING first, past;
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, first, past);
  RETURN true;
END
$$;

DO $$
DECLARE t regclass;
BEGIN
  FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname NOT LIKE 'goose_db_version%' LOOP
    PERFORM take_no_samples(t);
  END LOOP;
END
$$;
-- +goose StatementEnd
-- fixture: SELECT take_no_samples('datasets');
