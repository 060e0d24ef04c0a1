package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// argued are the doors between organizations that stand open for a reason. The
// key is the finding that each would be, with the whole condition of a policy:
// a door that is widened has to be argued again.
var argued = map[string]string{
	"api_keys: unique index api_keys_key_id_key has no org_id":                                                                                                                                          "the public part of a key finds its organization; it is random, so a collision tells nothing",
	"api_keys: policy presented lets r through if (key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text))":                                                                              "whoever presents a key may read that key's row, before its organization is known",
	"organizations: policy presented lets r through if (id IN ( SELECT k.org_id FROM api_keys k WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text))))":                      "whoever presents a key may read whether its organization is active",
	"members: policy presented lets r through if ((org_id, user_id) IN ( SELECT k.org_id, k.owner_id FROM api_keys k WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text))))": "whoever presents a personal key may read what its owner may do",
	"idempotency_keys: policy sweep lets d through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text)":                                                          "keys are forgotten by age in every organization at once",
	"idempotency_keys: policy sweep_find lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text)":                                                     "the sweeper finds what it deletes",
	"model_answers: policy sweep lets d through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'model_answers'::text)":                                                                "kept answers expire by age in every organization at once",
	"model_answers: policy sweep_find lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'model_answers'::text)":                                                           "the sweeper finds what it deletes",
	"evidence_keys: policy sweep lets d through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text)":                                                                "keys of evidence are forgotten with their records, in every organization at once",
	"evidence_keys: policy sweep_find lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text)":                                                           "the sweeper finds what it deletes",
	"evidence_leases: policy sweep lets d through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text)":                                                              "leases that were not given back are forgotten by age",
	"evidence_leases: policy sweep_find lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text)":                                                         "the sweeper finds what it deletes",
	"policy_actions: policy sweep lets d through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'policy_actions'::text)":                                                              "actions that no policy can ask about are forgotten by age in every organization at once",
	"policy_actions: policy sweep_find lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'policy_actions'::text)":                                                         "the sweeper finds what it deletes",
	"outbox: policy sweep lets * through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'outbox'::text)":                                                                              "the dispatcher serves every organization in order of time",
	"events: policy sweep lets r through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text)":                                                                              "a follower reads the events of every organization in one order",
	"followers: has no org_id":                            "a follower follows every organization; the table says where it is, and nothing of theirs",
	"followers: has no policy org":                        "see above",
	"followers: primary key followers_pkey has no org_id": "see above",
	"followers: policy sweep lets * through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text)": "whoever reads events moves the cursor",
	"key_peppers: has no org_id":                              "the pepper is that of the whole installation; the table says which it is, and nothing of anybody's",
	"key_peppers: has no policy org":                          "see above",
	"key_peppers: primary key key_peppers_pkey has no org_id": "see above",
	"key_peppers: policy sweep lets * through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'key_peppers'::text)": "whoever starts compares the pepper",
	"function keep_partitions is SECURITY DEFINER": "the runtime role owns no table; the function adds partitions of the two parents that it names",
	"function drop_events is SECURITY DEFINER":     "the same; it drops only what has ended and every follower has passed",
	"function rebase_events is SECURITY DEFINER":   "the same; it changes only the order in which events are read, after a restore",
	"data_keys: policy sweep lets * through if (NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'data_keys'::text)": "rotation of the master key walks over every organization's data key",
}

