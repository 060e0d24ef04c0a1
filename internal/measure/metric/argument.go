package metric

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

const (
	argumentsExpected = "expected"
	argumentsExact    = "exact"
	argumentsIgnore   = "ignore"
)

func toolArguments() spec {
	return spec{
		Definition: share(Definition{
			Name:     "tool_arguments",
			Summary:  "The share of the expected arguments that calls of the expected tools were given.",
			Needs:    []Need{NeedToolCalls, NeedExpectedOutput},
			Abstains: "Nobody recorded tool calls, nothing says which are expected, or no expected tool was called.",
			Parameters: []Parameter{
				callsParameter,
				{Name: "match", Type: String, Enum: []string{argumentsExpected, argumentsExact}, Default: jsontext.Value(`"expected"`), Summary: "Whether only the expected arguments count, or others that were given lower the share too."},
				{Name: "missing_call", Type: String, Enum: []string{"skip", "zero"}, Default: jsontext.Value(`"skip"`), Summary: "Whether an expected call that was not made is left out, which `tool_selection` measures, or counts as zero."},
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			given, problems := readWanted(s)
			return func(l *look) Score { return scoreArguments(l, s, given) }, problems
		},
	}
}

func scoreArguments(l *look, s settings, given wanted) Score {
	want, made, instead, ok := l.bothCalls(given)
	if !ok {
		return instead
	}
	exact := s.text("match") == argumentsExact
	asked, done := group(want), group(made)
	sum, pairs, calls := 0.0, 0, 0
	var notes []string
	for _, tool := range asked.names {
		calls += len(asked.args[tool])
		total, n, note, err := l.pair(asked.args[tool], done.args[tool], exact)
		if err != nil {
			return tooCostly()
		}
		sum, pairs = sum+total, pairs+n
		if note != "" && len(notes) < 3 {
			notes = append(notes, "Calling "+excerpt(tool)+", "+note+".")
		}
	}
	if s.text("missing_call") == "zero" {
		pairs = calls
	}
	switch {
	case calls == 0:
		return Missing(ReasonNoExpectation, "No expected tool call says which arguments it should have.")
	case pairs == 0:
		return Missing(ReasonNoMatch, "None of the expected tools was called, so there are no arguments to compare.")
	}
	return Scored(min(sum/float64(pairs), 1), strings.Join(notes, " "))
}

// grouped are the arguments of calls by tool, in the order in which tools first
// appear.
type grouped struct {
	names []string
	args  map[string][]map[string]string
}

func group(calls []call) grouped {
	g := grouped{args: map[string][]map[string]string{}}
	for _, c := range calls {
		if !c.given {
			continue
		}
		if _, known := g.args[c.name]; !known {
			g.names = append(g.names, c.name)
		}
		g.args[c.name] = append(g.args[c.name], c.args)
	}
	return g
}

// costArgument is what comparing one argument costs.
const costArgument = 100

// pair puts the expected and the made calls of one tool together so that most
// arguments match, and returns the sum of the shares and the number of pairs.
func (l *look) pair(want, made []map[string]string, exact bool) (sum float64, pairs int, note string, err error) {
	if len(want) == 0 || len(made) == 0 {
		return 0, 0, "", nil
	}
	n := int64(max(len(want), len(made)))
	if !l.Spend(5 * n * n * n) {
		return 0, 0, "", schema.ErrTooCostly
	}
	shares := make([][]float64, len(want))
	for i, w := range want {
		shares[i] = make([]float64, len(made))
		if !l.Spend(costArgument * int64(len(made)) * int64(len(w)+1)) {
			return 0, 0, "", schema.ErrTooCostly
		}
		for j, m := range made {
			shares[i][j] = matched(w, m, exact)
		}
	}
	for i, j := range assign(shares) {
		if j < 0 {
			continue
		}
		pairs++
		sum += shares[i][j]
		if note == "" && shares[i][j] < 1 {
			note = wrongArguments(want[i], made[j], exact)
		}
	}
	return sum, pairs, note, nil
}

// matched is the share of arguments that agree.
func matched(want, made map[string]string, exact bool) float64 {
	hits, extra := 0, 0
	for name, v := range want {
		if got, ok := made[name]; ok && got == v {
			hits++
		}
	}
	if exact {
		extra = unexpected(want, made)
	}
	if len(want)+extra == 0 {
		return 1
	}
	return float64(hits) / float64(len(want)+extra)
}

// unexpected counts the arguments of made that want does not have.
func unexpected(want, made map[string]string) int {
	shared := 0
	for name := range want {
		if _, ok := made[name]; ok {
			shared++
		}
	}
	return len(made) - shared
}

func wrongArguments(want, made map[string]string, exact bool) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, ok := made[name]
		switch {
		case !ok:
			return "the argument " + excerpt(name) + " is missing"
		case got != want[name]:
			return "the argument " + excerpt(name) + " has another value"
		}
	}
	if exact && unexpected(want, made) > 0 {
		return fmt.Sprintf("there are arguments that are not expected: %d", unexpected(want, made))
	}
	return ""
}

// assign pairs rows with columns so that the sum of the chosen cells is the
// largest (the Hungarian method). It returns the column of each row, -1 for rows
// that are left over.
func assign(cells [][]float64) []int {
	rows, columns := len(cells), len(cells[0])
	n := max(rows, columns)
	cost := func(i, j int) float64 {
		if i < rows && j < columns {
			return 1 - cells[i][j]
		}
		return 1
	}
	// Potentials, and the row of each column; index 0 is a helper.
	u, v := make([]float64, n+1), make([]float64, n+1)
	row, way := make([]int, n+1), make([]int, n+1)
	for i := 1; i <= n; i++ {
		row[0] = i
		j0 := 0
		least := make([]float64, n+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		used := make([]bool, n+1)
		for row[j0] != 0 {
			used[j0] = true
			i0, j1, delta := row[j0], 0, math.Inf(1)
			for j := 1; j <= n; j++ {
				if used[j] {
					continue
				}
				if c := cost(i0-1, j-1) - u[i0] - v[j]; c < least[j] {
					least[j], way[j] = c, j0
				}
				if least[j] < delta {
					delta, j1 = least[j], j
				}
			}
			for j := 0; j <= n; j++ {
				if used[j] {
					u[row[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			j0 = j1
		}
		for j0 != 0 {
			row[j0] = row[way[j0]]
			j0 = way[j0]
		}
	}
	out := make([]int, rows)
	for i := range out {
		out[i] = -1
	}
	for j := 1; j <= columns; j++ {
		if i := row[j] - 1; i >= 0 && i < rows {
			out[i] = j - 1
		}
	}
	return out
}
