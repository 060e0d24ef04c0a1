package change_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

const replayed = "Idempotent-Replayed"

// bench is a log of changes in a database of its own, with a clock that a test
// sets. The effect of its changes is a message in the outbox.
type bench struct {
	cfg  postgres.Config
	db   *postgres.DB
	log  *change.Log
	org  principal.OrgID
	time atomic.Int64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cfg := postgrestest.New(t)
	pg, err := postgres.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	b := &bench{db: pg, cfg: cfg}
	b.time.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	b.log = change.New(pg, b.now)
	b.org = b.newOrg(t)
	return b
}

func (b *bench) now() time.Time          { return time.Unix(0, b.time.Load()) }
func (b *bench) advance(d time.Duration) { b.time.Add(int64(d)) }

func (b *bench) newOrg(t *testing.T) principal.OrgID {
	t.Helper()
	org := principal.NewOrgID()
	require.NoError(t, postgres.InTx(t.Context(), b.db, org, func(tx postgres.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO organizations (id, name, created_at, updated_at) VALUES ($1, 'Test', $2, $2)", org, b.now())
		return err
	}))
	return org
}

// ask is the context of a request with a key; all have the same content.
func (b *bench) ask(ctx context.Context, method, path, key string) context.Context {
	ctx = principal.With(ctx, principal.Caller{Org: b.org})
	return request.With(ctx, &request.Info{Method: method, Path: path, IdempotencyKey: key, Fingerprint: []byte("content"), Header: http.Header{}})
}

// rows counts the rows of a table of the organization.
func (b *bench) rows(t *testing.T, table string) int {
	t.Helper()
	var n int
	require.NoError(t, b.db.Org(b.org).QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

type result struct{ Said string }

// effect publishes one message.
func (b *bench) effect(ctx context.Context) func(postgres.Tx) (*result, error) {
	return func(tx postgres.Tx) (*result, error) {
		return &result{"done"}, b.log.PublishTx(ctx, tx, "topic", "subject", 1)
	}
}

func TestMethodPathAndKeyTellRequestsApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, r := range [][3]string{{"POST", "/a", "k"}, {"PUT", "/a", "k"}, {"PATCH", "/a", "k"}, {"POST", "/b", "k"}, {"POST", "/a", "k2"}, {"POST", "/a k", "2"}} {
		ctx := b.ask(t.Context(), r[0], r[1], r[2])
		for range 2 {
			_, err := change.Do(ctx, b.log, b.effect(ctx))
			require.NoError(t, err)
		}
	}
	require.Equal(t, 6, b.rows(t, "outbox"))
	require.Equal(t, 6, b.rows(t, "idempotency_keys"))
}

// unspeakable is an output that cannot be kept.
type unspeakable struct{}

func (unspeakable) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot be said") }

func TestEffectAndKeyCommitTogether(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*bench, context.Context) error{
		"the output cannot be encoded": func(b *bench, ctx context.Context) error {
			_, err := change.Do(ctx, b.log, func(tx postgres.Tx) (*unspeakable, error) {
				return &unspeakable{}, b.log.PublishTx(ctx, tx, "topic", "subject", 1)
			})
			return err
		},
		"the connection is killed after the effect": func(b *bench, ctx context.Context) error {
			_, err := change.Do(ctx, b.log, func(tx postgres.Tx) (*result, error) {
				out, err := b.effect(ctx)(tx)
				_, _ = tx.Exec(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
				return out, err
			})
			return err
		},
		"the request ends after the effect": func(b *bench, ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			_, err := change.Do(ctx, b.log, func(tx postgres.Tx) (*result, error) {
				defer cancel()
				return b.effect(ctx)(tx)
			})
			return err
		},
		"the effect fails halfway": func(b *bench, ctx context.Context) error {
			_, err := change.Do(ctx, b.log, func(tx postgres.Tx) (*result, error) {
				_, _ = b.effect(ctx)(tx)
				return nil, errors.New("halfway")
			})
			return err
		},
		"a statement fails and nobody looks": func(b *bench, ctx context.Context) error {
			_, err := change.Do(ctx, b.log, func(tx postgres.Tx) (*result, error) {
				out, err := b.effect(ctx)(tx)
				_, _ = tx.Exec(ctx, "SELECT 1/0")
				return out, err
			})
			return err
		},
		"the effect panics": func(b *bench, ctx context.Context) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = errors.New("panic")
				}
			}()
			_, err = change.Do(ctx, b.log, func(tx postgres.Tx) (*result, error) {
				_, _ = b.effect(ctx)(tx)
				panic("halfway")
			})
			return err
		},
	}
	for is, run := range faults {
		t.Run(is, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := b.ask(t.Context(), "POST", "/a", "k")
			require.Error(t, run(b, ctx))
			require.Zero(t, b.rows(t, "outbox"), "no effect")
			require.Zero(t, b.rows(t, "idempotency_keys"), "and no memory of one")

			// The control: the same request, unharmed, leaves both. A connection
			// that was killed may hold its key for a moment.
			out, err := change.Do(ctx, b.log, b.effect(ctx))
			for errors.Is(err, change.ErrInProgress) && t.Context().Err() == nil {
				runtime.Gosched()
				out, err = change.Do(ctx, b.log, b.effect(ctx))
			}
			require.NoError(t, err)
			require.Equal(t, &result{"done"}, out)
			require.Equal(t, 1, b.rows(t, "outbox"))
			require.Equal(t, 1, b.rows(t, "idempotency_keys"))
		})
	}
}

func TestOnlyLastingRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for kind, kept := range map[fault.Kind]bool{
		fault.Validation: true, fault.Forbidden: true, fault.NotFound: true, fault.Conflict: true,
		fault.Unauthorized: false, fault.RateLimited: false, fault.Internal: false, fault.Unavailable: false, "": false,
	} {
		ctx := b.ask(t.Context(), "POST", "/refused", "k "+string(kind))
		refusal := error(fault.New(kind, "because", "No.").With("n", 3).WithFields(fault.Field{In: "body", Path: "/a", Code: "max", Message: "m", Limit: 9.0}))
		if kind == "" {
			refusal = errors.New("a bug")
		}
		_, err := change.Do(ctx, b.log, func(postgres.Tx) (*result, error) { return nil, refusal })
		require.ErrorIs(t, err, refusal)
		out, err := change.Do(ctx, b.log, b.effect(ctx))
		if !kept {
			require.NoError(t, err, kind)
			require.Equal(t, "done", out.Said)
			continue
		}
		require.ErrorIs(t, err, refusal)
		f, _ := fault.From(err)
		require.Equal(t, "No.", f.Message)
		require.Equal(t, map[string]any{"n": 3.0}, f.Details)
		require.Equal(t, []fault.Field{{In: "body", Path: "/a", Code: "max", Message: "m", Limit: 9.0}}, f.Fields)
		require.Equal(t, "true", request.From(ctx).Header.Get(replayed))
	}
}

// TestDuplicatesAppearWithoutTheLock is the control of the concurrency tests:
// what a careful but unlocked handler does, looking first and remembering
// afterwards, repeats the effect.
func TestDuplicatesAppearWithoutTheLock(t *testing.T) {
	t.Parallel()
	const n = 4 // as many as an organization gets of the connections, so that all meet
	together := func(one func(meet func()) error) {
		var wg, barrier sync.WaitGroup
		barrier.Add(n)
		for range n {
			wg.Go(func() {
				var once sync.Once
				meet := func() { once.Do(barrier.Done) }
				_ = one(func() { meet(); barrier.Wait() })
				meet()
			})
		}
		wg.Wait()
	}

	unlocked := newBench(t)
	together(func(meet func()) error {
		ctx := t.Context()
		return postgres.InTx(ctx, unlocked.db, unlocked.org, func(tx postgres.Tx) error {
			var seen int
			if err := tx.QueryRow(ctx, "SELECT count(*) FROM idempotency_keys WHERE key = 'k'").Scan(&seen); err != nil || seen > 0 {
				return err
			}
			meet()
			if _, err := unlocked.effect(ctx)(tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `INSERT INTO idempotency_keys (org_id, method, path, key, fingerprint, output, created_at)
				VALUES ($1, 'POST', '/a', 'k', '', '', now()) ON CONFLICT DO NOTHING`, tx.Org)
			return err
		})
	})
	require.Equal(t, n, unlocked.rows(t, "outbox"), "every one of them had the effect")

	locked := newBench(t)
	var refused atomic.Int32
	together(func(meet func()) error {
		ctx := locked.ask(t.Context(), "POST", "/a", "k")
		_, err := change.Do(ctx, locked.log, func(tx postgres.Tx) (*result, error) {
			meet() // the one with the lock waits until the others have been refused
			return locked.effect(ctx)(tx)
		})
		if errors.Is(err, change.ErrInProgress) {
			refused.Add(1)
		}
		return err
	})
	require.Equal(t, 1, locked.rows(t, "outbox"))
	require.EqualValues(t, n-1, refused.Load())
}

func TestSweepForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	do := func(key string) *request.Info {
		ctx := b.ask(t.Context(), "POST", "/a", key)
		_, err := change.Do(ctx, b.log, b.effect(ctx))
		require.NoError(t, err)
		return request.From(ctx)
	}
	do("old")
	b.advance(time.Hour)
	do("young")
	b.advance(change.Remembered - time.Minute)

	n, err := b.log.Sweep(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, 1, b.rows(t, "idempotency_keys"))
	require.Equal(t, "true", do("young").Header.Get(replayed))
	require.Empty(t, do("old").Header.Get(replayed))
}
