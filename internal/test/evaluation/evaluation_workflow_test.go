package evaluation_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/purge"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

// played is a workflow without its engine: what its activities say, and what
// they were asked.
type played struct {
	*testsuite.TestWorkflowEnvironment
	mu         sync.Mutex // lanes execute at once
	chunks     []evaluation.ChunkInput
	heard      int
	conclusion []evaluation.Conclusion
	files      int
}

func play(begun evaluation.Begun, chunk func(evaluation.ChunkInput) (evaluation.ChunkDone, error), hear func(n int) evaluation.Waiting) *played {
	p := &played{TestWorkflowEnvironment: temporaltest.Environment()}
	add := func(name string, fn any) { p.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
	add("BeginRun", func(context.Context, evaluation.Ticket) (evaluation.Begun, error) { return begun, nil })
	add("ExecuteChunk", func(_ context.Context, c evaluation.ChunkInput) (evaluation.ChunkDone, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.chunks = append(p.chunks, c)
		return chunk(c)
	})
	add("HearRun", func(context.Context, evaluation.Ticket) (evaluation.Waiting, error) {
		p.heard++
		return hear(p.heard), nil
	})
	add("ConcludeRun", func(_ context.Context, c evaluation.Conclusion) error {
		p.conclusion = append(p.conclusion, c)
		return nil
	})
	add("WriteArtifacts", func(context.Context, evaluation.Ticket) error { p.files++; return nil })
	return p
}

func done(c evaluation.ChunkInput) (evaluation.ChunkDone, error) {
	return evaluation.ChunkDone{Units: c.To - c.From, UnitMicros: 1_000_000}, nil
}

var ticket = evaluation.Execution{Ticket: evaluation.Ticket{Org: principal.NewOrgID(), Run: 7}}

func TestRunWorkflow(t *testing.T) {
	t.Parallel()
	why := &evaluation.RunError{Code: "budget_exceeded", Message: "It is spent."}
	ended := func(t *testing.T, p *played, stop *evaluation.RunError) {
		t.Helper()
		require.True(t, p.IsWorkflowCompleted())
		require.NoError(t, p.GetWorkflowError())
		require.Equal(t, []evaluation.Conclusion{{Ticket: ticket.Ticket, Stop: stop}}, p.conclusion, "it is concluded once")
		require.Equal(t, 1, p.files)
	}

	t.Run("its chunks are all units, each once", func(t *testing.T) {
		t.Parallel()
		for _, lanes := range []int{1, 3, 8} {
			p := play(evaluation.Begun{Units: 1003, Lanes: lanes, Width: 4, FirstTime: 1_000_000, ChunkTime: 15 * time.Second}, done, nil)

			p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)

			ended(t, p, nil)
			seen := make([]int, 1003)
			index := map[int]bool{}
			for _, c := range p.chunks {
				require.Equal(t, 4, c.Width)
				require.False(t, index[c.Index], "no two chunks count in one row")
				index[c.Index] = true
				for u := c.From; u < c.To; u++ {
					seen[u]++
				}
			}
			for u, n := range seen {
				require.Equal(t, 1, n, "unit %d", u)
			}
		}
	})

	t.Run("what is left is not cut into chunks that are hardly worth it", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Units: 20_000, Lanes: 2, Width: 16, FirstTime: 100, ChunkTime: 15 * time.Second, LeastTime: time.Second}, func(c evaluation.ChunkInput) (evaluation.ChunkDone, error) {
			return evaluation.ChunkDone{Units: c.To - c.From, UnitMicros: 50}, nil
		}, nil)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Len(t, p.chunks, 4)
	})

	t.Run("a run goes on in a new history where the old one has become long", func(t *testing.T) {
		t.Parallel()
		begun := evaluation.Begun{Units: 1000, Lanes: 2, Width: 1, FirstTime: 1_000_000, ChunkTime: 15 * time.Second}
		p := play(begun, done, nil)
		ends := 0
		p.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			ends++
			p.SetContinueAsNewSuggested(ends > 10)
		})
		seen := make([]int, 1000)
		next := ticket
		for histories := 1; ; histories++ {
			p.ExecuteWorkflow(evaluation.RunWorkflow, next)
			require.True(t, p.IsWorkflowCompleted())
			for _, c := range p.chunks {
				for u := c.From; u < c.To; u++ {
					seen[u]++
				}
			}
			var again *workflow.ContinueAsNewError
			if !errors.As(p.GetWorkflowError(), &again) {
				require.Equal(t, 2, histories)
				break
			}
			require.Empty(t, p.conclusion, "it is not over")
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
			require.Equal(t, ticket.Ticket, next.Ticket)
			require.Positive(t, next.Next)
			p = play(begun, done, nil)
		}
		ended(t, p, nil)
		for u, n := range seen {
			require.Equal(t, 1, n, "unit %d", u)
		}
	})

	t.Run("a run that is over is only concluded", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Ended: true}, done, nil)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Empty(t, p.chunks)
	})

	t.Run("a run that cannot begin fails with the reason", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Stop: why}, done, nil)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, why)
	})

	t.Run("what stops one chunk stops the run", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Units: 10_000, Lanes: 2, Width: 1, FirstTime: 1_000_000, ChunkTime: 15 * time.Second}, func(c evaluation.ChunkInput) (evaluation.ChunkDone, error) {
			if c.Index == 3 {
				return evaluation.ChunkDone{Stop: why}, nil
			}
			return done(c)
		}, nil)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, why)
		require.Less(t, len(p.chunks), 60, "of 667")
	})

	t.Run("a chunk that fails is tried again", func(t *testing.T) {
		t.Parallel()
		failed := false
		p := play(evaluation.Begun{Units: 30, Lanes: 1, Width: 1, FirstTime: 1_000_000, ChunkTime: 15 * time.Second}, func(c evaluation.ChunkInput) (evaluation.ChunkDone, error) {
			if !failed {
				failed = true
				return evaluation.ChunkDone{}, errors.New("the store is away")
			}
			return done(c)
		}, nil)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Equal(t, p.chunks[0], p.chunks[1])
	})

	t.Run("a cancelled run is concluded too", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Client: true}, done, func(int) evaluation.Waiting { return evaluation.Waiting{Left: 24 * time.Hour} })
		p.RegisterDelayedCallback(p.CancelWorkflow, time.Hour)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Equal(t, 1, p.heard)
	})

	t.Run("a client is waited for until it is done, or silent for too long", func(t *testing.T) {
		t.Parallel()
		p := play(evaluation.Begun{Client: true}, done, func(n int) evaluation.Waiting {
			return evaluation.Waiting{Final: n == 3, Left: time.Hour}
		})
		p.RegisterDelayedCallback(func() { p.SignalWorkflow("final", nil) }, time.Minute)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Equal(t, 3, p.heard, "at first, at the signal, and after the time it had left")

		silent := play(evaluation.Begun{Client: true}, done, func(n int) evaluation.Waiting {
			return evaluation.Waiting{Left: time.Duration(2-n) * time.Hour}
		})
		silent.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		require.Equal(t, "timeout", silent.conclusion[0].Stop.Code)
	})

	t.Run("what a client sent is scored when it is all, or when no more is waited for", func(t *testing.T) {
		t.Parallel()
		begun := evaluation.Begun{Client: true, Asks: true, Units: 25, Lanes: 1, Width: 1, FirstTime: 1_000_000, ChunkTime: 15 * time.Second}
		final := func(int) evaluation.Waiting { return evaluation.Waiting{Final: true} }
		p := play(begun, done, final)
		p.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, p, nil)
		require.Len(t, p.chunks, 2)

		stopped := play(begun, func(evaluation.ChunkInput) (evaluation.ChunkDone, error) { return evaluation.ChunkDone{Stop: why}, nil }, final)
		stopped.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, stopped, why)
		require.Len(t, stopped.chunks, 1)

		silent := play(begun, done, func(int) evaluation.Waiting { return evaluation.Waiting{} })
		silent.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		require.Equal(t, "timeout", silent.conclusion[0].Stop.Code)
		require.Len(t, silent.chunks, 2)

		cancelled := play(begun, done, func(int) evaluation.Waiting { return evaluation.Waiting{Left: 24 * time.Hour} })
		cancelled.RegisterDelayedCallback(cancelled.CancelWorkflow, time.Hour)
		cancelled.ExecuteWorkflow(evaluation.RunWorkflow, ticket)
		ended(t, cancelled, nil)
		require.Empty(t, cancelled.chunks)
	})
}

