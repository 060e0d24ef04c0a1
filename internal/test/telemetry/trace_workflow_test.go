package telemetry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

// deletionOf reads the newest deletion of a trace, settled already.
func deletionOf(t testing.TB, k *testkit.Kit, us *testkit.Client, id string) trace.Deletion {
	t.Helper()
	d := trace.Deletion{Org: us.Org, Trace: id}
	err := k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT id, requested_at FROM trace_deletions WHERE trace_id = decode($1, 'hex') ORDER BY id DESC LIMIT 1", id).Scan(&d.ID, &d.Requested)
	require.NoError(t, err)
	d.Settled = d.Requested
	return d
}

// purged reports whether the deletion is noted as done.
func purged(t testing.TB, k *testkit.Kit, us *testkit.Client, d trace.Deletion) (done bool) {
	t.Helper()
	conn := k.Owner(t, us.Org)
	defer func() { _ = conn.Close(t.Context()) }() // it is asked often
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT purged_at IS NOT NULL FROM trace_deletions WHERE id = $1", d.ID).Scan(&done))
	return done
}

// activities runs the domain's activities without an engine.
func activities(t testing.TB, k *testkit.Kit) *testsuite.TestActivityEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	k.App.Trace.Register(activitiesOf{env: env})
	return env
}

// activitiesOf lets a domain register on an environment of activities alone.
type activitiesOf struct {
	worker.Registry
	env *testsuite.TestActivityEnvironment
}

func (r activitiesOf) RegisterActivity(a any) { r.env.RegisterActivity(a) }

func (activitiesOf) RegisterWorkflow(any) {}

func TestADeletedTraceLeavesTheDisk(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	gone, kept := full(t, us), full(t, us)
	before := see.rows(kept)
	err := us.DeleteTrace(t.Context(), gone)
	require.NoError(t, err)
	require.Positive(t, see.rows(gone), "hidden, and still on the disk")

	k.Work(t)

	// The dispatcher and the workflow engine tell nobody when they are done.
	require.Eventually(t, func() bool { return see.rows(gone) == 0 }, 10*time.Minute, 50*time.Millisecond)
	require.Equal(t, before, see.rows(kept))
}

// TestManyDeletionsArePurgedTogether deletes traces side by side: few statements
// hide them, and one for each partition removes them from the disks.
func TestManyDeletionsArePurgedTogether(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it counts how often tables are rewritten")
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	var ids []string
	for i := range 30 {
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "one of many", "spans": []map[string]any{span("x", nil)}, "startTime": at(-time.Duration(i%2) * 24 * time.Hour)})
		require.NoError(t, err)
		ids = append(ids, made.ID)
	}
	mutations := func(kind string) (n, partitions uint64) {
		t.Helper()
		require.NoError(t, see.ch.QueryRow(t.Context(), "SELECT count(), uniqExact(extract(command, 'PARTITION ID ''([^'']+)')) FROM system.mutations WHERE database = currentDatabase() AND table = 'spans' AND position(command, ?) > 0", kind).Scan(&n, &partitions))
		return n, partitions
	}
	var g errgroup.Group
	for _, id := range ids {
		g.Go(func() error {
			err := us.DeleteTrace(t.Context(), id)
			return err
		})
	}
	require.NoError(t, g.Wait())
	hides, partitions := mutations("_row_exists")
	require.Less(t, hides, 30*partitions, "who waits at the same time is served at once")
	rounds, _ := mutations("DELETED MASK")
	require.Zero(t, rounds, "no deletion rewrites parts by itself")

	for range 2 {
		see.round()
		rounds, purged := mutations("DELETED MASK")
		require.Equal(t, partitions, purged)
		require.Equal(t, partitions, rounds, "once for all, and not again without need")
	}
	for _, id := range ids {
		require.Zero(t, see.rows(id))
	}
}

func TestFinishingADeletionCanBeRepeated(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it waits until tables are rewritten")
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	var a *trace.Activities
	id := full(t, us)
	err := us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	d := deletionOf(t, k, us, id)
	require.False(t, purged(t, k, us, d))
	for range 2 {
		_, err := activities(t, k).ExecuteActivity(a.PurgeTrace, d)
		require.NoError(t, err)
		require.Positive(t, see.rows(id), "the next round removes it from the disks")
		_, err = activities(t, k).ExecuteActivity(a.FinishDeletion, d)
		require.ErrorContains(t, err, "still on the disks")
		require.False(t, purged(t, k, us, d))
	}
	see.round()
	require.Zero(t, see.rows(id))
	for range 2 {
		_, err := activities(t, k).ExecuteActivity(a.FinishDeletion, d)
		require.NoError(t, err)
		require.True(t, purged(t, k, us, d))
	}
}

//nolint:paralleltest // it moves the clock
func TestWhatIsSentAfterADeletionStays(t *testing.T) {
	k := testkit.Moving(t)
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	var a *trace.Activities
	id := full(t, us)
	err := us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	d := deletionOf(t, k, us, id)
	k.Clock.Advance(time.Second)
	_, err = us.AddSpans(t.Context(), id, []map[string]any{span("new", nil)})
	require.NoError(t, err)

	_, err = activities(t, k).ExecuteActivity(a.FinishDeletion, d)
	require.ErrorContains(t, err, "still on the disks")
	see.round()
	_, err = activities(t, k).ExecuteActivity(a.FinishDeletion, d)

	require.NoError(t, err)
	require.Equal(t, 1, see.spans(id))
	require.Equal(t, 1, see.count("SELECT uniqExact(trace_id) FROM traces WHERE org_id = ? AND trace_id = unhex(?)", id))
	err = us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	require.Zero(t, see.seen(id))
}

