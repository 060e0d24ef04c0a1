package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// The records of a fill are numbered from 0, the oldest, and have their number plus one
// as id. What a record is follows from its number, so that it is known which ones a page has. The
// shares are those of the whole at every size, but for the oldest records, which are as
// many at every size.
const (
	oldest  = 120
	retired = "retired-agent" // runtime of the oldest alone
)

// failed reports whether a record is one of agent-3 that failed.
func failed(n int) bool { return n >= oldest && n%20 == 3 && n/20%8 == 3 }

// administers reports whether a record is of the class administer.
func administers(n int) bool { return n >= oldest && n%100 == 7 }

// old reports whether a record is one of the oldest. They are of the class delete, and
// all of them failed.
func old(n int) bool { return n < oldest }

// fillTraces gives every five records a trace with a number.
func (w *world) fillTraces(t testing.TB) {
	t.Helper()
	w.exec(t, `INSERT INTO trace_refs (org_id, trace_id, stub, created_at)
		SELECT $1, decode(md5(n::text), 'hex'), true, now() FROM generate_series(0, $2::int) n`, w.client.Org, w.records/5)
	w.exec(t, "VACUUM ANALYZE trace_refs")
}

// agents is how many runtimes the records are of, besides the retired one.
const agents = 8

// fillRuntimes makes the runtimes. Their ids come after those of the records, and no id
// that is given later is one of these.
func (w *world) fillRuntimes(t testing.TB) {
	t.Helper()
	w.exec(t, `INSERT INTO evidence_records (org_id, kind, id, name, origin, actor, state, body, occurred_at, created_at, updated_at)
		SELECT $1, 'runtimes', $2::int + 1 + n, key, 'ingested', 'system', 'active', json_build_object('runtime_key', key, 'state', 'active'), now(), now(), now()
		FROM (SELECT n, CASE WHEN n = $3::int THEN $4::text ELSE 'agent-' || n END AS key FROM generate_series(0, $3) n) AS r`, w.client.Org, w.records, agents, retired)
	w.exec(t, "SELECT setval('evidence_ids', $1::int + 1 + $2::int)", w.records, agents)
}

// fillState makes side effects.
func (w *world) fillState(t testing.TB) {
	t.Helper()
	restore := w.dropIndexes(t)
	w.exec(t, `INSERT INTO evidence_records (org_id, kind, id, origin, actor, state, runtime_id, runtime_key, connector_id, connector_key, trace_id, raw_event_id, invocation_id,
			side_effect_class, body, occurred_at, created_at, updated_at)
		SELECT $1, 'side-effect-ledger', n + 1, 'ingested', 'system', state, $2 + 1 + agent, runtime, 9, 'billing', decode(md5((n / 5)::text), 'hex'), n + 1, 'call_' || md5('call' || n),
			class, format('{"operation":"refund","side_effect_class":"%s","target":{"system":"billing","type":"order","id":"O-%s"},"effect_key":"%s","reversibility":"compensable",'
				|| '"amount":{"value":"%s.90","currency":"EUR"},"invocation_id":"call_%s","before_digest":"sha256:%s%s","state":"%s","conversation_id":"conversation-%s",'
				|| '"span_id":"%s","attributes":{"note":"The parcel came back on day %s; %s"}}',
				class, n, md5('effect' || n), n % 997, md5('call' || n), md5('a' || n), md5('b' || n), state, n / 5, left(md5('span' || n), 16), n % 30, 'the customer asked to be paid back.')::json,
			at, at, at
		FROM (SELECT n, CASE WHEN n < $3 THEN $5::int ELSE n / 20 % $5 END AS agent, CASE WHEN n < $3::int THEN $4::text ELSE 'agent-' || n / 20 % $5 END AS runtime,
			CASE WHEN n < $3 OR n % 20 = 3 THEN 'failed' ELSE 'acknowledged' END AS state,
			CASE WHEN n < $3 THEN 'delete' WHEN n % 100 = 7 THEN 'administer' WHEN n % 10 < 6 THEN 'read' WHEN n % 10 < 8 THEN 'update' ELSE 'create' END AS class,
			now() - interval '90 days' * (($2::int - n) / $2::float8) AS at
			FROM generate_series(0, $2 - 1) n) AS r`, w.client.Org, w.records, oldest, retired, agents)
	w.fillRuntimes(t)
	restore()
	w.exec(t, "VACUUM ANALYZE evidence_records")
}

