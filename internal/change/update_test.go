package change_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
)

var noteUpdated = event.Of("note", "Note").Event("note.updated", "A note was updated.")

// note is a resource of a table that only these tests have.
type note struct {
	Text    string `json:"text"`
	Read    int64  `json:"read" volatile:"true"`
	Version int64  `json:"version"`
	secret  string
}

func (n note) Shown() any      { return n }
func (n note) Revision() int64 { return n.Version }

var errStale = fault.New(fault.Conflict, "version_conflict", "The note has another version.")

// notebook is a database with one note, of version 1.
type notebook struct{ *bench }

func newNotebook(t *testing.T) notebook {
	t.Helper()
	b := newBench(t)
	c := b.owner(t)
	_, err := c.Exec(t.Context(), "CREATE TABLE notes (org_id uuid PRIMARY KEY, text text NOT NULL, read bigint NOT NULL, secret text NOT NULL, version bigint NOT NULL)")
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "INSERT INTO notes VALUES ($1, '', 0, '', 1)", b.org)
	require.NoError(t, err)
	return notebook{b}
}

// update is an operation that changes the note.
func (b notebook) update(ctx context.Context, expected int64, unseen bool, apply func(*note) error) (out note, err error) {
	err = postgres.InTx(ctx, b.db, b.org, func(tx postgres.Tx) error {
		out, err = change.Update(change.Edit[note]{
			Expected: expected, Conflict: errStale, Apply: apply, Unseen: unseen,
			Lock: func() (n note, err error) {
				err = tx.QueryRow(ctx, "SELECT text, read, secret, version FROM notes WHERE org_id = $1 FOR UPDATE", tx.Org).Scan(&n.Text, &n.Read, &n.secret, &n.Version)
				return n, err
			},
			Save: func(before note, after *note) error {
				after.Version = before.Version + 1
				_, err := tx.Exec(ctx, "UPDATE notes SET text = $2, read = $3, secret = $4, version = $5 WHERE org_id = $1", tx.Org, after.Text, after.Read, after.secret, after.Version)
				return err
			},
			Audit: func(before, after note) error {
				return b.log.AuditTx(ctx, tx, change.Entry{Event: noteUpdated, ID: "1", Before: before, After: after})
			},
		})
		return err
	})
	return out, err
}

// stored is the note as the table has it.
func (b notebook) stored(t *testing.T) (n note) {
	t.Helper()
	require.NoError(t, b.db.Org(b.org).QueryRow(t.Context(), "SELECT text, read, secret, version FROM notes WHERE org_id = $1", b.org).Scan(&n.Text, &n.Read, &n.secret, &n.Version))
	return n
}

func write(text string) func(*note) error {
	return func(n *note) error { n.Text = text; return nil }
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for title, c := range map[string]struct {
		expected int64
		unseen   bool
		apply    func(*note) error
		want     note // afterwards
		entries  int
		err      error
	}{
		"a change is saved and recorded":               {apply: write("a"), want: note{Text: "a", Version: 2}, entries: 1},
		"of the expected version too":                  {expected: 1, apply: write("a"), want: note{Text: "a", Version: 2}, entries: 1},
		"and not of another":                           {expected: 2, apply: write("a"), want: note{Version: 1}, err: errStale},
		"what changes nothing leaves no trace":         {apply: write(""), want: note{Version: 1}},
		"even if a volatile field would change":        {apply: func(n *note) error { n.Read++; return nil }, want: note{Version: 1}},
		"a change that is never shown is saved":        {unseen: true, apply: func(n *note) error { n.secret = "s"; return nil }, want: note{Version: 2, secret: "s"}, entries: 1},
		"what is refused changes nothing":              {apply: func(n *note) error { n.Text = "a"; return refused }, want: note{Version: 1}, err: refused},
		"and is refused where nothing would change":    {apply: func(*note) error { return refused }, want: note{Version: 1}, err: refused},
		"what the expected version would do is unsaid": {expected: 7, apply: func(*note) error { return refused }, want: note{Version: 1}, err: errStale},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := newNotebook(t)
			got, err := b.update(t.Context(), c.expected, c.unseen, c.apply)
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				require.Equal(t, c.want, got)
			}
			require.Equal(t, c.want, b.stored(t))
			require.Equal(t, c.entries, b.rows(t, "audit_logs"))
		})
	}

	t.Run("a conflict says which version there is", func(t *testing.T) {
		t.Parallel()
		b := newNotebook(t)
		_, err := b.update(t.Context(), 2, false, write("a"))
		f, ok := fault.From(err)
		require.True(t, ok)
		require.EqualValues(t, 1, f.Details["currentVersion"])
	})

	t.Run("updates happen one after the other, and one of each version", func(t *testing.T) {
		t.Parallel()
		b := newNotebook(t)
		errs := make([]error, 20)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				expected := int64(0)
				if i%2 == 0 {
					expected = 1
				}
				_, errs[i] = b.update(t.Context(), expected, false, func(n *note) error { n.Text += "x"; return nil })
			})
		}
		wg.Wait()
		done := 0
		for i, err := range errs {
			if err == nil {
				done++
				continue
			}
			require.ErrorIs(t, err, errStale)
			require.Zero(t, i%2, "without an expected version none is refused")
		}
		require.Contains(t, []int{10, 11}, done, "at most one was the first")
		n := b.stored(t)
		require.Len(t, n.Text, done, "each has seen what the one before wrote")
		require.EqualValues(t, 1+done, n.Version)
		require.Equal(t, done, b.rows(t, "audit_logs"))
	})
}
