package pattern_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/pattern"
)

// form is what every policy looks like around its condition.
var form = regexp.MustCompile(`^(?:@[a-z_]+\("(?:[^"\\]|\\.)*"\)\n)+(permit|forbid) \(principal, action == Action::"tool\.call", resource\)\nwhen \{\n((?s:.+))\n\};\n$`)

// TestPolicies shows that each policy is one Cedar policy, says what its rule says, and
// reads what policies are given.
func TestPolicies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		permits := false
		for _, r := range one.RecommendedRules {
			parts := form.FindStringSubmatch(r.Policy)
			require.NotNil(t, parts, r.Policy)
			require.Equal(t, r.Effect == pattern.Permit, parts[1] == "permit", r.ID)
			require.Equal(t, 1, strings.Count(r.Policy, `@id("`+r.ID+`")`), r.ID)
			require.Equal(t, r.Effect == pattern.RequireApproval, strings.Contains(r.Policy, `@effect("require_approval")`), r.ID)
			require.NotEmpty(t, r.Why)
			require.Less(t, len(r.Policy), 10_000)
			balanced(t, parts[2])
			reads(t, parts[2])
			permits = permits || r.Effect == pattern.Permit
		}
		require.True(t, permits, "without a permit everything is denied")
	})
}

var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// balanced shows that brackets close in the order they open, and texts end.
func balanced(t *testing.T, condition string) {
	t.Helper()
	plain := literal.ReplaceAllString(condition, "")
	require.NotContains(t, plain, `"`)
	var open []rune
	for _, c := range plain {
		if i := strings.IndexRune(")]}", c); i >= 0 {
			require.NotEmpty(t, open, condition)
			require.Equal(t, rune("([{"[i]), open[len(open)-1], condition)
			open = open[:len(open)-1]
		}
		if strings.ContainsRune("([{", c) {
			open = append(open, c)
		}
	}
	require.Empty(t, open, condition)
}

var (
	attribute = regexp.MustCompile(`\bcontext(?:\.| has )([a-z_]+)`)
	argument  = regexp.MustCompile(`\bcontext\.arguments\.([a-z_]+)`)
	given     = []string{"side_effect_class", "connector_key", "tool_name", "arguments"}
)

// reads shows that a condition reads attributes that exist, and asks first whether one
// that may be missing is there: in Cedar, reading what is missing is an error, which
// voids a permit, and makes a forbid deny for a reason that helps no reader.
func reads(t *testing.T, condition string) {
	t.Helper()
	for _, m := range attribute.FindAllStringSubmatch(condition, -1) {
		require.Contains(t, pattern.Attributes, m[1], condition)
		if !slices.Contains(given, m[1]) {
			require.Contains(t, condition, "context has "+m[1], condition)
		}
	}
	for _, m := range argument.FindAllStringSubmatch(condition, -1) {
		has, read := strings.Index(condition, "context.arguments has "+m[1]), strings.Index(condition, m[0])
		require.GreaterOrEqual(t, has, 0, "%s: %s", m[0], condition)
		require.Less(t, has, read, "%s: %s", m[0], condition)
	}
}

// TestUndone shows that a compensation is something that the policies speak of: it
// passes them like any other call.
func TestUndone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		var text strings.Builder
		for _, r := range one.RecommendedRules {
			if r.Effect != pattern.Forbid {
				text.WriteString(r.Policy)
			}
		}
		every := strings.Contains(text.String(), `@id("review-every-write")`)
		for _, s := range one.Simulation.Plan {
			if s.Compensation != nil && !every {
				require.Contains(t, text.String(), `"`+s.Compensation.ToolName+`"`)
			}
		}
	})
}
