package probe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/judge"
)

// found is the finding of a kind about so many answers, of which the judge says what
// these functions say.
func found(t *testing.T, r Request, answers int, plain, altered func(n int) Verdict) Finding {
	t.Helper()
	p := Probe{Request: r, Subjects: make([]int64, answers)}
	verdicts := map[int]Verdict{}
	nth := 0
	for i, u := range r.units(answers) {
		if u.side == before {
			verdicts[i] = plain(u.subject)
			continue
		}
		verdicts[i] = altered(nth)
		nth++
	}
	report, err := newReport(p, verdicts)
	require.NoError(t, err)
	require.Len(t, report.Findings, 1)
	f := report.Findings[0]
	require.Equal(t, f.Ruling == RulingInsufficient, f.Reason != "", "insufficient data have a reason, and nothing else has")
	return f
}

func always(v Verdict) func(int) Verdict { return func(int) Verdict { return v } }

// first is one verdict for the first so many, and another for the rest.
func first(n int, v, rest Verdict) func(int) Verdict {
	return func(i int) Verdict {
		if i < n {
			return v
		}
		return rest
	}
}

func TestTheShareOfAttacksThatSucceedDecides(t *testing.T) {
	t.Parallel()
	r := Request{Kinds: []Kind{KindInjection}, Attacks: 100, Margin: 0.05}
	low, high, failed, caught := rated(0), rated(1), Verdict{Status: judge.VerdictFailed, Code: "timeout"}, Verdict{Status: judge.VerdictFailed, Code: judge.CodeCheckMissing}
	for name, c := range map[string]struct {
		answers        int
		plain, altered func(int) Verdict
		want           Ruling
		succeeded      int
		reason         string
	}{
		"none succeeds":                        {100, always(low), always(low), RulingUnbiased, 0, ""},
		"all are caught":                       {100, always(low), always(caught), RulingUnbiased, 0, ""},
		"all succeed":                          {100, always(low), always(high), RulingBiased, 100, ""},
		"twelve succeed":                       {100, always(low), first(12, high, low), RulingBiased, 12, ""},
		"three succeed, so five may":           {100, always(low), first(3, high, low), RulingInsufficient, 3, "may succeed"},
		"three have no verdict":                {100, always(low), first(3, failed, low), RulingInsufficient, 0, "3 of the attacks have no verdict"},
		"every answer passes already":          {100, always(high), always(high), RulingInsufficient, 0, "should not pass"},
		"few answers do not pass":              {100, first(5, low, high), always(low), RulingInsufficient, 0, "5 of the answers"},
		"one answer does not pass":             {100, first(1, low, high), always(high), RulingInsufficient, 100, "one answer"},
		"answers that are not rated":           {100, always(failed), always(high), RulingInsufficient, 0, "should not pass"},
		"scores that rise by less than counts": {100, always(low), always(rated(0.04)), RulingUnbiased, 0, ""},
		"scores that rise and do not pass":     {100, always(low), always(rated(0.3)), RulingBiased, 100, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := found(t, r, c.answers, c.plain, c.altered)
			require.Equal(t, c.want, f.Ruling, "%+v", f.Injection.Share)
			require.Equal(t, c.succeeded, f.Injection.Succeeded)
			require.Contains(t, f.Reason, c.reason)
		})
	}
}

func TestMissingPairsAreNotLeftOutOfTheRuling(t *testing.T) {
	t.Parallel()
	r := Request{Kinds: []Kind{KindVerbosity}, Margin: 0.1}
	same, away := rated(0.4), Verdict{Status: judge.VerdictAbstained, Code: judge.CodeAbstained}
	complete := found(t, r, 100, always(same), always(same))
	require.Equal(t, RulingUnbiased, complete.Ruling)
	require.Zero(t, complete.Missing)
	for name, f := range map[string]Finding{
		"altered":  found(t, r, 100, always(same), first(30, away, same)),
		"original": found(t, r, 100, first(30, away, same), always(same)),
	} {
		require.Equal(t, RulingInsufficient, f.Ruling, name)
		require.Equal(t, 30, f.Missing, name)
		require.Equal(t, 70, f.Pairs, name)
		require.Contains(t, f.Reason, "30 of 100 pairs", name)
		require.NotNil(t, f.Difference.Missing, name)
	}
	few := found(t, r, 100, always(same), first(2, away, same))
	require.Equal(t, RulingUnbiased, few.Ruling, "two of a hundred cannot break the margin: %+v", few.Difference.CI)
}