// checks are what the catalog must not show. Each returns findings as text;
// $1 stands for the runtime role. A table's organization is its org_id, and the id of
// organizations.
var checks = []string{
	// Every table has an organization, and row security that binds everyone.
	`SELECT relname || ': has no org_id' FROM tenant WHERE org_column IS NULL`,
	`SELECT relname || ': org_id may be null' FROM tenant JOIN pg_attribute a ON a.attrelid = oid AND a.attname = org_column WHERE NOT a.attnotnull`,
	`SELECT relname || ': row security is not enabled' FROM tenant WHERE NOT relrowsecurity`,
	`SELECT relname || ': row security is not forced' FROM tenant WHERE NOT relforcerowsecurity`,

	// Every table has the policy of the organization, whole.
	`SELECT relname || ': has no policy org' FROM tenant t WHERE NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = t.oid AND p.polname = 'org')`,
	`SELECT relname || ': policy org is not for every command and role' FROM tenant t JOIN pg_policy p ON p.polrelid = t.oid
	 WHERE p.polname = 'org' AND (p.polcmd <> '*' OR NOT p.polpermissive OR p.polroles <> '{0}')`,
	`SELECT relname || ': policy org does not say USING the organization' FROM tenant t JOIN pg_policy p ON p.polrelid = t.oid
	 WHERE p.polname = 'org' AND pg_get_expr(p.polqual, p.polrelid) IS DISTINCT FROM t.claim`,
	`SELECT relname || ': policy org does not say WITH CHECK the organization' FROM tenant t JOIN pg_policy p ON p.polrelid = t.oid
	 WHERE p.polname = 'org' AND pg_get_expr(p.polwithcheck, p.polrelid) IS DISTINCT FROM t.claim`,
	`SELECT relname || ': policy ' || p.polname || ' lets ' || p.polcmd::text || ' through if ' ||
	        regexp_replace(concat_ws(' and checks ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)), '\s+', ' ', 'g')
	 FROM tenant t JOIN pg_policy p ON p.polrelid = t.oid WHERE p.polname <> 'org' AND p.polpermissive`, // a restrictive policy only narrows

	// Constraints are checked without row security, so each must name the
	// organization itself.
	`SELECT t.relname || CASE WHEN i.indisprimary THEN ': primary key ' ELSE ': unique index ' END || c.relname || ' has no org_id'
	 FROM tenant t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
	 WHERE i.indisunique AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = ANY (i.indkey) AND a.attname = org_column)`,
	`SELECT t.relname || ': exclusion constraint ' || k.conname || ' has no org_id' FROM tenant t JOIN pg_constraint k ON k.conrelid = t.oid
	 WHERE k.contype = 'x' AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = ANY (k.conkey) AND a.attname = org_column)`,
	`SELECT t.relname || ': foreign key ' || k.conname || ' does not tie org_id to the organization of ' || f.relname
	 FROM tenant t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'f' JOIN tenant f ON f.oid = k.confrelid
	 WHERE NOT EXISTS (
	   SELECT 1 FROM unnest(k.conkey, k.confkey) AS pair (here, there)
	   JOIN pg_attribute h ON h.attrelid = t.oid AND h.attnum = pair.here AND h.attname = t.org_column
	   JOIN pg_attribute o ON o.attrelid = f.oid AND o.attnum = pair.there AND o.attname = f.org_column)`,

	// A partition is reached through its parent, whose row security binds.
	`SELECT relname || ': the runtime role reaches the partition past the row security of its parent' FROM pg_class
	 WHERE relnamespace = 'public'::regnamespace AND relispartition AND relkind IN ('r', 'p') AND NOT pg_has_role($1, relowner, 'MEMBER')
	   AND has_table_privilege($1, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')`,

	// Samples that PostgreSQL plans by outlive the rows they quote. Partitions too.
	`SELECT c.relname || ': samples of ' || a.attname || ' would outlive its organization' FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	 WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'goose_db_version%'
	   AND (c.relkind IN ('r', 'p') OR c.relkind = 'i' AND EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = c.oid AND i.indkey[a.attnum - 1] = 0))
	   AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget <> 0 AND format_type(a.atttypid, NULL) IN ('text', 'text[]', 'jsonb', 'bytea')
	   AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.conkey = ARRAY[a.attnum] AND k.contype = 'c'
	                   AND pg_get_constraintdef(k.oid) ~ '= ANY \(|octet_length\(\w+\) = ')`,

	// Code and views that run with another's rights.
	`SELECT 'function ' || proname || ' is SECURITY DEFINER' FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
	`SELECT 'view ' || relname || ' is not security_invoker' FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
	 AND NOT coalesce(reloptions && '{security_invoker=true,security_invoker=on,security_invoker=1}', false)`,
	`SELECT 'materialized view ' || relname || ' holds rows without row security' FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'm'`,
	`SELECT 'foreign table ' || relname || ' has no row security' FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'f'`,

	// The runtime role.
	`SELECT 'role ' || rolname || ' is a superuser' FROM pg_roles WHERE rolname = $1 AND rolsuper`,
	`SELECT 'role ' || rolname || ' bypasses row security' FROM pg_roles WHERE rolname = $1 AND rolbypassrls`,
	`SELECT 'role ' || $1 || ' owns ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND pg_has_role($1, relowner, 'MEMBER')`,
	`SELECT 'role ' || $1 || ' may truncate ' || relname || ', which row security does not bind' FROM tenant WHERE NOT pg_has_role($1, relowner, 'MEMBER') AND has_table_privilege($1, oid, 'TRUNCATE')`,
}

