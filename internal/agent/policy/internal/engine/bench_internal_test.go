package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// busy is a set of n policies, of which a question about payments/refund concerns ten.
func busy(tb testing.TB, n int) (*Set, Question) {
	tb.Helper()
	sources := make([]Source, n)
	for i := range sources {
		connector, tool := "payments", "refund"
		if i >= 10 {
			connector, tool = fmt.Sprintf("connector-%d", i%100), fmt.Sprintf("tool-%d", i)
		}
		sources[i] = Source{Key: fmt.Sprintf("p%04d", i), Version: 1, Mode: Enforce, Text: fmt.Sprintf(
			`forbid (principal, action == Action::"tool.call", resource)
when { context.connector_key == %q && context.tool_name == %q && context has amount && context.amount.greaterThan(decimal("%d.0")) };
permit (principal, action == Action::"tool.call", resource)
when { context.connector_key == %q && [%q].contains(context.tool_name) };`, connector, tool, 1000+i, connector, tool)}
	}
	set, err := Compile(sources)
	require.NoError(tb, err)
	return set, Question{
		RuntimeKey: "agent", ConnectorKey: "payments", ToolName: "refund", Environment: "production", SideEffectClass: "transact",
		Arguments: []byte(`{"order":"A-17","amount":"240.00","currency":"EUR"}`),
	}
}

// BenchmarkEvaluate shows that a decision costs what concerns it: with a hundred times
// the policies it takes less than three times as long.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{10, 1000} {
		set, q := busy(b, n)
		b.Run(fmt.Sprintf("policies=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if set.Evaluate(q).Decision != Allow {
					b.Fatal("not allowed")
				}
			}
		})
	}
}

// TestOtherPoliciesCostNothing shows the same without a clock: policies about other
// tools are not even looked at.
func TestOtherPoliciesCostNothing(t *testing.T) {
	t.Parallel()
	set, q := busy(t, 1000)

	require.Len(t, set.candidates(&q), 20)
	require.Equal(t, Allow, set.Evaluate(q).Decision)
}

// TestErrorsAreBounded shows that policies that quote a long text of the question in their
// errors cost little, and say little.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	question := Question{RuntimeKey: "a", ToolName: "t", Context: fmt.Appendf(nil, `{"a":%q}`, strings.Repeat("x", 100<<10))}
	sources := func(policies, statements int) (all []Source) {
		for i := range policies {
			all = append(all, Source{Key: fmt.Sprintf("p%d", i), Version: 1, Mode: Enforce, Text: strings.Repeat("forbid (principal, action, resource) when { ip(context.a).isIpv4() };\n", statements)})
		}
		return all
	}
	set, err := Compile(sources(30, 50))
	require.NoError(t, err)
	v := set.Evaluate(question)
	require.Equal(t, Deny, v.Decision)
	require.Equal(t, []string{errExpensive.Error()}, v.Errors)

	set, err = Compile(sources(2, 50))
	require.NoError(t, err)
	v = set.Evaluate(question)
	require.Equal(t, Deny, v.Decision)
	require.Len(t, v.Reasons, maxTold)
	require.Len(t, v.Errors, maxTold+1)
	require.Less(t, len(strings.Join(v.Errors, "")), maxTold*2*maxMessage)
}
