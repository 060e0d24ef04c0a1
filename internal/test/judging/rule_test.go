package judging_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scene is an organization whose judge asks a provider that counts calls.
type scene struct {
	*testkit.Client
	kit      *testkit.Kit
	provider *simulated.Server
	judge    testkit.JudgeConfig
}

// set makes a scene.
func set(t testing.TB, k *testkit.Kit, o simulated.Options) scene {
	t.Helper()
	o.Remember = -1
	p := simulated.Start(t, o)
	s := scene{k.Org(t), k, p, testkit.JudgeConfig{}}
	_, err := s.UpdateOrganization(t.Context(), map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": 1, "outputPerMillion": 1}}})
	require.NoError(t, err)
	_, err = s.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": "judges", "baseUrl": p.URL, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	s.judge, err = s.CreateJudgeConfig(t.Context(), map[string]any{"key": "live", "starter": "helpfulness", "provider": "openai", "model": "judge"})
	require.NoError(t, err)
	return s
}

// send sends n traces that have ended, and returns their ids.
func (s scene) send(t testing.TB, n int, more map[string]any) (ids []string) {
	t.Helper()
	start := time.Now().Add(-time.Minute)
	var spans []testkit.OTLPSpan
	for i := range n {
		attributes := map[string]any{"input.value": fmt.Sprint("question ", i), "output.value": fmt.Sprintf("answer %d [[score:%d]]", i, i%2)}
		for name, v := range more {
			attributes[name] = v
		}
		id := testkit.NewTraceID()
		ids = append(ids, id)
		spans = append(spans, testkit.OTLPSpan{Trace: id, Name: "answer", Start: start, Duration: time.Second, Attributes: attributes})
	}
	s.SendOTLP(t, testkit.Spans(spans...))
	return ids
}

// rule makes a rule that chooses every trace.
func (s scene) rule(t testing.TB, more map[string]any) testkit.JudgeRule {
	t.Helper()
	body := map[string]any{"key": "live", "configId": s.judge.ID, "sampleRate": 1}
	for name, v := range more {
		body[name] = v
	}
	r, err := s.CreateJudgeRule(t.Context(), body)
	require.NoError(t, err)
	return r
}

// until waits until a rule is as it should be.
func (s scene) until(t testing.TB, id string, is func(testkit.JudgeRule) bool) (r testkit.JudgeRule) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		r, err = s.GetJudgeRule(t.Context(), id)
		return err == nil && is(r)
	}, 10*time.Minute, 50*time.Millisecond, "%+v", &r)
	return r
}

// verdicts are the traces that the judge has results about.
func (s scene) verdicts(t testing.TB) (ids []string) {
	t.Helper()
	all, err := s.ListJudgeResults(t.Context(), "limit=1000&configId="+s.judge.ID)
	require.NoError(t, err)
	for _, r := range all.Results {
		require.NotNil(t, r.TraceID)
		ids = append(ids, *r.TraceID)
	}
	return ids
}

func TestARuleJudgesTracesThatArrive(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{})
	s.send(t, 3, nil) // before the rule exists
	r := s.rule(t, map[string]any{"filter": map[string]any{"environment": "production"}})
	require.Equal(t, "active", r.Status)
	ours := s.send(t, 12, map[string]any{"deployment.environment": "production"})
	s.send(t, 4, map[string]any{"deployment.environment": "staging"})
	open := testkit.NewTraceID()
	running := testkit.OTLPSpan{Trace: open, ID: testkit.NewSpanID(), Name: "answer", Start: time.Now(), Attributes: map[string]any{"deployment.environment": "production", "output.value": "late [[score:1]]"}}
	s.SendOTLP(t, testkit.Spans(running))

	r = s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Judged >= 12 })
	require.Equal(t, testkit.RuleCounts{Judged: 12, FailedBy: []testkit.RuleReason{}, SkippedBy: []testkit.RuleReason{}, SpentUSD: r.Counts.SpentUSD}, r.Counts)
	require.Positive(t, r.Counts.SpentUSD)
	require.ElementsMatch(t, ours, s.verdicts(t))

	// It ends, and something late comes to a trace that is judged already.
	running.Duration = time.Second
	late := testkit.OTLPSpan{Trace: ours[0], Parent: testkit.NewSpanID(), Name: "late", Start: time.Now(), Duration: time.Second}
	s.SendOTLP(t, testkit.Spans(late, running))
	s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Judged == 13 })
	require.ElementsMatch(t, append(ours, open), s.verdicts(t))
	require.EqualValues(t, 13, s.provider.Calls().Paid)

	// What comes while it is paused is left alone.
	_, err := s.UpdateJudgeRule(t.Context(), r.ID, map[string]any{"status": "paused"})
	require.NoError(t, err)
	s.send(t, 2, map[string]any{"deployment.environment": "production"})
	_, err = s.UpdateJudgeRule(t.Context(), r.ID, map[string]any{"status": "active"})
	require.NoError(t, err)
	last := s.send(t, 1, map[string]any{"deployment.environment": "production"})
	s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Judged == 14 })
	require.ElementsMatch(t, append(ours, open, last[0]), s.verdicts(t))
}