func TestHistories(t *testing.T) {
	t.Parallel()
	run := func(seed map[string]any, meanwhile func(*testing.T, *testkit.Client, testkit.Run)) temporaltest.Scene {
		return func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			c := k.Org(t)
			r := started(t, c, c.Evaluation(t, filled(t, c, cases(60)).ID, seed).ID, nil)
			if meanwhile != nil {
				meanwhile(t, c, executing(t, c, r))
			}
			c.Ended(t, r)
			return k.App.Config.Temporal, workflowOf(t, c, r)
		}
	}
	purged := func(wait time.Duration) temporaltest.Scene {
		return func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			c := k.Org(t)
			e := c.Evaluation(t, filled(t, c, cases(5)).ID, nil)
			c.Artifacts(t, ran(t, c, e.ID, nil))
			require.NoError(t, c.DeleteEvaluation(t.Context(), e.ID))
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			p := purge.Purge{Org: c.Org, Evaluation: number(t, e.ID), NotBefore: time.Now().Add(wait)}
			require.NoError(t, engine.Start(t.Context(), evaluation.Queue, "recorded", purge.PurgeWorkflow, p))
			return k.App.Config.Temporal, "recorded"
		}
	}
	client := map[string]any{"target": map[string]any{"type": "client"}}
	temporaltest.Histories(t, "evaluation", []any{evaluation.RunWorkflow, purge.PurgeWorkflow}, map[string]temporaltest.Scene{
		"purge_at_once":         purged(0),
		"purge_after_a_wait":    purged(time.Second),
		"run_recorded":          run(nil, nil),
		"run_that_cannot_begin": run(map[string]any{"metrics": []string{"charm"}}, nil),
		"run_of_a_client": run(client, func(t *testing.T, c *testkit.Client, r testkit.Run) {
			require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, nil, true))
		}),
		"run_of_a_client_with_a_judge": func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			c := k.Org(t)
			quick(t, c)
			r := submitted(t, c, 60, nil)
			c.Ended(t, r)
			return k.App.Config.Temporal, workflowOf(t, c, r)
		},
		"run_cancelled": run(client, func(t *testing.T, c *testkit.Client, r testkit.Run) {
			_, err := c.CancelEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
			require.NoError(t, err)
		}),
	})
}
