package change_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// happen commits one event about each of the resources.
func (b *bench) happen(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error { return b.audit(t.Context(), tx, id) }))
	}
}

var (
	thingNoun    = event.Of("thing", "Thing")
	thingCreated = thingNoun.Event("thing.created", "A thing was created.")
	thingMade    = thingNoun.Public("thing.created", "thing.made", "A thing was created by hand.")
)

func (b *bench) audit(ctx context.Context, tx postgres.Tx, id string) error {
	return b.log.AuditTx(ctx, tx, change.Entry{Event: thingCreated, ID: id, After: thing{ID: id}})
}

// thing is a resource, with a field that changes by itself.
type thing struct {
	ID   string `json:"id"`
	Used int    `json:"used" volatile:"true"`
}

func (t thing) Shown() any { return t }

// owner connects as the owner of the tables, whom row security binds as well.
func (b *bench) owner(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), b.cfg.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// partitions are those of events, without the default one.
func partitions(t *testing.T, c *pgx.Conn) []string {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND relname ~ '^events_[0-9]' ORDER BY 1")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

// seen is a follower that remembers the resources of its events.
type seen struct {
	mu  sync.Mutex
	ids []string
}

func (s *seen) handle(_ context.Context, events []change.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.ids = append(s.ids, e.ResourceID)
	}
	return nil
}

func (s *seen) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ids)
}

// beginning is a feed of one follower from the beginning.
func (b *bench) beginning(name string, handle func(context.Context, []change.Event) error) *change.Feed {
	return b.log.NewFeed(change.Config{Keep: 24 * time.Hour}, change.Follower{Name: name, FromBeginning: true, Handle: handle})
}

// fed feeds until the follower has seen what it should. Transactions of other
// tests on the same server hold events back, so a single try may find none.
func fed(t *testing.T, f *change.Feed, s *seen, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := f.Once(t.Context())
		require.NoError(t, err)
		return len(s.all()) >= len(want)
	}, 3*time.Minute, 10*time.Millisecond)
	require.Equal(t, want, s.all())
}

