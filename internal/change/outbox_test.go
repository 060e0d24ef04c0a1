package change_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// publish promises messages with the subjects 0 to n-1.
func (b *bench) publish(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error {
		for i := range n {
			if err := b.log.PublishTx(t.Context(), tx, "topic", strconv.Itoa(i), map[string]int{"n": i}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// once dispatches what is due and returns how much it was.
func once(t *testing.T, d *change.Dispatcher) int {
	t.Helper()
	n, err := d.Once(t.Context())
	require.NoError(t, err)
	return n
}

func TestOutbox(t *testing.T) {
	t.Parallel()

	t.Run("a change that is rolled back promises nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		failed := errors.New("failed")
		err := postgres.InTx(t.Context(), b.db, b.org, func(tx postgres.Tx) error {
			require.NoError(t, b.log.PublishTx(t.Context(), tx, "topic", "s", 1))
			_, err := tx.Exec(t.Context(), "SELECT 1") // sends the message
			require.NoError(t, err)
			return failed
		})
		require.ErrorIs(t, err, failed)
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error { return nil }})
		require.Zero(t, once(t, d))
	})

	t.Run("a message is handed over once, whole, and is gone", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 1)
		var got []change.Message
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			got = append(got, m)
			return nil
		}})
		require.Equal(t, 1, once(t, d))
		require.Zero(t, once(t, d))
		require.Equal(t, []change.Message{{Org: b.org, Topic: "topic", Subject: "0", Payload: []byte(`{"n":0}`), Attempts: 1}}, got)
		require.Zero(t, b.rows(t, "outbox"))
	})

	t.Run("a failing hand-over is repeated, ever more rarely, until it succeeds", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 1)
		var attempts []int
		fails := true
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			attempts = append(attempts, m.Attempts)
			if fails {
				return errors.New("away")
			}
			return nil
		}})
		require.Equal(t, 1, once(t, d))
		for _, delay := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 3600, 3600} {
			b.advance(delay*time.Second - time.Millisecond)
			require.Zero(t, once(t, d), "not before %ds", delay)
			b.advance(time.Millisecond)
			require.Equal(t, 1, once(t, d), "after %ds", delay)
		}
		fails = false
		b.advance(time.Hour)
		require.Equal(t, 1, once(t, d))
		require.Len(t, attempts, 23)
		for i, n := range attempts {
			require.Equal(t, i+1, n)
		}
		require.Zero(t, b.rows(t, "outbox"))
	})

	t.Run("a message that fails does not hold up the others", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 5)
		var done []string
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			if m.Subject == "2" {
				return errors.New("away")
			}
			done = append(done, m.Subject)
			return nil
		}})
		require.Equal(t, 5, once(t, d))
		require.ElementsMatch(t, []string{"0", "1", "3", "4"}, done)
		require.Equal(t, 1, b.rows(t, "outbox"))
	})

	t.Run("a topic without a handler waits for a worker that has one", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 1)
		older := b.log.NewDispatcher(nil, map[string]change.Handler{"another": func(context.Context, change.Message) error { return nil }})
		require.Zero(t, once(t, older))
		require.Equal(t, 1, b.rows(t, "outbox"))
		newer := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error { return nil }})
		require.Equal(t, 1, once(t, newer))
		require.Zero(t, b.rows(t, "outbox"))
	})

	t.Run("the messages of a dispatcher that died come back after the lease", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 1)
		dies := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error {
			runtime.Goexit() // the dispatcher ends in the middle of a hand-over
			return nil
		}})
		died := make(chan struct{})
		go func() {
			defer close(died)
			_, _ = dies.Once(t.Context())
		}()
		<-died
		var attempts int
		lives := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			attempts = m.Attempts
			return nil
		}})
		require.Zero(t, once(t, lives))
		b.advance(time.Minute - time.Millisecond)
		require.Zero(t, once(t, lives), "the lease still holds")
		b.advance(time.Millisecond)
		require.Equal(t, 1, once(t, lives))
		require.Equal(t, 2, attempts)
	})

	t.Run("several dispatchers share the work and never a message", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		const n = 350
		b.publish(t, n)
		var busy sync.Map
		var handled, clashes atomic.Int64
		handlers := map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			if _, taken := busy.LoadOrStore(m.Subject, true); taken {
				clashes.Add(1) // each is handled once, so it stays taken
			}
			handled.Add(1)
			return nil
		}}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				d := b.log.NewDispatcher(nil, handlers)
				for {
					if took, err := d.Once(t.Context()); err != nil || took == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		require.Zero(t, clashes.Load())
		require.EqualValues(t, n, handled.Load())
		require.Zero(t, b.rows(t, "outbox"))
	})

	t.Run("messages of every organization are dispatched", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.publish(t, 1)
		first := b.org
		b.org = b.newOrg(t)
		b.publish(t, 1)
		seen := map[string]bool{}
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			seen[m.Org.String()] = true
			return nil
		}})
		require.Equal(t, 2, once(t, d))
		require.Equal(t, map[string]bool{first.String(): true, b.org.String(): true}, seen)
	})

	t.Run("an organization that promised much keeps nobody waiting", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		flood, hold, held := b.org, make(chan struct{}), make(chan struct{}, 1)
		b.publish(t, 500)
		var floods atomic.Int64
		quiet := make(chan int64, 3)
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			if m.Org != flood {
				quiet <- floods.Load()
			} else if floods.Add(1) == 1 {
				held <- struct{}{}
				<-hold
			}
			return nil
		}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		<-held // and it stays so while others come and go
		for range 3 {
			b.org = b.newOrg(t)
			b.publish(t, 1)
			require.EqualValues(t, 1, <-quiet, "the first of 500 messages is still being handed over")
		}
		close(hold)
		require.Eventually(t, func() bool { return floods.Load() == 500 }, 10*time.Minute, time.Millisecond)
		stop()
		require.NoError(t, <-ended)
	})

	t.Run("many organizations with a message each wait for no poll", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for range 40 { // five times as many as there are lanes
			b.org = b.newOrg(t)
			b.publish(t, 1)
		}
		handled := make(chan struct{}, 40)
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error {
			handled <- struct{}{}
			return nil
		}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- d.Run(ctx) }()
		<-handled
		first := time.Since(began) // about a poll
		for range 39 {
			<-handled
		}
		require.Less(t, time.Since(began), 4*first, "the others follow when a lane is free")
		stop()
		require.NoError(t, <-ended)
	})

	t.Run("organizations take turns", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for range 20 { // more than there are lanes
			b.org = b.newOrg(t)
			b.publish(t, 10)
		}
		var mu sync.Mutex
		var order []principal.OrgID
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(_ context.Context, m change.Message) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, m.Org)
			return nil
		}})
		require.Equal(t, 200, once(t, d))
		early := map[principal.OrgID]int{}
		for _, org := range order[:100] {
			early[org]++
		}
		require.Len(t, early, 20, "each had a turn before anyone had two more")
		for _, n := range early {
			require.LessOrEqual(t, n, 8)
		}
	})

	t.Run("what a process promises it hands over at once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		handled := make(chan struct{}, 1)
		d := b.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error {
			handled <- struct{}{}
			return nil
		}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		// What another process promises is found when the dispatcher asks again, now and then.
		other := &bench{db: b.db, cfg: b.cfg, org: b.org, log: change.New(b.db, b.now)}
		took := func(from *bench) time.Duration {
			began := time.Now()
			from.publish(t, 1)
			<-handled
			return time.Since(began)
		}
		took(b)
		var own, others []time.Duration
		for range 15 {
			own, others = append(own, took(b)), append(others, took(other))
		}
		slices.Sort(own)
		slices.Sort(others)
		require.Less(t, own[len(own)/2], others[len(others)/2])
		stop()
		require.NoError(t, <-ended)
	})

	t.Run("a handler that blocks delays no topic of another group", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		blocked, release, handled := make(chan struct{}, 1), make(chan struct{}), make(chan struct{}, 1)
		d := b.log.NewDispatcher(nil,
			map[string]change.Handler{"topic": func(context.Context, change.Message) error {
				blocked <- struct{}{}
				<-release
				return nil
			}},
			map[string]change.Handler{"another": func(context.Context, change.Message) error {
				handled <- struct{}{}
				return nil
			}},
		)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		b.publish(t, 1)
		<-blocked
		require.NoError(t, postgres.InTx(ctx, b.db, b.org, func(tx postgres.Tx) error {
			return b.log.PublishTx(ctx, tx, "another", "s", 1)
		}))
		<-handled
		close(release)
		stop()
		require.NoError(t, <-ended)
	})
}