func TestATraceIsPaidForOnce(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, nil)
	second := s.rule(t, map[string]any{"key": "second"})
	ids := s.send(t, 60, nil)
	// One was judged by hand.
	_, err := s.EvaluateWithJudge(ctx, map[string]any{"configId": s.judge.ID, "traceId": ids[0], "input": "Why?", "output": "So. [[score:1]]"})
	require.NoError(t, err)
	body := map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}
	first, err := s.StartJudgeBackfill(ctx, r.ID, body)
	require.NoError(t, err)
	other, err := s.StartJudgeBackfill(ctx, r.ID, body)
	require.NoError(t, err)

	first, other = s.Filled(t, first), s.Filled(t, other)
	require.Equal(t, "completed", first.Status, first.Reason)
	require.Equal(t, "completed", other.Status, other.Reason)
	for _, b := range []testkit.JudgeBackfill{first, other} {
		require.EqualValues(t, 60, *b.Total)
		require.EqualValues(t, 60, b.Matched)
		require.EqualValues(t, 60, b.Sampled)
		require.Zero(t, *b.Remaining)
		require.Equal(t, 60, int(b.Counts.Judged)+int(b.Counts.Skipped), b.Counts)
	}
	// The rules find nothing left, or have judged it themselves.
	third, err := s.StartJudgeBackfill(ctx, second.ID, body)
	require.NoError(t, err)
	third = s.Filled(t, third)
	require.Equal(t, []testkit.RuleReason{{Reason: "already_judged", Traces: 60}}, third.Counts.SkippedBy)
	require.Zero(t, third.Counts.SpentUSD)
	// A rule counts a lot when all of it is judged.
	require.Eventually(t, func() bool {
		one, err := s.GetJudgeRule(ctx, r.ID)
		require.NoError(t, err)
		two, err := s.GetJudgeRule(ctx, second.ID)
		require.NoError(t, err)
		return int(first.Counts.Judged)+int(other.Counts.Judged)+int(one.Counts.Judged)+int(two.Counts.Judged) == 59
	}, 10*time.Minute, 50*time.Millisecond)
	require.ElementsMatch(t, ids, s.verdicts(t))
	require.EqualValues(t, 60, s.provider.Calls().Paid)
}

func TestCapsEndBackfills(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	s.send(t, 30, nil)
	body := func(more map[string]any) map[string]any {
		more["from"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		return more
	}

	b, err := s.StartJudgeBackfill(ctx, r.ID, body(map[string]any{"maxTraces": 7}))
	require.NoError(t, err)
	b = s.Filled(t, b)
	require.Equal(t, "stopped", b.Status)
	require.Equal(t, "max_traces_reached", b.Reason.Code)
	require.EqualValues(t, 7, b.Counts.Judged)
	require.EqualValues(t, 7, s.provider.Calls().Paid)
	each := b.Counts.SpentUSD / 7

	b, err = s.StartJudgeBackfill(ctx, r.ID, body(map[string]any{"spendCapUsd": 3.5 * each}))
	require.NoError(t, err)
	b = s.Filled(t, b)
	require.Equal(t, "stopped", b.Status)
	require.Equal(t, "spend_cap_reached", b.Reason.Code)
	require.Contains(t, b.Reason.Message, "the back-fill")
	require.GreaterOrEqual(t, int(b.Counts.Judged), 3)
	require.LessOrEqual(t, int(b.Counts.Judged), 4+s.kit.App.Config.Rule.Width, "calls that are under way are finished")
	require.Less(t, len(s.verdicts(t)), 30)

	_, err = s.UpdateJudgeConfig(ctx, s.judge.ID, map[string]any{"status": "retired"})
	require.NoError(t, err)
	_, err = s.StartJudgeBackfill(ctx, r.ID, body(map[string]any{}))
	require.ErrorIs(t, err, rule.ErrInactive)
}

func TestACapBlocksARule(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"spendCapUsd": 0})
	s.send(t, 5, nil)
	r = s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Skipped == 5 && r.Blocked != nil })
	require.Equal(t, []testkit.RuleReason{{Reason: "spend_cap_reached", Traces: 5}}, r.Counts.SkippedBy)
	require.Equal(t, "spend_cap_reached", r.Blocked.Code)
	require.Contains(t, r.Blocked.Message, `the rule "live"`)
	require.Zero(t, s.provider.Calls().Total)

	_, err := s.UpdateJudgeRule(ctx, r.ID, map[string]any{"spendCapUsd": nil})
	require.NoError(t, err)
	s.send(t, 2, nil)
	r = s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Judged == 2 && r.Blocked == nil })
	require.EqualValues(t, 5, r.Counts.Skipped, "a back-fill is what catches up")
}