func TestFollower(t *testing.T) {
	t.Parallel()

	t.Run("it gets an event whole", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var got []change.Event
		f := b.beginning("a", func(_ context.Context, events []change.Event) error {
			got = append(got, events...)
			return nil
		})
		b.happen(t, "1")
		require.Eventually(t, func() bool { _, err := f.Once(t.Context()); return err == nil && len(got) == 1 }, 3*time.Minute, 10*time.Millisecond)
		require.True(t, got[0].At.Equal(b.now()))
		got[0].At = time.Time{}
		require.JSONEq(t, `{"request_id": "", "after_digest": "sha256:5811967f540d300d249ab30ae681359a7815fdb5d3dc71a94be1d491006a6b27", "digest_format": 2}`, string(got[0].Payload))
		got[0].Payload = nil
		require.Equal(t, []change.Event{{Org: b.org, ID: 1, Type: "thing.created", Resource: "thing", ResourceID: "1"}}, got)
	})

	t.Run("the name that callers know is part of it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var got []change.Event
		f := b.beginning("a", func(_ context.Context, events []change.Event) error {
			got = append(got, events...)
			return nil
		})
		require.NoError(t, postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error {
			return change.RecordTx(t.Context(), b.log, tx, thingMade, 17, nil, &thing{ID: "17"})
		}))
		require.Eventually(t, func() bool { _, err := f.Once(t.Context()); return err == nil && len(got) == 1 }, 3*time.Minute, 10*time.Millisecond)
		require.Equal(t, "thing.created 17", got[0].Type+" "+got[0].ResourceID)
		require.True(t, got[0].Is(thingCreated), "followers see what is stored")
		require.Contains(t, string(got[0].Payload), `"public_type":"thing.made"`)
	})

	t.Run("what the catalogue does not have is refused", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		require.ErrorContains(t, postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error {
			return b.log.AuditTx(t.Context(), tx, change.Entry{ID: "1"})
		}), "without an event")
		require.Zero(t, b.rows(t, "audit_logs"))
	})

	t.Run("a transaction that commits late is not skipped", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var s seen
		f := b.beginning("a", s.handle)
		require.NoError(t, postgres.InTx(t.Context(), b.db, b.org, func(late postgres.Tx) error {
			if err := b.audit(t.Context(), late, "late"); err != nil {
				return err
			}
			if _, err := late.Exec(t.Context(), "SELECT 1"); err != nil { // sends the entry
				return err
			}
			b.happen(t, "early")
			for range 3 {
				n, err := f.Once(t.Context())
				require.NoError(t, err)
				require.Zero(t, n, "what is committed waits for the older transaction")
			}
			return nil
		}))
		fed(t, f, &s, "late", "early")
	})

	t.Run("an event of a transaction that is rolled back is never seen", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var s seen
		f := b.beginning("a", s.handle)
		failed := errors.New("failed")
		require.ErrorIs(t, postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error {
			require.NoError(t, b.audit(t.Context(), tx, "never"))
			_, err := tx.Exec(t.Context(), "SELECT 1") // sends the entry
			require.NoError(t, err)
			return failed
		}), failed)
		b.happen(t, "1")
		fed(t, f, &s, "1")
	})

	t.Run("a batch that fails is repeated, ever more rarely, and holds up what follows", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var s seen
		fails, tries := true, 0
		f := b.beginning("a", func(ctx context.Context, events []change.Event) error {
			if tries++; fails {
				panic("away")
			}
			return s.handle(ctx, events)
		})
		b.happen(t, "1")
		require.Eventually(t, func() bool { _, err := f.Once(t.Context()); return err == nil && tries == 1 }, 3*time.Minute, 10*time.Millisecond)
		b.happen(t, "2")
		for i, delay := range []time.Duration{2, 4, 8} {
			b.advance(delay*time.Second - time.Millisecond)
			_, err := f.Once(t.Context())
			require.NoError(t, err)
			require.Equal(t, i+1, tries, "not before %ds", delay)
			b.advance(time.Millisecond)
			require.Eventually(t, func() bool { _, err := f.Once(t.Context()); return err == nil && tries == i+2 }, 3*time.Minute, 10*time.Millisecond)
		}
		fails = false
		b.advance(time.Minute)
		fed(t, f, &s, "1", "2")
	})

	t.Run("the events of a holder that died come again after the lease", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.happen(t, "1")
		var s seen
		began := make(chan struct{})
		dies := b.beginning("a", func(context.Context, []change.Event) error {
			close(began)
			runtime.Goexit()
			return nil
		})
		go func() {
			for {
				if _, err := dies.Once(t.Context()); err != nil {
					return
				}
			}
		}()
		<-began
		lives := b.beginning("a", s.handle)
		b.advance(time.Minute - time.Millisecond)
		_, err := lives.Once(t.Context())
		require.NoError(t, err)
		require.Empty(t, s.all(), "the lease still holds")
		b.advance(time.Millisecond)
		fed(t, lives, &s, "1")
	})

	t.Run("replicas share the work and see nothing twice", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var s seen
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _ = b.beginning("a", s.handle).Run(ctx) })
		}
		var want []string
		for i := range 100 {
			want = append(want, strconv.Itoa(i))
		}
		b.happen(t, want...)
		require.Eventually(t, func() bool { return len(s.all()) >= len(want) }, 3*time.Minute, 10*time.Millisecond)
		stop()
		wg.Wait()
		require.Equal(t, want, s.all())
	})

	t.Run("followers do not wait for each other", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var s seen
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		slow := change.Follower{Name: "slow", FromBeginning: true, Handle: func(ctx context.Context, _ []change.Event) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		f := b.log.NewFeed(change.Config{Keep: 24 * time.Hour}, slow, change.Follower{Name: "quick", FromBeginning: true, Handle: s.handle})
		go func() { ended <- f.Run(ctx) }()
		b.happen(t, "1", "2")
		require.Eventually(t, func() bool { return len(s.all()) == 2 }, 3*time.Minute, 10*time.Millisecond)
		b.advance(time.Hour)
		// A follower is known from its first turn, and its cursor moves after the
		// handler has returned.
		for name, want := range map[string]time.Duration{"slow": time.Hour, "quick": 0} {
			require.Eventually(t, func() bool {
				behind, err := f.Lag(t.Context(), name)
				return err == nil && behind == want
			}, 3*time.Minute, 10*time.Millisecond, name)
		}
		stop()
		require.NoError(t, <-ended)
	})

	t.Run("a new follower starts where it says", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var all, some seen
		b.happen(t, "1")
		fed(t, b.beginning("all", all.handle), &all, "1")
		f := b.log.NewFeed(change.Config{}, change.Follower{Name: "some", Handle: some.handle})
		n, err := f.Once(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		b.happen(t, "2")
		fed(t, f, &some, "2")
	})
}

// restore makes the database look as if it had just been restored from another
// cluster, in which transactions had higher numbers. The number 1, which
// maintenance gives, stays what it is.
func restore(t *testing.T, owner *pgx.Conn) {
	t.Helper()
	_, err := owner.Exec(t.Context(), `
		SELECT set_config('app.sweep', 'events', false);
		DO $$
		DECLARE part regclass;
		BEGIN
			FOR part IN SELECT relid FROM pg_partition_tree('events') WHERE isleaf UNION ALL SELECT 'followers' LOOP
				EXECUTE format('UPDATE %s SET xid = (xid::text::bigint + 1000000000000)::text::xid8 WHERE xid > %L', part, '1');
			END LOOP;
		END $$`)
	require.NoError(t, err)
}

