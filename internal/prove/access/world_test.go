package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/testkit"
)

// marker is in every name that the victim gives: no answer to anybody else may
// show it.
const marker = "victim's own"

// world is an application with organizations that do not trust each other.
type world struct {
	kit   *testkit.Kit
	owner *pgx.Conn // of the tables; sees the organization that look names

	home   *testkit.Client // whose keys call
	victim *testkit.Client // whose objects nobody else may touch

	// Objects by kind. The victim has several of each in a row, so that the
	// numbers beside one of them are the victim's too.
	own, theirs map[string][]string
}

func newWorld(t testing.TB, edit func(*app.Config)) *world {
	t.Helper()
	w := &world{kit: boot(t, edit)}
	conn, err := pgx.Connect(t.Context(), w.kit.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	w.owner = conn
	w.separate(t)
	w.home, w.victim = w.kit.Org(t), w.kit.Org(t)
	w.own = w.seed(t, w.home, "ours")
	w.theirs = w.seed(t, w.victim, marker)
	w.fill(t)
	return w
}

// boot starts an application that can keep provider keys.
func boot(t testing.TB, edit func(*app.Config)) *testkit.Kit {
	t.Helper()
	cfg := testkit.Config(t)
	master, err := secret.NewMasterKey()
	require.NoError(t, err)
	cfg.Secret.MasterKey = master
	if edit != nil {
		edit(&cfg)
	}
	return replica(t, cfg, &testkit.Clock{})
}

// replica starts one more application on the same databases.
func replica(t testing.TB, cfg app.Config, clock *testkit.Clock) *testkit.Kit {
	t.Helper()
	a, err := app.New(context.WithoutCancel(t.Context()), cfg, "test", clock.Now)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	srv := httptest.NewServer(a.Edge)
	t.Cleanup(srv.Close)
	return &testkit.Kit{App: a, Clock: clock, URL: srv.URL}
}

// separate lets every table count from a number of its own, so that no number
// names two objects of different kinds.
func (w *world) separate(t testing.TB) {
	t.Helper()
	rows, err := w.owner.Query(t.Context(), `
		SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND is_identity = 'YES' ORDER BY table_name`)
	require.NoError(t, err)
	type column struct{ Table, Column string }
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	require.NoError(t, err)
	require.NotEmpty(t, columns)
	for i, c := range columns {
		_, err := w.owner.Exec(t.Context(), fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s RESTART WITH %d", c.Table, c.Column, (i+1)*1_000_000))
		require.NoError(t, err)
	}
}

// perKind is how many objects of each kind an organization has. The middle one
// has neighbours on both sides.
const perKind = 3

// seed makes objects of every kind, those of one kind in a row.
func (w *world) seed(t testing.TB, c *testkit.Client, label string) map[string][]string {
	t.Helper()
	ctx := t.Context()
	out := map[string][]string{}
	for i := range perKind {
		out["dataset"] = append(out["dataset"], c.Dataset(t, testkit.Dataset{Name: fmt.Sprintf("%s %d", label, i)}).ID)
	}
	// Versions are counted in each dataset; no two datasets count from the same
	// number.
	w.look(t, c)
	_, err := w.owner.Exec(ctx, "UPDATE datasets SET latest_version = 500000000 + id WHERE org_id = $1", c.Org.String())
	require.NoError(t, err)
	var items []testkit.Item
	for i := range perKind {
		items = append(items, testkit.Item{Input: fmt.Sprintf("%s %d", label, i)})
	}
	added, err := c.AddItems(ctx, middle(out["dataset"]), items)
	require.NoError(t, err)
	for i := range perKind {
		out["item"] = append(out["item"], added.Items[i].ID)
	}
	for range perKind {
		v, err := c.Freeze(ctx, middle(out["dataset"]), label)
		require.NoError(t, err)
		out["dataset version"] = append(out["dataset version"], v.ID)
	}
	for i := range perKind {
		k, err := c.CreateKey(ctx, testkit.NewKey{Name: fmt.Sprintf("%s %d", label, i), Scopes: allScopes})
		require.NoError(t, err)
		out["api key"] = append(out["api key"], strconv.FormatInt(k.ID, 10))
	}
	for i := range perKind {
		mine := testkit.NewKey{Name: fmt.Sprintf("%s, personal %d", label, i), Scopes: allScopes, Personal: true}
		k, err := c.CreateKey(ctx, mine, testkit.OnBehalfOf(c.Owner.String()))
		require.NoError(t, err)
		out["personal key"] = append(out["personal key"], strconv.FormatInt(k.ID, 10))
	}
	for i := range perKind {
		var made struct {
			ID int64 `json:"id"`
		}
		_, err := c.Call(ctx, "POST", "/api/developer/provider-keys", map[string]any{
			"provider": "openai", "name": fmt.Sprintf("%s %d", label, i), "secret": fmt.Sprintf("sk-seeded-%d-0123456789", i),
		}, &made)
		require.NoError(t, err)
		out["provider key"] = append(out["provider key"], strconv.FormatInt(made.ID, 10))
	}
	for i := range perKind {
		// A trace is named by its number: an id of 32 digits that nothing is known
		// of may be anybody's next trace.
		name := fmt.Sprintf("%s %d", label, i)
		var made struct {
			Ref int64 `json:"trace_ref"`
		}
		_, err := c.Call(ctx, "POST", "/api/traces", map[string]any{"name": name, "conversationId": name, "releaseId": name, "input": name, "output": name}, &made)
		require.NoError(t, err)
		out["trace"] = append(out["trace"], strconv.FormatInt(made.Ref, 10))
		out["conversation"] = append(out["conversation"], url.PathEscape(name))
		_, err = c.Call(ctx, "POST", "/api/traces/"+out["trace"][i]+"/feedback", map[string]any{"type": "comment", "comment": name}, nil)
		require.NoError(t, err)
	}
	for i := range perKind {
		out["evaluation"] = append(out["evaluation"], c.Evaluation(t, middle(out["dataset"]), map[string]any{"name": fmt.Sprintf("%s %d", label, i)}).ID)
	}
	for range perKind {
		r, err := c.StartRun(ctx, middle(out["evaluation"]), nil)
		require.NoError(t, err)
		out["run"] = append(out["run"], r.RunID)
	}
	_, err = c.CancelRun(ctx, middle(out["evaluation"]), middle(out["run"])) // one that has ended can be compared
	require.NoError(t, err)
	w.look(t, c)
	for i := range perKind {
		var id int64
		require.NoError(t, w.owner.QueryRow(ctx, `
			INSERT INTO evaluation_artifacts (org_id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at)
			VALUES ($1, $2, $3, 'report', $4, 'text/html', 1, decode(repeat('00', 32), 'hex'), 'x', now()) RETURNING id`,
			c.Org.String(), middle(out["evaluation"]), middle(out["run"]), fmt.Sprintf("%s %d", label, i)).Scan(&id))
		out["artifact"] = append(out["artifact"], strconv.FormatInt(id, 10))
	}
	for i := range perKind {
		m, err := c.Invite(ctx, testkit.Member{Email: fmt.Sprintf("m%d@example.com", i), Name: label, Role: "member"})
		require.NoError(t, err)
		out["member"] = append(out["member"], m.ID)
	}
	return out
}

func middle(ids []string) string { return ids[len(ids)/2] }

// fill gives the victim a row in every table that the seeds leave empty.
func (w *world) fill(t testing.TB) {
	t.Helper()
	ctx := t.Context()
	w.look(t, w.victim)
	gone, err := w.victim.CreateDataset(ctx, testkit.Dataset{Name: marker + " for a moment"}, testkit.Idempotent("shared"))
	require.NoError(t, err)
	require.NoError(t, w.victim.DeleteDataset(ctx, gone.ID))
	run := middle(w.theirs["run"])
	for _, statement := range []string{
		"INSERT INTO evaluation_run_items (org_id, run_id, page, items) VALUES ($1, $2, 0, '{1}')",
		"INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, calls, input_tokens, output_tokens, cost_nano_usd, overall_sum, overall_sum2, scored, updated_at) VALUES ($1, $2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, now())",
		"INSERT INTO evaluation_run_notes (org_id, run_id, subject, at, level, message) VALUES ($1, $2, 'begun', now(), 'info', '" + strings.ReplaceAll(marker, "'", "''") + "')",
	} {
		_, err := w.owner.Exec(ctx, statement, w.victim.Org.String(), run)
		require.NoError(t, err)
	}
	for _, statement := range []string{
		"INSERT INTO dataset_holds (org_id, dataset_id, holder, created_at) VALUES ($1, $2, 'run 1', now())",
		"INSERT INTO trace_deletions (org_id, trace_id, requested_at) SELECT $1, decode('00112233445566778899aabbccddeeff', 'hex'), now() WHERE $2::text <> ''",
		"INSERT INTO deletion_certificates (org_id, requested_at, requested_by) SELECT $1, now(), $2::text",
	} {
		_, err := w.owner.Exec(ctx, statement, w.victim.Org.String(), w.theirs["dataset"][0])
		require.NoError(t, err)
	}
}

// look lets the owner of the tables see one organization: row security binds
// the owner too.
func (w *world) look(t testing.TB, at *testkit.Client) {
	t.Helper()
	_, err := w.owner.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", at.Org.String())
	require.NoError(t, err)
}

// tells are texts of the victim: none of them may be in an answer to others.
func (w *world) tells() []string {
	return []string{marker, w.victim.Org.String(), w.victim.Owner.String()}
}