// dropIndexes takes the indexes from the table of records and returns what makes the
// same ones again: making them once takes far less time than keeping them up to date.
func (w *world) dropIndexes(t testing.TB) (restore func()) {
	t.Helper()
	rows, err := w.owner.Query(t.Context(), `SELECT i.indexname, i.indexdef, coalesce(pg_get_constraintdef(c.oid), '') AS constraintdef
		FROM pg_indexes i LEFT JOIN pg_constraint c ON c.conname = i.indexname AND c.conrelid = 'evidence_records'::regclass
		WHERE i.schemaname = 'public' AND i.tablename = 'evidence_records'`)
	require.NoError(t, err)
	type index struct{ Name, Definition, Constraint string }
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	require.NoError(t, err)
	require.NotEmpty(t, all)
	var again []string
	for _, i := range all {
		if i.Constraint != "" {
			w.exec(t, "ALTER TABLE evidence_records DROP CONSTRAINT "+i.Name)
			again = append(again, "ALTER TABLE evidence_records ADD CONSTRAINT "+i.Name+" "+i.Constraint)
			continue
		}
		w.exec(t, "DROP INDEX "+i.Name)
		again = append(again, strings.Replace(i.Definition, " ON ONLY ", " ON ", 1))
	}
	return func() {
		w.exec(t, "SET maintenance_work_mem = '512MB'")
		for _, statement := range again {
			w.exec(t, statement)
		}
	}
}

// recentParts is how many parts the newest records lie in, which are not merged yet.
const recentParts = 5

// fillStream makes calls of tools. All but the newest are merged, as they are in an
// installation that runs.
func (w *world) fillStream(t testing.TB) {
	t.Helper()
	recent := w.records / 1000 / recentParts * recentParts
	w.streamRecords(t, 0, w.records-recent)
	w.stream(t, "OPTIMIZE TABLE evidence FINAL")
	w.stream(t, "SYSTEM STOP MERGES evidence")
	for from, each := w.records-recent, recent/recentParts; from < w.records; from += each {
		w.streamRecords(t, from, each)
	}
}

// streamRecords makes the calls of tools with some numbers.
func (w *world) streamRecords(t testing.TB, from, n int) {
	t.Helper()
	w.stream(t, fmt.Sprintf(`INSERT INTO evidence (org_id, kind, id, replaces, key, version, origin, actor, state, runtime_id, runtime_key, connector_id, connector_key, trace_id,
			raw_event_id, invocation_id, side_effect_class, occurred_at, created_at, updated_at, body, retention_days)
		WITH number < %[5]d AS early, now64(3, 'UTC') - toIntervalMillisecond(toInt64(90 * 86400000 * ((%[4]d - number) / %[4]d))) AS at,
			multiIf(early OR number %% 20 = 3, 'failed', 'succeeded') AS status,
			multiIf(early, 'delete', number %% 100 = 7, 'administer', number %% 10 < 6, 'read', number %% 10 < 8, 'update', 'create') AS class,
			lower(hex(MD5('call' || toString(number)))) AS call, toString(number) AS text
		SELECT '%[1]s', 'tool-invocation-evidence', number + 1, bitOr(bitShiftLeft(toUInt64(1), 63), bitShiftLeft(toUInt64(toUnixTimestamp64Micro(at)), 8) + 1), MD5('key' || text), 1, 'ingested', 'system',
			status, %[4]d + 1 + if(early, %[7]d, intDiv(number, 20) %% %[7]d), if(early, '%[6]s', 'agent-' || toString(intDiv(number, 20) %% %[7]d)), 9, 'billing', MD5(toString(intDiv(number, 5))),
			number + 1, 'call_' || call, class, at, at, at,
			concat('{"annotations":{"destructive":false,"idempotent":true,"open_world":true,"read_only":false},"arguments":{"amount":{"currency":"EUR","value":"', toString(number %% 997), '.90"},"order_id":"O-', text,
				'","reason":"The parcel came back on day ', toString(number %% 30), ' and the customer asked to be paid back."},"attempt":1,"conversation_id":"conversation-', toString(intDiv(number, 5)),
				'","ended_at":"2026-01-31T12:00:00.', toString(100 + number %% 900), 'Z","invocation_id":"call_', call, '","is_error":', if(status = 'failed', 'true', 'false'),
				',"latency_ms":', toString(number %% 900), ',"protocol":{"method":"tools/call","name":"mcp","version":"2025-11-25"},"result":{"content":[{"text":"Refund R-', substring(call, 1, 12),
				' of order O-', text, ' is on its way to the account that paid.","type":"text"}]},"side_effect_class":"', class, '","span_id":"', substring(call, 1, 16),
				'","started_at":"2026-01-31T12:00:00Z","status":"', status, '","tool_name":"refund_order","tool_type":"mcp"}'), 400
		FROM numbers(%[2]d, %[3]d)`, w.client.Org, from, n, w.records, oldest, retired, agents))
}