func TestABackfillIsCancelled(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: 300 * time.Millisecond}}})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	s.send(t, 200, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.provider.Calls().Paid > 0 }, 10*time.Minute, 20*time.Millisecond)
	require.ErrorIs(t, s.DeleteJudgeRule(ctx, r.ID), rule.ErrInUse)
	b, err = s.CancelJudgeBackfill(ctx, r.ID, b.ID)
	require.NoError(t, err)
	require.Equal(t, "cancelled", b.Status)
	_, err = s.CancelJudgeBackfill(ctx, r.ID, b.ID)
	require.ErrorIs(t, err, rule.ErrBackfillEnded)

	// Its claims go, and what was paid is counted.
	again, err := s.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	require.NoError(t, err)
	again = s.Filled(t, again)
	require.Eventually(t, func() bool {
		b, err = s.GetJudgeBackfill(ctx, r.ID, b.ID)
		return err == nil && b.Counts.Judged > 0
	}, 10*time.Minute, 50*time.Millisecond)
	require.LessOrEqual(t, int(b.Counts.Judged)+int(again.Counts.Judged), 200)
	require.Len(t, s.verdicts(t), int(b.Counts.Judged)+int(again.Counts.Judged))
	require.EqualValues(t, int(b.Counts.Judged)+int(again.Counts.Judged), s.provider.Calls().Paid)
	require.NoError(t, s.DeleteJudgeRule(ctx, r.ID))
	_, err = s.GetJudgeBackfill(ctx, r.ID, b.ID)
	require.ErrorIs(t, err, rule.ErrBackfillNotFound)
}

func TestABackfillGoesOnAfterItsWorker(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Own(t, "its worker goes away"), simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: 500 * time.Millisecond}}})
	r := s.rule(t, map[string]any{"status": "paused"})
	ids := s.send(t, 120, nil)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := s.kit.WorkUntil(ctx)
	b, err := s.StartJudgeBackfill(t.Context(), r.ID, map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.provider.Calls().Paid > 10 }, 10*time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-done)
	before := s.provider.Calls().Paid
	require.Less(t, before, int64(120))

	s.kit.Work(t)
	b = s.Filled(t, b)
	require.Equal(t, "completed", b.Status, b.Reason)
	require.EqualValues(t, 120, b.Counts.Judged, b.Counts)
	require.ElementsMatch(t, ids, s.verdicts(t))
	require.EqualValues(t, 120, s.provider.Calls().Paid, "what is under way when a worker is to stop is waited for and kept")
}

