package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	statement := "forbid (principal, action, resource);"
	approval := `@effect("require_approval") `
	for name, c := range map[string]struct{ text, problem string }{
		"nothing":                         {"  // only a comment\n", "1:1: the text has no statement; write at least one permit or forbid"},
		"not Cedar":                       {"allow everyone", `1:1: unexpected effect: allow, at "allow"`},
		"a word that is wrong":            {"permit (principal, action, resource)\nwen { true };", `2:1: found "wen" where ";" is expected`},
		"a missing end":                   {"permit (principal, action, resource)", `1:37: found the end of the text where ";" is expected`},
		"an expression that is wrong":     {"permit (principal, action, resource)\nwhen { 1 + };", `2:12: "}" cannot stand here`},
		"a function that does not exist":  {"permit (principal, action, resource)\nwhen { now() };", "2:11: `now` is not a function, at \"(\""},
		"a text that does not end":        {"permit (principal, action, resource)\nwhen { context.a == \"b };", "1:1: "},
		"an id twice":                     {`@id("a") ` + statement + "\n\n  " + `@id("a") ` + statement, `3:3: @id: another statement of this policy has the id "a"`},
		"an id like the default":          {statement + "\n" + `@id("rule1") ` + statement, `2:1: @id: another statement of this policy has the id "rule1"`},
		"an id with blanks":               {`@id("a b") ` + statement, "1:1: @id: an id has up to 100 letters"},
		"an unknown effect":               {`@effect("audit") ` + statement, `1:1: @effect: the only effect is "require_approval"`},
		"a permit that requires":          {approval + "permit (principal, action, resource);", "1:1: @effect: only a forbid can require an approval"},
		"groups without approval":         {`@approver_groups("admin") ` + statement, `1:1: @approver_groups: only a statement with @effect("require_approval") has it`},
		"a group that cannot be":          {approval + "\n" + `@approver_groups("admin, Finance Team") ` + statement, `2:1: @approver_groups: "Finance Team" is neither a role (owner, admin, member, annotator, viewer) nor the id of a user`},
		"no approvals":                    {approval + `@min_approvals("0") ` + statement, `1:29: @min_approvals: "0" is not a number from 1 to 5`},
		"too many approvals":              {approval + `@min_approvals("6") ` + statement, "@min_approvals"},
		"too much time":                   {approval + `@expires_in("2592001") ` + statement, "is not a number of seconds from 1 to 2592000"},
		"an empty reason":                 {`@reason ` + statement, "1:1: @reason: a reason has 1 to 1000 bytes"},
		"an unknown obligation":           {approval + `@obligations("log_full, pray") ` + statement, `"pray" is none of redact_arguments, `},
		"an obligation of a forbid":       {`@obligations("log_full") ` + statement, "1:1: @obligations: a forbid cannot have obligations"},
		"a parameter without value":       {approval + `@obligations("limit(5)") ` + statement, `limit: "5" is not a parameter of the form name=value`},
		"a fact without a name":           {`@history("count(a/b, 1h)") ` + statement, "is not of the form name = count(connector/tool, 24h)"},
		"a fact that cannot be":           {`@history("n = median(a/b, 1h)") ` + statement, `n: "median(a/b, 1h)" is not one of count(`},
		"a fact of no tool":               {`@history("n = count(payments, 1h)") ` + statement, `n: "payments" is not a tool of the form connector/tool`},
		"a sum of nothing":                {`@history("n = sum(a/b, 1h)") ` + statement, "n: sum takes 3 parameters, not 2"},
		"a window that is none":           {`@history("n = count(a/b, soon)") ` + statement, `n: "soon" is not a window such as 30m, 24h or 7d`},
		"a window that is too short":      {`@history("n = count(a/b, 0m)") ` + statement, "is not a window from 1m to 30d"},
		"a window that is too long":       {`@history("n = count(a/b, 31d)") ` + statement, "is not a window from 1m to 30d"},
		"one fact with two meanings":      {`@history("n = count(a/b, 1h)") ` + statement + `@history("n = count(a/b, 2h)") ` + statement, "1:69: @history: n means something else"},
		"too many facts":                  {`@history("` + facts(9) + `") ` + statement, "n9 is one too many: a policy has at most 8 facts"},
		"too many statements":             {strings.Repeat(statement+"\n", 51), "51:1: the text has 51 statements; a policy has at most 50"},
		"too long":                        {statement + strings.Repeat(" ", 10241), "1:1: the text has 10278 bytes; a policy has at most 10240"},
		"brackets inside brackets":        {nested("(", ")", 33), "too deep: at most 32 brackets"},
		"sets inside sets":                {nested("[", "]", 33), "too deep: at most 32 brackets"},
		"ifs inside ifs":                  {"permit (principal, action, resource) when { " + strings.Repeat("if true then true else ", 33) + "true };", "too deep: at most 32 ifs"},
		"signs":                           {"permit (principal, action, resource) when { " + strings.Repeat("!", 9) + "true };", "too deep: at most 8 signs"},
		"a path of many attributes":       {"permit (principal, action, resource) when { context has a" + strings.Repeat(".a", 33) + " };", "too deep: at most 32 attributes"},
		"an action that is none":          {statement + "\n" + `permit (principal, action == Tool::"x", resource);`, `2:1: the action of this statement is Tool::"x", which is not of type Action`},
		"a template":                      {"permit (principal == ?principal, action, resource);", "1:"},
		"a byte that is not UTF-8":        {statement + "\xff", "1:1: the text is not valid UTF-8"},
		"columns are counted in letters":  {"permit (principal, action, resource) when { \"ééé\" == };", `1:54: "}" cannot stand here`},
		"an annotation that stands twice": {`@reason("a") @reason("b") ` + statement, "duplicate annotation: @reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, problems := engine.Parse(c.text)

			require.NotEmpty(t, problems)
			require.Contains(t, problems[0].String(), c.problem)
		})
	}
}

func facts(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, "n"+string(rune('1'+i))+" = count(a/b, 1h)")
	}
	return strings.Join(parts, "; ")
}

func nested(open, end string, n int) string {
	return "permit (principal, action, resource) when { " + strings.Repeat(open, n) + "1" + strings.Repeat(end, n) + " == 1 };"
}

// TestEveryProblemIsReported shows that one problem does not hide the next.
func TestEveryProblemIsReported(t *testing.T) {
	t.Parallel()

	_, problems := engine.Parse("@effect(\"x\")\n@reason(\"\")\nforbid (principal, action, resource);\n@id(\"?\") permit (principal, action, resource);")

	require.Len(t, problems, 3)
	require.Equal(t, []int{1, 2, 4}, []int{problems[0].Line, problems[1].Line, problems[2].Line})
}

func TestUnknownAnnotationsAreTheAuthors(t *testing.T) {
	t.Parallel()

	p, problems := engine.Parse(`@severity("high") @control("SOC2-7.1") permit (principal, action, resource);`)

	require.Empty(t, problems)
	require.Equal(t, "rule1", p.Statements[0].ID)
	require.Equal(t, engine.Permit, p.Statements[0].Effect)
}
