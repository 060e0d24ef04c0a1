package queue_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

// connections that send at once; each may hold a connection of the pool.
const connections = 4

// world is an application whose queues are filled by SQL.
type world struct {
	kit   *testkit.Kit
	owner *pgx.Conn
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{kit: testkit.Own(t, "a bench measures it")}
	var err error
	w.owner, err = pgx.Connect(t.Context(), w.kit.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.owner.Close(context.WithoutCancel(t.Context())) })
	for _, table := range []string{"adjudication_items", "adjudication_contents", "adjudication_decisions", "annotation_items", "annotation_tasks", "api_keys"} {
		w.exec(t, "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY, SET (autovacuum_enabled = false)")
	}
	return w
}

func (w *world) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := w.owner.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

// settle gives PostgreSQL its statistics.
func (w *world) settle(t testing.TB) {
	t.Helper()
	w.exec(t, "VACUUM ANALYZE adjudication_items, adjudication_contents, adjudication_decisions, annotation_items")
}

// adjudication gives an organization items of the queue; every fifth is decided.
func (w *world) adjudication(t testing.TB, org principal.OrgID, items int) {
	t.Helper()
	w.exec(t, `INSERT INTO adjudication_items (org_id, source, status, priority, disagreement, rank_at, subject, subject_key, trace_id, title, question, context, candidates, content_digest, tags, notes,
			created_by, created_at, updated_at)
		SELECT $1, 'low_confidence', CASE WHEN n % 5 = 0 THEN 'decided' ELSE 'open' END, 'normal', (n % 100) / 100.0, now() - n * interval '1 second', json_build_object('trace', md5(n::text)),
			'trace ' || n, md5(n::text), 'Answer about order ' || n, 'Does the answer follow the policy?', '{"reasons":["The judge was 55 % sure."]}',
			'[{"origin":"judge:correctness","label":"fail","score":0.4,"rationale":"The answer leaves out the deadline."},{"origin":"judge:tone","label":"pass","score":0.9,"rationale":"Friendly."}]',
			sha256(n::text::bytea), '{support}', '', 'service_key/' || (SELECT min(id) FROM api_keys WHERE org_id = $1), now(), now()
		FROM generate_series(1, $2::int) n`, org, items)
	w.exec(t, `INSERT INTO adjudication_contents (org_id, item_id, content)
		SELECT org_id, id, json_build_object('input', 'How do I return order ' || id || '?', 'output', repeat('Send it back within 30 days; the label is in the parcel. ', 10)) FROM adjudication_items WHERE org_id = $1`, org)
	w.exec(t, `INSERT INTO adjudication_decisions (org_id, item_id, decision, rationale, decided_by, decider_id, independent, override, separation, created_at)
		SELECT org_id, id, 'pass', 'The policy says 30 days.', 'user/' || gen_random_uuid(), gen_random_uuid(), true, false, 'requester', now() FROM adjudication_items WHERE org_id = $1 AND status = 'decided'`, org)
}

// queued gives a task so many items that wait, of which each needs two people.
func (w *world) queued(t testing.TB, org principal.OrgID, task int64, items int) {
	t.Helper()
	w.exec(t, `INSERT INTO annotation_items (org_id, task_id, status, content, bytes, required, created_at, updated_at)
		SELECT $1, $2, 'pending', json_build_object('question', 'How do I return order ' || n || '?'), 48, 2, now(), now() FROM generate_series(1, $3::int) n`, org, task, items)
	w.exec(t, "UPDATE annotation_tasks SET total_items = total_items + $3 WHERE org_id = $1 AND id = $2", org, task, items)
}

// ids are those of an organization's items, in the order of the queue.
func (w *world) ids(t testing.TB, org principal.OrgID, where string, limit int) []int64 {
	t.Helper()
	rows, err := w.owner.Query(t.Context(), fmt.Sprintf("SELECT id FROM adjudication_items WHERE org_id = $1 AND %s ORDER BY rank_at, id LIMIT %d", where, limit), org)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return ids
}

// task makes a task with so many items that wait.
func (w *world) task(t testing.TB, c *testkit.Client, items int) int64 {
	t.Helper()
	id := c.AnnotationTask(t, 0, map[string]any{"type": "rating", "annotatorsPerItem": 2}).ID
	w.queued(t, c.Org, id, items)
	return id
}

// actors are the variables of the statement that names who opened the items.
func (w *world) actors(t testing.TB, c *testkit.Client) map[string]string {
	t.Helper()
	var key string
	require.NoError(t, w.owner.QueryRow(t.Context(), "SELECT min(id)::text FROM api_keys WHERE org_id = $1", c.Org).Scan(&key))
	return map[string]string{"org_id": c.Org.String(), "users": "{}", "keys": "{" + key + "}"}
}

// load sends requests to the application as a client.
func (w *world) load(t testing.TB, c *testkit.Client, paths ...string) bench.Load {
	t.Helper()
	l := bench.Load{Now: time.Now}
	for range connections {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.kit.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		l.Conns = append(l.Conns, bench.NewConn(conn))
	}
	for _, p := range paths {
		l.Requests = append(l.Requests, bench.Get(p, c.Key.Reveal()))
	}
	return l
}