func TestEventsAreKeptInPartitions(t *testing.T) {
	t.Parallel()

	t.Run("maintenance makes weeks ahead and sorts what came before it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c := b.owner(t)
		b.happen(t, "1") // a Sunday, so that the week began on the 23rd of February
		require.Empty(t, partitions(t, c))
		f := b.log.NewFeed(change.Config{Keep: 1000 * 24 * time.Hour})
		for range 2 {
			require.NoError(t, f.Maintain(t.Context()))
			require.Equal(t, []string{"events_20260223", "events_20260302", "events_20260309"}, partitions(t, c))
		}
		var n int
		require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM events_20260223").Scan(&n))
		require.Equal(t, 1, n)
		require.Equal(t, 1, b.rows(t, "events"))
		require.Equal(t, 1, b.rows(t, "audit_logs"))
		var s seen
		fed(t, b.beginning("a", s.handle), &s, "1")
	})

	t.Run("a week is dropped when its time is over and every follower has passed it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c := b.owner(t)
		var quick, slow seen
		f := b.beginning("quick", quick.handle)
		b.happen(t, "1")
		fed(t, f, &quick, "1")
		fed(t, b.beginning("slow", slow.handle), &slow, "1")
		b.advance(7 * 24 * time.Hour)
		b.happen(t, "2")
		fed(t, f, &quick, "1", "2")
		require.NoError(t, f.Maintain(t.Context()))
		require.Equal(t, 1, b.rows(t, "events"), "the first week is over, and both have passed it")
		require.Equal(t, 2, b.rows(t, "audit_logs"), "the audit log is kept")

		b.advance(30 * 24 * time.Hour)
		require.NoError(t, f.Maintain(t.Context()))
		require.Equal(t, 1, b.rows(t, "events"), "one follower has not passed it")
		fed(t, b.beginning("slow", slow.handle), &slow, "1", "2")
		require.NoError(t, f.Maintain(t.Context()))
		require.Zero(t, b.rows(t, "events"))
		require.NotContains(t, partitions(t, c), "events_20260302")
	})

	t.Run("a restored database skips nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c := b.owner(t)
		var s seen
		f := b.beginning("a", s.handle)
		b.happen(t, "1")
		fed(t, f, &s, "1")
		b.happen(t, "2")
		restore(t, c)
		b.happen(t, "3")
		require.NoError(t, f.Maintain(t.Context()))
		fed(t, f, &s, "1", "2", "3")
		require.NoError(t, f.Maintain(t.Context()))
		fed(t, f, &s, "1", "2", "3")
	})

	t.Run("a database that is restored twice skips nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c := b.owner(t)
		var late, early, stuck seen
		away := errors.New("away")
		f := b.beginning("late", late.handle)
		waits := b.beginning("stuck", func(ctx context.Context, events []change.Event) error {
			if away != nil {
				return away
			}
			return stuck.handle(ctx, events)
		})
		_, err := waits.Once(t.Context())
		require.NoError(t, err)
		b.happen(t, "1", "2")
		fed(t, f, &late, "1", "2")
		fed(t, b.beginning("early", early.handle), &early, "1", "2")
		b.happen(t, "3")
		restore(t, c)
		b.happen(t, "4")
		require.NoError(t, f.Maintain(t.Context()))
		// One of them handles what is there, and the others nothing, before the
		// database is restored once more.
		fed(t, f, &late, "1", "2", "3", "4")
		_, err = waits.Once(t.Context())
		require.NoError(t, err)
		b.happen(t, "5")
		restore(t, c)
		b.happen(t, "6")
		require.NoError(t, f.Maintain(t.Context()))

		fed(t, b.beginning("early", early.handle), &early, "1", "2", "3", "4", "5", "6")
		away = nil
		fed(t, waits, &stuck, "1", "2", "3", "4", "5", "6")
		fed(t, f, &late, "1", "2", "3", "4", "5", "6")
	})

	t.Run("maintenance under load takes no event for a restored one", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				for ctx.Err() == nil {
					_ = postgres.InTx(ctx, b.db, b.org, func(tx postgres.Tx) error { return b.audit(ctx, tx, "1") })
				}
			})
		}
		f := b.log.NewFeed(change.Config{Keep: 24 * time.Hour})
		for range 200 {
			require.NoError(t, f.Maintain(t.Context()))
		}
		stop()
		writers.Wait()
		require.Positive(t, b.rows(t, "events"))
		var rebased int
		require.NoError(t, b.db.Org(b.org).QueryRow(t.Context(), "SELECT count(*) FROM events WHERE xid = '1'").Scan(&rebased))
		require.Zero(t, rebased)
	})

	t.Run("the runtime role changes and reads no partition by itself", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.happen(t, "1")
		require.NoError(t, b.log.NewFeed(change.Config{}).Maintain(t.Context()))
		for _, statement := range []string{
			"SELECT * FROM events_default", "SELECT * FROM audit_logs_20260301", "DROP TABLE events_default",
			"UPDATE events SET type = 'nothing.happened'", "SELECT add_partition('events', now())", "SELECT keep_partitions('outbox', now())",
		} {
			_, err := b.db.Org(b.org).Exec(t.Context(), statement)
			var denied *pgconn.PgError
			require.ErrorAs(t, err, &denied, statement)
			require.Equal(t, "42501", denied.Code, statement)
		}
		tag, err := b.db.Org(b.org).Exec(t.Context(), "DELETE FROM events")
		require.NoError(t, err)
		require.Zero(t, tag.RowsAffected())
	})
}
