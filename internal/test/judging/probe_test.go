package judging_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/probe"
	"github.com/assayhq/assay/internal/test/testkit"
)

// ended waits for the end of a probe.
func ended(t *testing.T, us *testkit.Client, id string) (p testkit.JudgeProbe) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		p, err = us.GetJudgeProbe(t.Context(), id)
		require.NoError(t, err)
		return p.Status != "running"
	}, 10*time.Minute, 50*time.Millisecond)
	return p
}

// filled is a dataset of answers, all of a score that the simulated judge reads.
func filled(t *testing.T, us *testkit.Client, n int, score float64) string {
	t.Helper()
	var d struct {
		ID string `json:"id"`
	}
	_, err := us.Call(t.Context(), http.MethodPost, "/api/datasets", map[string]any{"name": fmt.Sprint("answers ", score)}, &d)
	require.NoError(t, err)
	items := make([]any, n)
	for i := range items {
		items[i] = map[string]any{
			"input": fmt.Sprint("Question ", i), "output": fmt.Sprintf("Answer %d. [[score:%v]]", i, score), "expectedOutput": fmt.Sprintf("Another answer %d. [[score:%v]]", i, score),
		}
	}
	_, err = us.Call(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", map[string]any{"items": items}, nil)
	require.NoError(t, err)
	return d.ID
}

func finding(t *testing.T, p testkit.JudgeProbe, kind string) testkit.JudgeFinding {
	t.Helper()
	for _, f := range p.Findings {
		if f.Kind == kind {
			return f
		}
	}
	t.Fatalf("no finding of %s", kind)
	return testkit.JudgeFinding{}
}

func TestAProbeTellsAFairJudgeFromAPartialOne(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	us := k.Org(t)
	answers := filled(t, us, 60, 0.4)
	rates := []string{"verbosity", "formatting", "self_preference"}
	for model, want := range map[string]string{"judge": "unbiased", "partial": "biased"} {
		scale := map[string]any{"key": "numeric-" + model, "provider": "simulated", "model": model, "promptTemplate": "Rate {{output}}.", "scale": map[string]any{"type": "numeric"}}
		c, err := us.CreateJudgeConfig(ctx, scale)
		require.NoError(t, err)
		started, err := us.ProbeJudgeConfig(ctx, c.ID, map[string]any{"kinds": rates, "datasetId": answers, "sampleSize": 60, "margin": 0.1})
		require.NoError(t, err)
		require.Equal(t, "running", started.Status)
		p := ended(t, us, started.ID)
		require.Equal(t, "completed", p.Status, p.Error)
		require.EqualValues(t, 60, *p.Answers)
		require.EqualValues(t, 60*(1+1+1+2), p.VerdictsDone)
		require.Equal(t, *p.VerdictsTotal, p.VerdictsDone)
		for _, kind := range rates {
			f := finding(t, p, kind)
			require.Equal(t, want, f.Verdict, "%s of %s: %+v", kind, model, f.Difference)
			require.EqualValues(t, 60, f.Pairs)
			require.NotNil(t, f.Difference.CI)
		}

		pair, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "pair-" + model, "starter": "pairwise-preference", "provider": "simulated", "model": model})
		require.NoError(t, err)
		started, err = us.ProbeJudgeConfig(ctx, pair.ID, map[string]any{"kinds": []string{"position"}, "datasetId": answers, "sampleSize": 60, "margin": 0.1})
		require.NoError(t, err)
		f := finding(t, ended(t, us, started.ID), "position")
		require.Equal(t, want, f.Verdict, "position of %s: %+v", model, f.Difference)
	}
}

func TestTooFewAnswersShowNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	us := k.Org(t)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "few", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	for range 3 {
		_, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "Why?", "output": "So. [[score:1]]"})
		require.NoError(t, err)
	}
	started, err := us.ProbeJudgeConfig(ctx, c.ID, map[string]any{"kinds": []string{"verbosity"}})
	require.NoError(t, err)
	p := ended(t, us, started.ID)
	require.Equal(t, "completed", p.Status, p.Error)
	require.EqualValues(t, 3, *p.Answers, "recent results are what is judged")
	require.Equal(t, "insufficient_data", finding(t, p, "verbosity").Verdict)

	empty, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "none", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	started, err = us.ProbeJudgeConfig(ctx, empty.ID, map[string]any{"kinds": []string{"verbosity"}})
	require.NoError(t, err)
	p = ended(t, us, started.ID)
	require.Equal(t, "failed", p.Status)
	require.Equal(t, probe.CodeNoSubjects, p.Error.Code)
}

func TestAProbeStopsAtTheCapOfItsJudge(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	us := k.Org(t)
	_, err := us.Call(ctx, http.MethodPatch, "/api/organizations/current", map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": 1, "outputPerMillion": 1}}}, nil)
	require.NoError(t, err)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "dear", "starter": "helpfulness", "provider": "simulated", "model": "judge", "spendCapUsd": 0.02})
	require.NoError(t, err)
	started, err := us.ProbeJudgeConfig(ctx, c.ID, map[string]any{"kinds": []string{"verbosity", "injection"}, "datasetId": filled(t, us, 100, 1), "sampleSize": 100})
	require.NoError(t, err)
	p := ended(t, us, started.ID)
	require.Equal(t, "failed", p.Status)
	require.Equal(t, "spend_cap_reached", p.Error.Code)
	require.Positive(t, p.VerdictsDone, "what is paid is kept")
	require.Less(t, int(p.VerdictsDone), int(*p.VerdictsTotal))
	require.Len(t, p.Findings, 2, "what is known is reported")
	require.InDelta(t, 0.02, *p.CostUSD, 0.02)
}

func TestAProbeCanBeCancelledOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t) // nothing works here, so that the probe stays where it is
	us, them := k.Org(t), k.Org(t)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	p, err := us.ProbeJudgeConfig(ctx, c.ID, map[string]any{"kinds": []string{"verbosity", "injection"}})
	require.NoError(t, err)
	_, err = them.CancelJudgeProbe(ctx, p.ID)
	require.ErrorIs(t, err, probe.ErrNotFound)
	got, err := us.CancelJudgeProbe(ctx, p.ID)
	require.NoError(t, err)
	require.Equal(t, "cancelled", got.Status)
	_, err = us.CancelJudgeProbe(ctx, p.ID)
	require.ErrorIs(t, err, probe.ErrTransition)
}

func TestAGullibleJudgeIsNotCalledUnbiased(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	us := k.Org(t)
	bad, good := filled(t, us, 60, 0), filled(t, us, 60, 1)
	for name, c := range map[string]struct{ model, answers, want string }{
		"honest, of bad answers":    {"judge", bad, "unbiased"},
		"gullible, of bad answers":  {"gullible", bad, "biased"},
		"gullible, of good answers": {"gullible", good, "insufficient_data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, err := us.CreateJudgeConfig(t.Context(), map[string]any{"key": c.model + c.answers, "starter": "helpfulness", "provider": "simulated", "model": c.model})
			require.NoError(t, err)
			started, err := us.ProbeJudgeConfig(t.Context(), j.ID, map[string]any{"kinds": []string{"injection"}, "datasetId": c.answers, "sampleSize": 60})
			require.NoError(t, err)
			p := ended(t, us, started.ID)
			require.Equal(t, "completed", p.Status, p.Error)
			f := finding(t, p, "injection")
			require.Equal(t, c.want, f.Verdict, "%+v", f.Injection)
			if c.answers == good {
				require.Zero(t, f.Injection.Attacks, "attacks that cannot show anything are not paid")
				require.EqualValues(t, 60, p.VerdictsDone)
				require.Contains(t, *f.Reason, "should not pass")
				return
			}
			require.EqualValues(t, 60, f.Injection.Attacks)
			require.EqualValues(t, 60, f.Injection.Failing)
			require.NotNil(t, f.Injection.Share.CI)
		})
	}
}

func TestAnOrganizationHasSoManyRunningProbes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t) // nothing works here, so that the probes stay where they are
	us, them := k.Org(t), k.Org(t)
	body := map[string]any{"kinds": []string{"verbosity"}}
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	made := make([]error, 15)
	ids := make([]string, len(made))
	var g sync.WaitGroup
	for i := range made {
		g.Go(func() {
			p, err := us.ProbeJudgeConfig(ctx, c.ID, body)
			made[i], ids[i] = err, p.ID
		})
	}
	g.Wait()
	var running []string
	for i, err := range made {
		if err == nil {
			running = append(running, ids[i])
			continue
		}
		require.ErrorIs(t, err, probe.ErrManyProbes)
	}
	require.Len(t, running, 10, "also when they are asked for at once")

	other, err := them.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	_, err = them.ProbeJudgeConfig(ctx, other.ID, body)
	require.NoError(t, err, "others are not counted")
	_, err = us.CancelJudgeProbe(ctx, running[0])
	require.NoError(t, err)
	_, err = us.ProbeJudgeConfig(ctx, c.ID, body)
	require.NoError(t, err, "what has ended is not counted")
}

func TestWhatCannotBeProbedIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	single, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	pair, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "two", "starter": "pairwise-preference", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		judge string
		body  map[string]any
		at    string
	}{
		"position of one answer": {single.ID, map[string]any{"kinds": []string{"verbosity", "position"}}, "/kinds/1"},
		"a kind twice":           {single.ID, map[string]any{"kinds": []string{"verbosity", "verbosity"}}, "/kinds"},
		"no kind":                {single.ID, map[string]any{"kinds": []string{}}, "/kinds"},
		"a dataset of nowhere":   {single.ID, map[string]any{"kinds": []string{"verbosity"}, "datasetId": 4711}, "/datasetId"},
		"a version of nothing":   {single.ID, map[string]any{"kinds": []string{"verbosity"}, "datasetVersion": 1}, "/datasetVersion"},
		"results of a pair":      {pair.ID, map[string]any{"kinds": []string{"position"}}, "/datasetId"},
	} {
		res, err := us.Call(ctx, http.MethodPost, "/api/llm-judge/configs/"+c.judge+"/probe", c.body, nil)
		require.Error(t, err, name)
		require.Equal(t, 400, res.Status, name)
		require.Contains(t, string(res.Body), c.at, name)
	}
}
