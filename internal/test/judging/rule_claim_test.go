package judging_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// settled leaves the claim of an attempt of a back-fill that died after the verdict.
func (s scene) settled(t testing.TB, db *pgx.Conn, b testkit.JudgeBackfill, trace string) {
	t.Helper()
	_, err := db.Exec(t.Context(), `INSERT INTO judge_rule_claims (org_id, config_id, config_version, trace_id, rule_id, backfill_id, activation, claimed_at, outcome, reason, cost_nano)
		VALUES ($1, $2::text::bigint, 1, decode($3, 'hex'), $4::text::bigint, $5::text::bigint, 0, now(), 'judged', '', 5)`, s.Org.String(), s.judge.ID, trace, b.RuleID, b.ID)
	require.NoError(t, err)
}

// lastHour is a back-fill of all that a test has sent.
func lastHour() map[string]any {
	return map[string]any{"from": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}
}

func TestADeletedTraceDoesNotHoldUpABackfill(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Own(t, "its worker starts later"), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	ids := s.send(t, 4, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
	require.NoError(t, err)
	s.settled(t, s.kit.Owner(t, s.Org), b, ids[0])
	err = s.DeleteTrace(ctx, ids[0])
	require.NoError(t, err)
	s.kit.Work(t)

	b = s.Filled(t, b)
	require.Equal(t, "completed", b.Status, b.Reason)
	require.EqualValues(t, 4, b.Counts.Judged, "what was paid is counted")
	require.EqualValues(t, 3, s.provider.Calls().Paid)
	require.ElementsMatch(t, ids[1:], s.verdicts(t))
}

// A deletion removes what is older than itself, so the verdict has to be.
func TestAVerdictIsAsOldAsWhatWasRead(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: 2 * time.Second}}})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	ids := s.send(t, 1, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.provider.Calls().Total > 0 }, 10*time.Minute, 10*time.Millisecond)
	err = s.DeleteTrace(ctx, ids[0])
	require.NoError(t, err)
	b = s.Filled(t, b)
	require.EqualValues(t, 1, b.Counts.Judged, b.Counts)

	var deleted time.Time
	require.NoError(t, s.kit.Owner(t, s.Org).QueryRow(ctx, "SELECT requested_at FROM trace_deletions").Scan(&deleted))
	var all struct {
		Results []struct {
			CreatedAt time.Time `json:"created_at"`
		} `json:"results"`
	}
	_, err = s.Call(ctx, http.MethodGet, "/api/llm-judge/results?configId="+s.judge.ID, nil, &all)
	require.NoError(t, err)
	for _, r := range all.Results { // none, if it is removed already
		require.True(t, r.CreatedAt.Before(deleted), "%s, and the trace was deleted at %s", r.CreatedAt, deleted)
	}
}

// An attempt that was given up finishes after its successor has counted the step.
func TestAnAttemptThatWasGivenUpLeavesTheClaims(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: time.Second}}})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	s.send(t, 6, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.provider.Calls().Total > 0 }, 10*time.Minute, 10*time.Millisecond)
	_, err = s.kit.Owner(t, s.Org).Exec(ctx, "UPDATE judge_rule_backfills SET step = step + 1")
	require.NoError(t, err)

	b = s.Filled(t, b)
	require.Equal(t, "completed", b.Status, b.Reason)
	require.EqualValues(t, 6, b.Matched)
	require.EqualValues(t, 6, b.Counts.Judged, b.Counts)
	require.Zero(t, b.Counts.Skipped, b.Counts)
	require.EqualValues(t, 6, s.provider.Calls().Paid)
}

func TestClaimsAreHeldUntilTheirResultsCanBeRead(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Own(t, "its worker starts later"), simulated.Options{})
	ctx := t.Context()
	r := s.rule(t, map[string]any{"status": "paused"})
	ids := s.send(t, 3, nil)
	b, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
	require.NoError(t, err)
	db := s.kit.Owner(t, s.Org)
	s.settled(t, db, b, ids[0])
	_, err = s.CancelJudgeBackfill(ctx, r.ID, b.ID)
	require.NoError(t, err)
	s.kit.Work(t)
	// As many back-fills one after the other give the first one's last step time enough.
	for range 3 {
		again, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
		require.NoError(t, err)
		again = s.Filled(t, again)
		require.Equal(t, "completed", again.Status, again.Reason)
	}
	require.EqualValues(t, 2, s.provider.Calls().Paid, "the verdict about the first trace is on its way")

	_, err = s.EvaluateWithJudge(ctx, map[string]any{"configId": s.judge.ID, "traceId": ids[0], "input": "Why?", "output": "So. [[score:1]]"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b, err = s.GetJudgeBackfill(ctx, r.ID, b.ID)
		return err == nil && b.Counts.Judged == 1
	}, 10*time.Minute, 50*time.Millisecond)
	var left int
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM judge_rule_claims").Scan(&left))
	require.Zero(t, left)
}

func TestOnlyABackfillAsksAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Working(t), simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultRefusal}}}})
	ctx := t.Context()
	r := s.rule(t, nil)
	ids := s.send(t, 1, nil)
	s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Failed == 1 })
	each := s.provider.Calls().Total

	// A late span and another trace arrive together, and are looked at together.
	late := testkit.OTLPSpan{Trace: ids[0], Parent: testkit.NewSpanID(), Name: "late", Start: time.Now(), Duration: time.Second}
	other := testkit.OTLPSpan{Trace: testkit.NewTraceID(), Name: "answer", Start: time.Now(), Duration: time.Second, Attributes: map[string]any{"input.value": "question 0", "output.value": "answer"}}
	s.SendOTLP(t, testkit.Spans(late, other))
	r = s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Failed >= 2 })
	require.EqualValues(t, 2, r.Counts.Failed, r.Counts)
	require.Equal(t, 2*each, s.provider.Calls().Total)

	b, err := s.StartJudgeBackfill(ctx, r.ID, lastHour())
	require.NoError(t, err)
	b = s.Filled(t, b)
	require.EqualValues(t, 2, b.Counts.Failed, b.Counts)
	require.Equal(t, 4*each, s.provider.Calls().Total)
}

func TestRequestsAtTheSameTimeKeepTheLimits(t *testing.T) {
	t.Parallel()
	s := set(t, testkit.Shared(t), simulated.Options{})
	ctx := t.Context()
	// made calls a request for each number at the same time.
	made := func(n int, refusal error, request func(i int) error) (ok int) {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = request(i) })
		}
		wg.Wait()
		for _, err := range errs {
			if err == nil {
				ok++
			} else if !errors.Is(err, refusal) {
				require.NoError(t, err)
			}
		}
		return ok
	}
	ids := make([]string, 60)
	ok := made(len(ids), rule.ErrManyRules, func(i int) error {
		r, err := s.CreateJudgeRule(ctx, map[string]any{"key": fmt.Sprint("r", i), "configId": s.judge.ID, "sampleRate": 1})
		ids[i] = r.ID
		return err
	})
	require.Equal(t, 50, ok)
	var rules []string
	for _, id := range ids {
		if id != "" {
			rules = append(rules, id)
		}
	}
	ok = made(40, rule.ErrManyBackfills, func(i int) error {
		_, err := s.StartJudgeBackfill(ctx, rules[i], lastHour())
		return err
	})
	require.Equal(t, 20, ok)
}