// tenant is every table of ours, all but the migration engine's and partitions,
// with the condition of its policy as PostgreSQL prints it.
const tenant = `
	CREATE TEMPORARY VIEW tenant AS
	SELECT *, format('(%s = (NULLIF(current_setting(''app.org''::text, true), ''''::text))::uuid)', org_column) AS claim
	FROM (
	  SELECT c.oid, c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity,
	         (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped
	          AND a.attname = CASE c.relname WHEN 'organizations' THEN 'id' ELSE 'org_id' END) AS org_column
	  FROM pg_class c
	  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'goose_db_version%'
	) tables`

// catalog returns every way in which the schema would let an organization see
// or touch another's rows, under the given runtime role.
func catalog(t testing.TB, conn *pgx.Conn, role string) []string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), tenant)
	require.NoError(t, err)
	var found []string
	for _, check := range checks {
		rows, err := tx.Query(t.Context(), strings.ReplaceAll(check, "$1", "'"+role+"'::name"))
		require.NoError(t, err)
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, check)
		found = append(found, list...)
	}
	return found
}

// unargued leaves out what is argued above.
func unargued(found []string) []string {
	return slices.DeleteFunc(slices.Clone(found), func(f string) bool { return argued[f] != "" })
}

func TestCatalogKeepsOrganizationsApart(t *testing.T) {
	t.Parallel()
	found := catalog(t, owner(t, postgrestest.New(t)), "assay_app")

	require.Empty(t, unargued(found))
	for door := range argued {
		require.Contains(t, found, door, "the argument has outlived its door")
	}
}

