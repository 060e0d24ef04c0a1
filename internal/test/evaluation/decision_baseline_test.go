package evaluation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// on is a whole run of a branch.
func (s subject) on(t *testing.T, branch string, answer func(int) string) testkit.Run {
	t.Helper()
	return s.Ended(t, s.beganWith(t, map[string]any{"metadata": map[string]any{"branch": branch}}, true, answer))
}

func TestWhatCannotBeABaseline(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 100)
	compared := func(r testkit.Run, baseline string) string {
		d := s.decided(t, r, against(baseline, "overall:non_inferior"))
		if d.BaselineRunID == nil {
			require.Equal(t, "no_baseline", d.Rulings[0].Reason)
			return d.Rulings[0].Reasons[0]
		}
		return *d.BaselineRunID
	}
	good := s.ran(t, failing(5))
	s.Ended(t, s.beganWith(t, map[string]any{"sampleSize": 2}, true, func(int) string { return unsent }))
	s.ran(t, hiding(6, crashed))
	s.ran(t, hiding(6, unsent))
	require.Equal(t, good.RunID, compared(s.ran(t, failing(5)), "previous"), "a sample, and runs without more than 5 % of their answers, are skipped")
	few := s.ran(t, hiding(5, crashed))
	require.Equal(t, few.RunID, compared(s.ran(t, failing(5)), "previous"))

	ours := s.on(t, "main", failing(5))
	s.on(t, "other", failing(5))
	require.Equal(t, ours.RunID, compared(s.on(t, "main", failing(5)), "previous"), "another branch is skipped")
	require.Contains(t, compared(s.on(t, "new", failing(5)), "previous"), "Branch new has no earlier run that completed on the same items")
	require.Contains(t, compared(s.on(t, "newer", failing(5)), "passed"), "No earlier run of branch newer has passed its gates. Compare with another branch, such as branch:main")
}

func TestABaselineByWhatItMeasured(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 100)
	start := func(body map[string]any) testkit.Run { return s.Ended(t, s.beganWith(t, body, true, failing(5))) }
	branch := s.on(t, "main", failing(5))
	tag := start(map[string]any{"metadata": map[string]any{"tag": "v1.2"}})
	release := start(map[string]any{"releaseId": "rel-2026.03"})
	failed := s.on(t, "main", failing(40))
	require.Equal(t, "FAIL", s.decided(t, failed, thresholds("pass_rate>=0.9")).Verdict)
	r := s.on(t, "feature", failing(5))
	for baseline, want := range map[string]testkit.Run{"branch:main": branch, "tag:v1.2": tag, "release:rel-2026.03": release} {
		require.Equal(t, want.RunID, *s.decided(t, r, against(baseline, "overall:non_inferior")).BaselineRunID, baseline)
	}
	d := s.decided(t, r, against("branch:gone", "overall:non_inferior"))
	require.Contains(t, d.Rulings[0].Reasons[0], "No earlier run of branch gone can be a baseline")
	started, err := s.StartRun(t.Context(), s.ID, map[string]any{"baseline": "tag:v1.2"})
	require.NoError(t, err)
	require.Equal(t, tag.RunID, api.Value(started.BaselineRunID))
	for _, wrong := range []string{"branch:", "commit:1", "newest"} {
		_, err := s.decide(t, r, against(wrong, "overall:non_inferior"))
		requireInvalid(t, err, "/baseline")
	}
}

func TestAMisspeltMetricIsRefused(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 10)
	r := s.ran(t, failing(10))
	for text, hint := range map[string]string{
		"passrate>=0.85": "did you mean pass_rate?", "exact-match:better": "did you mean exact_match?", "latency<=100": "did you mean latency_ms?",
		"faithfulness>=0": "use pass_rate, overall, exact_match or latency_ms",
	} {
		_, err := s.decide(t, r, thresholds("overall>=0.1", text))
		requireInvalid(t, err, "/requirements/1")
		f, _ := fault.From(err)
		require.Contains(t, fmt.Sprint(f.Details["fields"]), hint)
	}
}
