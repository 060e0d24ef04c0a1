package metric

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

const (
	orderExact    = "exact"
	orderInOrder  = "in_order"
	orderAnyOrder = "any_order"
	orderSuperset = "superset"
)

func trajectoryMatch() spec {
	return spec{
		Definition: share(Definition{
			Name: "trajectory_match", Kind: Binary,
			Summary:  "1 if the tool calls follow the expected ones.",
			Needs:    []Need{NeedToolCalls, NeedExpectedOutput},
			Abstains: "Nobody recorded tool calls, or nothing says which are expected.",
			Parameters: []Parameter{
				callsParameter,
				{Name: "mode", Type: String, Enum: []string{orderExact, orderInOrder, orderAnyOrder, orderSuperset}, Default: jsontext.Value(`"exact"`), Summary: "Whether the order counts and whether there may be other calls."},
				{Name: "arguments", Type: String, Enum: []string{argumentsIgnore, argumentsExpected, argumentsExact}, Default: jsontext.Value(`"ignore"`), Summary: "Whether calls are the same by their names alone, or need the expected arguments, or exactly these."},
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			given, problems := readWanted(s)
			return func(l *look) Score { return scoreTrajectory(l, s, given) }, problems
		},
	}
}

func scoreTrajectory(l *look, s settings, given wanted) Score {
	want, made, instead, ok := l.bothCalls(given)
	if !ok {
		return instead
	}
	mode := s.text("mode")
	t := trajectory{l, want, made, s.text("arguments")}
	if noOthers := mode == orderExact || mode == orderAnyOrder; noOthers && len(want) != len(made) {
		return Scored(0, fmt.Sprintf("Expected calls: %d; calls that were made: %d.", len(want), len(made)))
	}
	switch {
	case mode == orderExact:
		return t.exact()
	case mode == orderInOrder:
		return t.inOrder()
	case t.arguments == argumentsIgnore:
		return t.byCount()
	default:
		return t.anyOrder()
	}
}

// trajectory compares the expected calls with those that were made.
type trajectory struct {
	look       *look
	want, made []call
	arguments  string
}

// same reports whether a made call is an expected one. An expected call that
// gives no arguments leaves them open.
func (t *trajectory) same(i, j int) (bool, error) {
	want, made := t.want[i], t.made[j]
	if !t.look.Spend(costArgument * int64(len(want.args)+1)) {
		return false, schema.ErrTooCostly
	}
	if want.name != made.name {
		return false, nil
	}
	if t.arguments == argumentsIgnore || !want.given {
		return true, nil
	}
	return matched(want.args, made.args, t.arguments == argumentsExact) == 1, nil
}

func (t *trajectory) exact() Score {
	for i, want := range t.want {
		same, err := t.same(i, i)
		switch made := t.made[i]; {
		case err != nil:
			return tooCostly()
		case !same && made.name != want.name:
			return Scored(0, fmt.Sprintf("Call %d is %s where %s is expected.", i+1, excerpt(made.name), excerpt(want.name)))
		case !same:
			return Scored(0, fmt.Sprintf("In call %d, %s.", i+1, wrongArguments(want.args, made.args, t.arguments == argumentsExact)))
		}
	}
	return Scored(1, "")
}

func (t *trajectory) inOrder() Score {
	next := 0
	for j := range t.made {
		if next == len(t.want) {
			break
		}
		same, err := t.same(next, j)
		if err != nil {
			return tooCostly()
		}
		if same {
			next++
		}
	}
	if next < len(t.want) {
		return Scored(0, fmt.Sprintf("The expected call %d, %s, was not made in its place.", next+1, excerpt(t.want[next].name)))
	}
	return Scored(1, "")
}

// byCount compares names only, so that any call of a tool is as good as another.
func (t *trajectory) byCount() Score {
	left := map[string]int{}
	for _, c := range t.made {
		left[c.name]++
	}
	for _, c := range t.want {
		if left[c.name]--; left[c.name] < 0 {
			return notMade(c)
		}
	}
	return Scored(1, "")
}

func notMade(c call) Score {
	return Scored(0, "The expected call of "+excerpt(c.name)+" was not made, or not as it is expected.")
}

// anyOrder gives every expected call a made one of its own. A made call may fit
// several expected ones, so earlier choices are revised (Kuhn's method).
func (t *trajectory) anyOrder() Score {
	fits := make([][]int, len(t.want))
	for i := range t.want {
		for j := range t.made {
			same, err := t.same(i, j)
			if err != nil {
				return tooCostly()
			}
			if same {
				fits[i] = append(fits[i], j)
			}
		}
	}
	taken := make([]int, len(t.made))
	for j := range taken {
		taken[j] = -1
	}
	for i, c := range t.want {
		// One search goes along every fit at most once.
		if !t.look.Spend(5 * int64(len(t.want)) * int64(len(t.made))) {
			return tooCostly()
		}
		if !place(i, fits, taken, make([]bool, len(t.made))) {
			return notMade(c)
		}
	}
	return Scored(1, "")
}

func place(i int, fits [][]int, taken []int, seen []bool) bool {
	for _, j := range fits[i] {
		if seen[j] {
			continue
		}
		seen[j] = true
		if taken[j] < 0 || place(taken[j], fits, taken, seen) {
			taken[j] = i
			return true
		}
	}
	return false
}