// TestCatalogBites makes each mistake in a database of its own.
func TestCatalogBites(t *testing.T) {
	t.Parallel()
	const (
		org    = "(org_id = nullif(current_setting('app.org', true), '')::uuid)"
		secure = "ALTER TABLE careless ENABLE ROW LEVEL SECURITY; ALTER TABLE careless FORCE ROW LEVEL SECURITY;"
		policy = "CREATE POLICY org ON careless USING " + org + " WITH CHECK " + org + ";"
		table  = "CREATE TABLE careless (org_id uuid NOT NULL REFERENCES organizations (id), id bigint, dataset_id bigint, PRIMARY KEY (org_id, id));"
	)
	mistakes := []struct{ name, sql, finding string }{
		{"no mistake", table + secure + policy, ""},
		{"no mistake, in one call", table + "SELECT tenant_table('careless')", ""},
		{"no organization", "CREATE TABLE careless (id bigint);" + secure, "careless: has no org_id"},
		{"an organization that may be absent", "CREATE TABLE careless (org_id uuid);" + secure + policy, "careless: org_id may be null"},
		{"row security not enabled", table + "ALTER TABLE careless FORCE ROW LEVEL SECURITY;" + policy, "careless: row security is not enabled"},
		{"row security not forced", table + "ALTER TABLE careless ENABLE ROW LEVEL SECURITY;" + policy, "careless: row security is not forced"},
		{"no policy", table + secure, "careless: has no policy org"},
		{"a policy for one command", table + secure + "CREATE POLICY org ON careless FOR SELECT USING " + org, "careless: policy org is not for every command and role"},
		{"a policy for one role", table + secure + "CREATE POLICY org ON careless TO assay_app USING " + org + " WITH CHECK " + org, "careless: policy org is not for every command and role"},
		{"a policy that lets everything be read", table + secure + "CREATE POLICY org ON careless USING (true) WITH CHECK " + org, "careless: policy org does not say USING the organization"},
		{"a policy that lets everything be written", table + secure + "CREATE POLICY org ON careless USING " + org + " WITH CHECK (true)", "careless: policy org does not say WITH CHECK the organization"},
		{"a policy without a check", table + secure + "CREATE POLICY org ON careless USING " + org, "careless: policy org does not say WITH CHECK the organization"},
		{"a policy on another setting", table + secure + strings.ReplaceAll(policy, "app.org", "app.tenant"), "careless: policy org does not say USING the organization"},
		{"a second policy", table + secure + policy + "CREATE POLICY peek ON careless FOR SELECT USING (true)", "careless: policy peek lets r through if true"},
		{"a primary key over all organizations", strings.Replace(table, "(org_id, id)", "(id)", 1) + secure + policy, "careless: primary key careless_pkey has no org_id"},
		{"a unique index over all organizations", table + secure + policy + "CREATE UNIQUE INDEX taken ON careless (dataset_id) WHERE id > 0", "careless: unique index taken has no org_id"},
		{"an exclusion over all organizations", table + secure + policy + "ALTER TABLE careless ADD CONSTRAINT apart EXCLUDE USING btree (dataset_id WITH =)", "careless: exclusion constraint apart has no org_id"},
		{"a foreign key without the organization", table + secure + policy + "ALTER TABLE api_keys ADD UNIQUE (id); ALTER TABLE careless ADD FOREIGN KEY (dataset_id) REFERENCES api_keys (id)", "careless: foreign key careless_dataset_id_fkey does not tie org_id to the organization of api_keys"},
		{"a partition that the runtime role reads", "CREATE TABLE events_careless PARTITION OF events FOR VALUES FROM ('1999-01-01') TO ('1999-02-01')", "events_careless: the runtime role reaches the partition past the row security of its parent"},
		{"a text that is sampled", strings.Replace(table, "dataset_id bigint", "dataset_id bigint, note text", 1) + secure + policy, "careless: samples of note would outlive its organization"},
		{"a text of which an index is sampled", "CREATE INDEX shouted ON datasets (org_id, upper(name))", "shouted: samples of upper would outlive its organization"},
		{"a function with its owner's rights", "CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM datasets'", "function peek is SECURITY DEFINER"},
		{"a view with its owner's rights", "CREATE VIEW peek AS SELECT * FROM datasets", "view peek is not security_invoker"},
		{"a materialized view", "CREATE MATERIALIZED VIEW peek AS SELECT * FROM datasets", "materialized view peek holds rows without row security"},
		{"a runtime role that may truncate", "GRANT TRUNCATE ON datasets TO assay_app", "role assay_app may truncate datasets, which row security does not bind"},
		{"an existing table whose security is lifted", "ALTER TABLE datasets NO FORCE ROW LEVEL SECURITY", "datasets: row security is not forced"},
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := postgrestest.New(t)
			asOwner(t, cfg, m.sql)

			found := unargued(catalog(t, owner(t, cfg), "assay_app"))

			if m.finding == "" {
				require.Empty(t, found)
				return
			}
			require.Contains(t, found, m.finding)
		})
	}

	t.Run("a runtime role with rights of its own", func(t *testing.T) {
		t.Parallel()
		conn := owner(t, postgrestest.New(t))
		var super string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT rolname FROM pg_roles WHERE rolsuper AND rolbypassrls LIMIT 1").Scan(&super))

		require.Contains(t, catalog(t, conn, "assay_owner"), "role assay_owner owns datasets")
		found := catalog(t, conn, super)
		require.Contains(t, found, "role "+super+" is a superuser")
		require.Contains(t, found, "role "+super+" bypasses row security")
	})
}