// An attempt that died has left claims: one trace was judged before it could say so.
func TestABackfillFinishesWhatAnAttemptBeganThatDied(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Own(t, "its worker starts later"), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	ids := s.send(t, 10, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	require.NoError(t, err)
	db := s.kit.Owner(t, s.Org)
	for _, id := range ids[:3] {
		_, err = db.Exec(ctx, `INSERT INTO judge_rule_claims (org_id, config_id, config_version, trace_id, rule_id, backfill_id, activation, claimed_at, reason, cost_nano)
			VALUES ($1, $2::text::bigint, 1, decode($3, 'hex'), $4::text::bigint, $5::text::bigint, 0, now() - interval '1 minute', '', 0)`, s.Org.String(), s.judge.ID, id, r.ID, b.ID)
		require.NoError(t, err)
	}
	_, err = s.EvaluateWithJudge(ctx, map[string]any{"configId": s.judge.ID, "traceId": ids[0], "input": "Why?", "output": "So. [[score:1]]"})
	require.NoError(t, err)
	s.kit.Work(t)

	b = s.Filled(t, b)
	require.Equal(t, "completed", b.Status, b.Reason)
	require.EqualValues(t, 10, b.Counts.Judged, b.Counts)
	require.ElementsMatch(t, ids, s.verdicts(t))
	require.EqualValues(t, 10, s.provider.Calls().Paid)
	var left int
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM judge_rule_claims").Scan(&left))
	require.Zero(t, left)
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Shared(t), simulated.Options{})
	ctx := t.Context()
	body := map[string]any{"configId": s.judge.ID, "sampleRate": 0.5, "filter": map[string]any{"environment": "production"}}
	s.send(t, 14, map[string]any{"deployment.environment": "production"})
	s.send(t, 2, nil)
	p, err := s.PreviewJudgeRule(ctx, body)
	require.NoError(t, err)
	require.Equal(t, []int64{14, 0, 0, 0, 0, 0, 0}, p.Days)
	require.InDelta(t, 2, *p.TracesPerDay.Value, 1e-9)
	require.InDelta(t, 1, *p.SampledPerDay.Value, 1e-9)
	require.EqualValues(t, 7, p.TracesPerDay.N)
	require.Nil(t, p.CostPerDayUSD.Value)
	require.Contains(t, *p.CostPerDayUSD.Reason, "no verdict yet")

	var total float64
	for i := range 8 {
		r, err := s.EvaluateWithJudge(ctx, map[string]any{"configId": s.judge.ID, "input": "Why?", "output": strings.Repeat("So. ", 20*i+1) + "[[score:1]]"})
		require.NoError(t, err)
		total += *r.CostUSD
	}
	p, err = s.PreviewJudgeRule(ctx, body)
	require.NoError(t, err)
	require.EqualValues(t, 8, p.CostPerVerdictUSD.N)
	require.InDelta(t, total/8, *p.CostPerDayUSD.Value, 1e-9)
	require.Nil(t, p.CostPerDayUSD.Reason)
	require.NotNil(t, p.CostPerDayUSD.Lower, "%+v %+v", p.SampledPerDay, p.CostPerVerdictUSD)
	require.LessOrEqual(t, *p.CostPerDayUSD.Lower, *p.CostPerDayUSD.Value)
	require.GreaterOrEqual(t, *p.CostPerDayUSD.Upper, *p.CostPerDayUSD.Value)
	require.EqualValues(t, 8, s.provider.Calls().Paid, "a preview asks nothing")
}

func TestRulesBelongToTheirOrganization(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Shared(t), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	b, err := s.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": "2026-01-01T00:00:00Z"})
	require.NoError(t, err)
	them := s.kit.Org(t)
	_, err = them.GetJudgeRule(ctx, r.ID)
	require.ErrorIs(t, err, rule.ErrNotFound)
	_, err = them.UpdateJudgeRule(ctx, r.ID, map[string]any{"status": "active"})
	require.ErrorIs(t, err, rule.ErrNotFound)
	_, err = them.GetJudgeBackfill(ctx, r.ID, b.ID)
	require.ErrorIs(t, err, rule.ErrBackfillNotFound)
	_, err = them.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": "2026-01-01T00:00:00Z"})
	require.ErrorIs(t, err, rule.ErrNotFound)
	_, err = them.CreateJudgeRule(ctx, map[string]any{"key": "live", "configId": s.judge.ID, "sampleRate": 1})
	require.ErrorContains(t, err, "invalid")

	_, err = s.CreateJudgeRule(ctx, map[string]any{"key": "live", "configId": s.judge.ID, "sampleRate": 1})
	require.ErrorIs(t, err, rule.ErrKeyTaken)
	draft, err := s.CreateJudgeConfig(ctx, map[string]any{"key": "draft", "starter": "helpfulness", "provider": "openai", "model": "judge", "status": "draft"})
	require.NoError(t, err)
	_, err = s.CreateJudgeRule(ctx, map[string]any{"key": "draft", "configId": draft.ID, "sampleRate": 1})
	require.ErrorIs(t, err, rule.ErrInactive)
	all, err := s.ListJudgeRules(ctx, "status=active")
	require.NoError(t, err)
	require.Empty(t, all.Rules)
	all, err = s.ListJudgeRules(ctx, "configId="+s.judge.ID)
	require.NoError(t, err)
	require.Equal(t, []testkit.JudgeRule{r}, all.Rules)
}
