package runs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/score"
)

// The sizes that a run of trivial items has too.
const (
	bareChunk  = 5000
	bareInsert = 2000
	bareLanes  = 2
)

// bare executes activities that store results which are there already.
type bare struct {
	w      *world
	n      int
	scores *score.Service
	pool   *pgxpool.Pool
	run0   int64 // a run that exists, for the counters
	items  []int64
	ready  []score.Outcome // of some items; those of others are alike
	rounds int
}

// newBare takes results of a run of ours as they are stored.
func (w *world) newBare(t testing.TB, n int) *bare {
	t.Helper()
	cfg := w.kit.App.Config
	ch, err := clickhouse.Open(cfg.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	inserter, err := clickhouse.NewInserter(cfg.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inserter.Close() })
	b := &bare{w: w, n: n, scores: score.New(score.Stores{ClickHouse: ch, Inserter: inserter}, time.Now)}
	b.pool, err = pgxpool.New(t.Context(), cfg.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(b.pool.Close)
	first := w.run(t, w.trivial, nil)
	b.run0, err = strconv.ParseInt(first.run.RunID, 10, 64)
	require.NoError(t, err)
	at := score.Run{Org: w.ours.Org, ID: b.run0, Started: first.run.StartedAt}
	b.ready, err = b.scores.Page(t.Context(), at, score.Filter{Limit: min(n, 2*bareInsert)})
	require.NoError(t, err)
	b.items = make([]int64, n)
	for i := range b.items {
		b.items[i] = int64(i + 1)
	}
	// In no order, as a run stores them.
	rand.Shuffle(n, func(i, j int) { b.items[i], b.items[j] = b.items[j], b.items[i] })
	work := worker.New(w.engine, b.queue(), worker.Options{})
	work.RegisterWorkflowWithOptions(b.workflow, workflow.RegisterOptions{Name: "bare"})
	work.RegisterActivity(b.Store)
	require.NoError(t, work.Start())
	t.Cleanup(work.Stop)
	return b
}

func (b *bare) queue() string { return b.w.kit.App.Config.Temporal.QueuePrefix + "-bare" }

// stretch is the units of one activity.
type stretch struct {
	Round, Chunk, From, To int
}

func (b *bare) workflow(ctx workflow.Context, round int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	next, chunk := 0, 0
	size := min(bareChunk, (b.n+bareLanes-1)/bareLanes)
	var failed error
	lanes := workflow.NewWaitGroup(ctx)
	for range bareLanes {
		lanes.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer lanes.Done()
			for next < b.n && failed == nil {
				s := stretch{round, chunk, next, min(b.n, next+size)}
				next, chunk = s.To, chunk+1
				if err := workflow.ExecuteActivity(ctx, b.Store, s).Get(ctx, nil); err != nil {
					failed = err
				}
			}
		})
	}
	lanes.Wait(ctx)
	return failed
}

// Store stores results as a chunk of a run does, and counts them.
func (b *bare) Store(ctx context.Context, s stretch) error {
	r := score.Run{Org: b.w.ours.Org, ID: -int64(s.Round), Started: time.Now()}
	some := make([]score.Outcome, bareInsert)
	for from := s.From; from < s.To; from += bareInsert {
		to := min(s.To, from+bareInsert)
		for i := range to - from {
			some[i] = b.ready[(from+i)%len(b.ready)]
			some[i].Item = b.items[from+i]
		}
		if err := b.scores.Insert(ctx, r, some[:to-from]); err != nil {
			return err
		}
		if err := b.count(ctx, s.Chunk, to-s.From); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) count(ctx context.Context, chunk, done int) error {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "SELECT set_config('app.org', $1, true)", b.w.ours.Org.String()); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, calls, input_tokens, output_tokens, cost_nano_usd, overall_sum, overall_sum2, scored, updated_at)
		VALUES ($1, $2, $3, $4, $4, $4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now())
		ON CONFLICT (org_id, run_id, chunk) DO UPDATE SET done = excluded.done, updated_at = excluded.updated_at`, b.w.ours.Org, b.run0, 1000+chunk, done)
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// run is how long all of it takes.
func (b *bare) run(t testing.TB) time.Duration {
	t.Helper()
	b.rounds++
	began := time.Now()
	r, err := b.w.engine.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: fmt.Sprintf("%s-%d", b.queue(), b.rounds), TaskQueue: b.queue()}, "bare", b.rounds)
	require.NoError(t, err)
	require.NoError(t, r.Get(t.Context(), nil))
	return time.Since(began)
}
