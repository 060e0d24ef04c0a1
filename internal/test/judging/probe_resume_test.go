package judging_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// installation is one with a model behind a server that takes its time.
type probeInstallation struct {
	model *simulated.Provider
	url   string
	// again makes another process of it.
	again func() *testkit.Kit
}

func far(t *testing.T) probeInstallation {
	t.Helper()
	model, err := simulated.New(simulated.Options{})
	require.NoError(t, err)
	require.NoError(t, model.SetFaults(simulated.Faults{Latency: simulated.Latency{Fixed: 10 * time.Millisecond}}))
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	cfg := testkit.Config(t)
	return probeInstallation{model, server.URL + "/v1", func() *testkit.Kit { return testkit.NewWith(t, cfg) }}
}

// farJudge is a judge that asks the model there.
func farJudge(t *testing.T, us *testkit.Client, url string) string {
	t.Helper()
	_, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": "simulated", "baseUrl": url, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	c, err := us.CreateJudgeConfig(t.Context(), map[string]any{"key": "far", "starter": "helpfulness", "provider": "openai", "model": "judge"})
	require.NoError(t, err)
	return c.ID
}

func TestAProbeGoesOnAndPaysForNothingTwice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	there := far(t)
	provider, k := there.model, there.again()
	us := k.Org(t)
	c := farJudge(t, us, there.url)
	answers := filled(t, us, 50, 1)

	first := there.again()
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	gone := first.WorkUntil(working)
	started, err := us.ProbeJudgeConfig(ctx, c, map[string]any{"kinds": []string{"verbosity", "formatting", "self_preference"}, "datasetId": answers})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return provider.Calls().Paid > 20 }, 10*time.Minute, time.Millisecond)
	stop()
	k.Work(t)

	p := ended(t, us, started.ID)

	require.NoError(t, <-gone)
	require.Equal(t, "completed", p.Status, p.Error)
	require.EqualValues(t, 250, p.VerdictsDone)
	calls := provider.Calls()
	require.EqualValues(t, 250, calls.Paid)
	require.Zero(t, calls.Prompts.ExtraPaid)
}

// A cancelled probe ends at once; what was asked before is paid, and reported when it is
// answered.
func TestACancelledProbeReportsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	there := far(t)
	provider, k := there.model, there.again()
	require.NoError(t, provider.SetFaults(simulated.Faults{Latency: simulated.Latency{Fixed: time.Second}}))
	k.Work(t)
	us := k.Org(t)
	started, err := us.ProbeJudgeConfig(ctx, farJudge(t, us, there.url), map[string]any{"kinds": []string{"verbosity"}, "datasetId": filled(t, us, 50, 1)})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return provider.Calls().Paid > 10 }, 10*time.Minute, time.Millisecond)

	p, err := us.CancelJudgeProbe(ctx, started.ID)

	require.NoError(t, err)
	require.Equal(t, "cancelled", p.Status)
	require.Eventually(t, func() bool {
		p, err = us.GetJudgeProbe(ctx, started.ID)
		require.NoError(t, err)
		return p.Calls == p.VerdictsDone && int(p.Calls) == int(provider.Calls().Paid) && provider.Calls().InFlight == 0
	}, 10*time.Minute, 50*time.Millisecond)
	require.Equal(t, "cancelled", p.Status)
	require.Less(t, int(p.VerdictsDone), int(*p.VerdictsTotal))
}

// What is under way when its worker is to stop is kept; if the probe is cancelled meanwhile,
// no other worker goes on with it, and it is reported all the same.
func TestACancelledProbeWhoseWorkerLeavesReportsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	there := far(t)
	provider, k := there.model, there.again()
	require.NoError(t, provider.SetFaults(simulated.Faults{Latency: simulated.Latency{Fixed: 4 * time.Second}}))
	us := k.Org(t)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	gone := there.again().WorkUntil(working)
	started, err := us.ProbeJudgeConfig(ctx, farJudge(t, us, there.url), map[string]any{"kinds": []string{"verbosity"}, "datasetId": filled(t, us, 50, 1)})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return provider.Calls().InFlight > 0 }, 10*time.Minute, time.Millisecond)
	stop()
	k.Work(t)

	p, err := us.CancelJudgeProbe(ctx, started.ID)

	require.NoError(t, err)
	require.Equal(t, "cancelled", p.Status)
	require.NoError(t, <-gone)
	require.Eventually(t, func() bool {
		p, err = us.GetJudgeProbe(ctx, started.ID)
		require.NoError(t, err)
		return p.Calls > 0 && p.Calls == p.VerdictsDone && int(p.Calls) == int(provider.Calls().Paid)
	}, 10*time.Minute, 50*time.Millisecond)
	require.Equal(t, "cancelled", p.Status)
}
