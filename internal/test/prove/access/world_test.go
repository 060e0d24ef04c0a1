package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
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
	// numbers next to one of them are the victim's too.
	own, theirs map[string][]string
	ours        *specimen.Maker // fills calls with objects of home
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
	w.ours, w.own = w.seed(t, w.home, "ours")
	w.ours.Put("organization", uuid.Nil.String()) // so that nobody confirms the deletion of home
	var theirs *specimen.Maker
	theirs, w.theirs = w.seed(t, w.victim, marker)
	w.fill(t, theirs)
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
	return testkit.NewWith(t, cfg)
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
	_, err = w.owner.Exec(t.Context(), fmt.Sprintf("ALTER SEQUENCE evidence_ids RESTART WITH %d", (len(columns)+1)*1_000_000))
	require.NoError(t, err)
}

// perKind is how many objects of each kind an organization has. The middle one
// has neighbours on both sides.
const perKind = 3

// seed makes objects of every kind, those of one kind in a row.
func (w *world) seed(t testing.TB, c *testkit.Client, label string) (*specimen.Maker, map[string][]string) {
	t.Helper()
	ctx := t.Context()
	m := specimen.NewMaker(c, w.owner, label)
	out := map[string][]string{}
	for _, n := range specimen.Nouns() {
		for range perKind {
			m.Make(t, n.Name)
		}
		if len(n.Paths) > 0 {
			out[n.Name] = m.All(n.Name)
		}
		switch n.Name {
		case "dataset":
			// Versions are counted in each dataset; no two datasets count from the
			// same number.
			w.look(t, c)
			_, err := w.owner.Exec(ctx, "UPDATE datasets SET latest_version = 500000000 + id WHERE org_id = $1", c.Org.String())
			require.NoError(t, err)
		case "run": // one that has ended can be compared
			_, err := c.CancelEvaluationRun(ctx, middle(out["evaluation"]), middle(out["run"]))
			require.NoError(t, err)
		}
	}
	return m, out
}

func middle(ids []string) string { return ids[len(ids)/2] }

// fill gives the victim a row in every table that the seeds leave empty.
func (w *world) fill(t testing.TB, m *specimen.Maker) {
	t.Helper()
	gone, err := w.victim.CreateDataset(t.Context(), testkit.NewDataset{Name: marker + " for a moment"}, testkit.Idempotent("shared"))
	require.NoError(t, err)
	require.NoError(t, w.victim.DeleteDataset(t.Context(), gone.ID))
	m.Everything(t)
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
