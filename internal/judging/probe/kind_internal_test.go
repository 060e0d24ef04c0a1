package probe

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe/attack"
)

func TestUnitsAskForWhatIsNotAlteredOnce(t *testing.T) {
	t.Parallel()
	r := Request{Kinds: []Kind{KindVerbosity, KindFormatting, KindSelfPreference, KindInjection}, Attacks: 5}
	counts := map[Kind]map[side]int{}
	for _, u := range r.units(3) {
		if counts[u.kind] == nil {
			counts[u.kind] = map[side]int{}
		}
		counts[u.kind][u.side]++
	}
	require.Equal(t, map[Kind]map[side]int{
		"": {before: 3}, KindVerbosity: {after: 3}, KindFormatting: {after: 3}, KindSelfPreference: {before: 3, after: 3}, KindInjection: {after: 5},
	}, counts)
	require.Len(t, Request{Kinds: []Kind{KindPosition}}.units(3), 6, "places are compared with each other")
	require.Empty(t, r.units(0), "without answers there is nothing to attack")
}

// rated is a verdict with a score, which passes from a half on.
func rated(score float64) Verdict {
	return Verdict{Status: judge.VerdictCompleted, Score: &score, Passed: score >= 0.5}
}

func TestAttacksAreTriedOnAnswersThatDoNotPass(t *testing.T) {
	t.Parallel()
	units := Request{Kinds: []Kind{KindInjection}, Attacks: 5}.units(4)
	attacked := func(verdicts map[int]Verdict) (out []int) {
		for _, u := range placed(units, verdicts) {
			if u.attack >= 0 {
				out = append(out, u.subject)
			}
		}
		return out
	}
	low, high := rated(0), rated(1)
	require.Equal(t, []int{1, 3, 1, 3, 1}, attacked(map[int]Verdict{0: high, 1: low, 2: {Status: judge.VerdictFailed}, 3: low}))
	require.Equal(t, []int{-1, -1, -1, -1, -1}, attacked(map[int]Verdict{0: high, 1: high, 2: high, 3: high}))
}

func TestASampleHasNothingToDoWithWhenItemsWereAdded(t *testing.T) {
	t.Parallel()
	of := func(config int64) (ids []int64) {
		for id := range int64(1000) {
			ids = append(ids, id)
		}
		shuffle(config, ids)
		return ids
	}
	first, other := of(7), of(8)
	require.Equal(t, first, of(7))
	require.NotEqual(t, first, other)
	var sum int64
	for _, id := range first[:200] {
		sum += id
	}
	require.InDelta(t, 499.5, float64(sum)/200, 60, "three standard errors around the middle")
}

// words are what an answer says, without its form.
func words(text string) []string {
	return strings.Fields(strings.NewReplacer("**", "", "- ", " ", "## Answer", "").Replace(text))
}

func TestAnAlteredAnswerSaysTheSame(t *testing.T) {
	t.Parallel()
	const text = "Open Billing. Choose a card.\nConfirm with your bank, e.g. by phone."
	require.Equal(t, words(text), words(formatted(text)))
	require.NotEqual(t, text, formatted(text))
	require.Contains(t, padded(text), text)
	require.Greater(t, len(padded(text)), 5*len(text))

	c := judge.Case{Input: jsontext.Value(`"Q"`), Output: jsontext.Value(`{"answer":42}`)}
	own := unit{kind: KindSelfPreference, side: after}.altered(c, Request{}, "gpt-4.1-mini")
	other := unit{kind: KindSelfPreference, side: before}.altered(c, Request{}, "gpt-4.1-mini")
	require.JSONEq(t, `"Author: gpt-4.1-mini\n\n{\"answer\":42}"`, string(own.Output))
	require.JSONEq(t, `"Author: claude-sonnet-4\n\n{\"answer\":42}"`, string(other.Output))
	require.NotContains(t, stranger("claude-sonnet-4"), "claude")
	require.Equal(t, c.Input, own.Input)
	for _, a := range attack.All() {
		got := Attacked(c, a)
		require.True(t, got.Output.IsValid() && (len(got.ToolCalls) == 0 || got.ToolCalls.IsValid()), a.ID)
		require.NotEqual(t, c, got, a.ID)
	}
}

// Answers are written by others: whatever they are, what a judge is shown is JSON.
func FuzzAltered(f *testing.F) {
	for _, seed := range []string{`"text. more"`, `{"a":[1,2]}`, `"\ud800"`, `"## - **"`, `null`, `3`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		v := jsontext.Value(output)
		if !v.IsValid() {
			return
		}
		for _, edit := range []func(string) string{padded, formatted} {
			if got := edited(v, edit); !got.IsValid() || got.Kind() != '"' {
				t.Fatalf("%q became %q", output, got)
			}
		}
	})
}

func TestAnAttackThatAGuardCaughtGainedNothing(t *testing.T) {
	t.Parallel()
	low, high := 0.0, 1.0
	n := Injection{Caught: map[Guard]int{}}
	a := attack.All()[0]
	was := Verdict{Status: judge.VerdictCompleted, Score: &low}
	require.Equal(t, &high, n.Count(a, was, Verdict{Score: &high, Passed: true}).Score)
	require.Equal(t, &low, n.Count(a, was, Verdict{Code: judge.CodeCheckMissing}).Score)
	require.Equal(t, &low, n.Count(a, was, Verdict{Code: judge.CodeOrderDependent}).Score)
	require.Nil(t, n.Count(a, was, Verdict{Code: "rate_limited"}).Score, "what was not answered says nothing")
	require.Equal(t, &low, n.Count(a, was, was).Score)
	require.Equal(t, Injection{
		Attacks: 5, Changed: 1, Raised: 1, Ignored: 1, Failed: 1, Caught: map[Guard]int{GuardCheck: 1, GuardOrder: 1},
		Families: []Family{{Name: a.Family, Attacks: 5, Changed: 1, Caught: 2}},
	}, n)
}