func TestTelemetryThatWasDeferredBeforeADeletionGoesToo(t *testing.T) {
	t.Parallel()
	k, direct, w := wired(t)
	us := k.Org(t)
	see := stored(t, direct, us)
	var a *trace.Activities
	id := testkit.NewTraceID()
	_, err := us.AddSpans(t.Context(), id, []map[string]any{span("stored", nil)})
	require.NoError(t, err)
	w.set(true)
	late, err := us.AddSpans(t.Context(), id, []map[string]any{span("deferred", map[string]any{"input": "x"})})
	require.NoError(t, err)
	require.True(t, late.Response.Deferred())
	w.set(false)
	k.Clock.Advance(2 * time.Second)
	err = us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	d := deletionOf(t, k, us, id)

	_, err = activities(t, k).ExecuteActivity(a.FinishDeletion, d)
	require.ErrorContains(t, err, "was deferred")
	require.False(t, purged(t, k, us, d))

	drained, err := k.App.Trace.Drain(t.Context())
	require.NoError(t, err)
	require.Zero(t, drained, "the block held nothing else")
	require.Zero(t, see.spans(id))
	_, err = us.AddSpans(t.Context(), id, []map[string]any{span("new", nil)})
	require.NoError(t, err)
	see.round()
	_, err = activities(t, k).ExecuteActivity(a.FinishDeletion, d)
	require.NoError(t, err)
	require.True(t, purged(t, k, us, d))
	require.Equal(t, 1, see.spans(id), "only what was sent after the deletion")
	require.Equal(t, 0, see.count("SELECT countIf(first_ingest <= fromUnixTimestamp64Milli("+millis(d.Requested)+")) FROM traces WHERE org_id = ? AND trace_id = unhex(?)", id))
}

func TestADeletionWaitsWhileClickHouseIsAway(t *testing.T) {
	t.Parallel()
	k, direct, w := wired(t)
	us := k.Org(t)
	see := stored(t, direct, us)
	var a *trace.Activities
	id := full(t, us)
	err := us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	d := deletionOf(t, k, us, id)
	w.set(true)
	_, err = activities(t, k).ExecuteActivity(a.PurgeTrace, d)
	require.Error(t, err)
	w.set(false)
	_, err = activities(t, k).ExecuteActivity(a.PurgeTrace, d)
	require.NoError(t, err)
	see.round()
	require.Zero(t, see.rows(id))
}

func TestDeletionWaitsUntilWritesHaveSettled(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, wait := range map[string]time.Duration{"a minute": time.Minute, "nothing to wait": 0, "late already": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := temporaltest.Environment()
			env.SetStartTime(start)
			d := trace.Deletion{Org: principal.NewOrgID(), ID: 7, Trace: testkit.NewTraceID(), Requested: start, Settled: start.Add(wait)}
			var ran []string
			tries := 0
			env.RegisterActivityWithOptions(func(_ context.Context, got trace.Deletion) error {
				require.Equal(t, d, got)
				ran = append(ran, "purge at "+env.Now().Sub(start).Truncate(time.Minute).String())
				return nil
			}, activity.RegisterOptions{Name: "PurgeTrace"})
			env.RegisterActivityWithOptions(func(context.Context, trace.Deletion) error {
				if tries++; tries < 3 {
					return errors.New("not yet")
				}
				ran = append(ran, "finish at "+env.Now().Sub(start).Truncate(time.Minute).String())
				return nil
			}, activity.RegisterOptions{Name: "FinishDeletion"})

			env.ExecuteWorkflow(trace.DeleteTraceWorkflow, d)

			require.True(t, env.IsWorkflowCompleted())
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, []string{"purge at 0s", "finish at " + max(0, wait).String()}, ran)
			require.Equal(t, 3, tries, "it is tried until it succeeds")
		})
	}
}

func TestHistories(t *testing.T) {
	t.Parallel()
	deletion := func(wait time.Duration) temporaltest.Scene {
		return func(t *testing.T) (temporal.Config, string) {
			k := testkit.Own(t, "its worker starts later")
			us := k.Org(t)
			gone := full(t, us)
			err := us.DeleteTrace(t.Context(), gone)
			require.NoError(t, err)
			k.Work(t)
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			d := deletionOf(t, k, us, gone)
			d.Settled = time.Now().Add(wait)
			require.NoError(t, engine.Start(t.Context(), trace.Queue, "recorded", trace.DeleteTraceWorkflow, d))
			return k.App.Config.Temporal, "recorded"
		}
	}
	temporaltest.Histories(t, "trace", trace.DeleteTraceWorkflow, map[string]temporaltest.Scene{
		"delete_at_once": deletion(0), "delete_after_a_wait": deletion(2 * time.Second),
	})
}
