package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything answers a question without the index, and without looking at what statements
// depend on: in each form, all that restrict are asked.
func (s *Set) everything(q Question) Verdict {
	return s.evaluate(q, func(f *form) (all []*statement) {
		for _, st := range s.statements {
			if st.applies(&q) && (f.replaced == 0 || st.restricts()) {
				all = append(all, st)
			}
		}
		return all
	})
}

// plain leaves out the words of errors: of two mistakes in one record Cedar reports
// either.
func plain(v Verdict) Verdict {
	for i, e := range v.Errors {
		v.Errors[i], _, _ = strings.Cut(e, ":")
	}
	for i := range v.Reasons {
		v.Reasons[i].Message = ""
	}
	return v
}

// TestIndex shows that the index changes no verdict: not a reason, not an error, not
// what policies in shadow would have done.
func TestIndex(t *testing.T) {
	t.Parallel()
	decisions, errored, skipped := map[Decision]int{}, 0, 0
	for seed := range uint64(1500) {
		r := newRandom(seed)
		var sources []Source
		for i := range 1 + r.IntN(8) {
			mode := Enforce
			if r.chance(25) {
				mode = Shadow
			}
			sources = append(sources, Source{Key: fmt.Sprintf("p%d", i), Version: 1, Mode: mode, AppliesTo: r.appliesTo(), Text: r.policy()})
		}
		set, err := Compile(sources)
		require.NoError(t, err, "%+v", sources)
		for range 5 {
			q := r.question()
			q.ApprovalSatisfied = r.chance(30)

			want, got := plain(set.everything(q)), plain(set.Evaluate(q))

			require.Equal(t, want, got, "seed %d\n%+v\n%+v", seed, sources, q)
			decisions[got.Decision]++
			errored += len(got.Errors)
			skipped += len(set.statements) - len(set.candidates(&q))
		}
	}
	require.Greater(t, decisions[Allow], 500)
	require.Greater(t, decisions[Deny], 500)
	require.Greater(t, errored, 500)
	require.Greater(t, skipped, 5000, "the index leaves statements out")
}

// TestOnlyWhatCannotFailIsIndexed shows where the index stops: after something that can
// fail, a comparison that is false no longer makes the statement false.
func TestOnlyWhatCannotFailIsIndexed(t *testing.T) {
	t.Parallel()
	q := Question{ConnectorKey: "payments", ToolName: "refund"}
	for text, candidate := range map[string]bool{
		`forbid (principal, action, resource) when { context.tool_name == "other" && context.missing };`:                              false,
		`forbid (principal, action, resource) when { context.missing && context.tool_name == "other" };`:                              true,
		`forbid (principal, action, resource) when { context.connector_key == "payments" && context.tool_name == "other" };`:          false,
		`forbid (principal, action, resource) when { context.connector_key == "payments" } when { context.tool_name == "other" };`:    false,
		`forbid (principal, action, resource) when { context.missing } when { context.tool_name == "other" };`:                        true,
		`forbid (principal, action, resource) unless { context.tool_name == "refund" };`:                                              true,
		`forbid (principal, action, resource) when { context.tool_name == "other" || true };`:                                         true,
		`forbid (principal, action, resource == Tool::"crm/lookup") when { context.missing };`:                                        false,
		`forbid (principal, action == Action::"read", resource) when { context.missing };`:                                            false,
		`forbid (principal, action, resource) when { context.currency == "EUR" && context.tool_name == "other" };`:                    true,
		`forbid (principal, action, resource) when { ["a", "b"].contains(context.tool_name) };`:                                       false,
		`forbid (principal, action, resource) when { ["a", context.missing].contains(context.tool_name) };`:                           true,
		`forbid (principal, action, resource) when { context.tool_name == "refund" && context.missing && context.tool_name == "x" };`: true,
	} {
		set, err := Compile([]Source{{Key: "p", Text: text}})
		require.NoError(t, err)
		require.Equal(t, candidate, len(set.candidates(&q)) == 1, text)
		require.Equal(t, set.everything(q), set.Evaluate(q), text)
	}
}

// TestWithManyKeys shows that a policy for more keys than the index lists is still found.
func TestWithManyKeys(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("k%d", i))
	}
	set, err := Compile([]Source{{Key: "p", AppliesTo: AppliesTo{ConnectorKeys: keys, RuntimeKeys: keys[:60]}, Text: `permit (principal, action, resource);`}})
	require.NoError(t, err)

	require.Equal(t, Allow, set.Evaluate(Question{ConnectorKey: "k99", RuntimeKey: "k7"}).Decision)
	require.Equal(t, Deny, set.Evaluate(Question{ConnectorKey: "k99", RuntimeKey: "k60"}).Decision)
	require.Equal(t, Deny, set.Evaluate(Question{ConnectorKey: "k100", RuntimeKey: "k7"}).Decision)
}
