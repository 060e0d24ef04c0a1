package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// listed is a list of what each returns.
func listed(n int, each func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = each(i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// colliding is a list whose elements have hashes in one row: Long 7 has the hash of 0.0007.
func colliding(n int) string {
	return listed(n, func(i int) string {
		if i < n/2 {
			return strconv.Itoa(i)
		}
		return fmt.Sprintf("0.%04d", i-n/2)
	})
}

func asking(x string) *Question {
	return &Question{RuntimeKey: "a", ConnectorKey: "c", ToolName: "t", Arguments: jsontext.Value(`{"x":` + x + `}`)}
}

// TestPairs shows how many comparisons the lists of a question can take, and that those that
// take too many are refused before they are made.
func TestPairs(t *testing.T) {
	t.Parallel()
	deep := `1`
	for range 30 {
		deep = `["and",` + deep + `,2]`
	}
	for name, c := range map[string]struct {
		x     string
		pairs int // 0 if it is refused
	}{
		"no list":                  {`{"a":{"b":1}}`, 0},
		"a value":                  {`[1]`, 1},
		"null is nothing":          {`[1,null,2]`, 4},
		"a long list":              {colliding(2048), 2048 * 2048},
		"a longer list":            {colliding(2050), 0},
		"the longest":              {colliding(4000), 0},
		"several long lists":       {`{"a":` + colliding(1000) + `,"b":` + colliding(1000) + `,"c":` + colliding(1000) + `,"d":` + colliding(1000) + `}`, 4 * 1000 * 1000},
		"rows":                     {listed(800, func(i int) string { return fmt.Sprintf(`{"a":%d,"b":2,"c":3}`, i) }), 800 * 800 * 4},
		"lists in a list":          {listed(10, func(int) string { return colliding(10) }), 10*100 + 10*1000},
		"many lists in a list":     {listed(60, func(int) string { return colliding(60) }), 0},
		"lists in each other":      {strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30), 30},
		"an expression that nests": {deep, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := asking(c.x)
			err := q.Check()
			if err != nil {
				require.Zero(t, c.pairs)
				require.ErrorIs(t, err, errLists)
				return
			}
			if c.pairs >= 0 {
				require.Equal(t, c.pairs, q.read.lists.pairs)
			}
			require.LessOrEqual(t, q.read.lists.pairs, maxPairs)
		})
	}
}

// TestListsInPolicies shows that what a policy does with lists counts by their elements.
func TestListsInPolicies(t *testing.T) {
	t.Parallel()
	fits := func(x string, times int, condition string) bool {
		t.Helper()
		q := asking(x)
		q.Context = jsontext.Value(`{"y":` + x + `}`)
		require.NoError(t, q.Check())
		set, err := Compile([]Source{{Key: "p", Mode: Enforce, Text: strings.Repeat("forbid (principal, action, resource) when { "+condition+" };", times)}})
		require.NoError(t, err)
		v := set.Evaluate(*q)
		return len(v.Errors) == 0 || v.Errors[0] != errExpensive.Error()
	}
	for _, condition := range []string{
		`context.arguments.x.containsAll(context.y)`, `context.arguments.x.containsAny(context.y)`, `context.arguments.x == context.y`, `context.arguments.x != context.y`,
		`[context.arguments.x, context.y].contains(1)`,
	} {
		require.True(t, fits(colliding(100), 20, condition), condition)
		require.False(t, fits(colliding(1400), 2, condition), condition)
	}
	require.True(t, fits(colliding(1000), 50, `context.arguments.x.contains(context.arguments)`), "one value meets each element once")
	require.True(t, fits(colliding(1000), 50, `context.arguments.x.contains("refund")`))
	long := listed(1500, func(i int) string { return strconv.Itoa(i) })
	require.True(t, fits(colliding(500), 1, long+`.containsAll(context.arguments.x)`))
	require.False(t, fits(colliding(1400), 1, long+`.containsAll(context.arguments.x)`))
}

// TestAQuestionIsReadOnce shows that what was read of a question serves all that ask it, and
// that none changes it for the next.
func TestAQuestionIsReadOnce(t *testing.T) {
	t.Parallel()
	q := asking(`[1,2]`)
	q.Context = jsontext.Value(`{"side_effect_class":"read","flag":true}`)
	require.NoError(t, q.Check())
	read := q.read
	set, err := Compile([]Source{{Key: "p", Mode: Enforce, Text: `permit (principal, action, resource) when { context.flag && context.side_effect_class == "transact" };`}})
	require.NoError(t, err)
	for class, want := range map[string]Decision{"transact": Allow, "delete": Deny} {
		asked := *q
		asked.SideEffectClass = class
		require.Equal(t, want, set.Evaluate(asked).Decision)
		require.NoError(t, asked.Check())
		require.Same(t, read, asked.read)
	}
	require.Len(t, read.context, 2)
}
