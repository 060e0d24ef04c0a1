package metric

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

func goalSuccess() spec {
	return spec{
		Definition: share(Definition{
			Name: "goal_success", Kind: Binary,
			Summary:  "1 if everything that the item asserts holds, or, for an item without assertions, if a person labelled it a success.",
			Needs:    []Need{NeedAssertions},
			Abstains: "The item has neither assertions nor the label, or an assertion cannot be decided here and none of the others fails.",
			Parameters: []Parameter{
				{Name: "label", Type: String, MaxLength: 200, Default: jsontext.Value(`"goal_success"`), Summary: "The name of the label, which is true or false."},
			},
		}),
		alone: true,
		build: func(r *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return r.scoreGoal(l, s) }, nil
		},
	}
}

func (r *Registry) scoreGoal(l *look, s settings) Score {
	if len(l.Assertions) == 0 {
		return scoreLabel(l, s.text("label"))
	}
	all, err := l.list()
	if err != nil {
		return unlisted(err)
	}
	open := Score{}
	opened := 0
	for i, a := range all {
		score := r.holds(l, a)
		v, ok := score.Value()
		switch {
		case !ok && opened == 0:
			open, opened = score, i+1
		case ok && v == 0:
			return Scored(0, fmt.Sprintf("Assertion %d (%s) does not hold. %s", i+1, name(a), score.Explanation()))
		}
	}
	if opened > 0 {
		return Missing(open.Reason(), fmt.Sprintf("Assertion %d (%s) cannot be decided. %s", opened, name(all[opened-1]), open.Explanation()))
	}
	return Scored(1, fmt.Sprintf("Assertions that hold: %d.", len(all)))
}

func name(a assertion) string {
	if a.kind == "" {
		return "words"
	}
	return cut(a.kind, 60)
}

// scoreLabel takes the verdict of a person.
func scoreLabel(l *look, label string) Score {
	none := Missing(ReasonNoGoal, "The item has no assertions and no label "+excerpt(label)+" that is true or false.")
	if len(l.Labels) == 0 {
		return none
	}
	v, err := l.Decode(l.Labels)
	if err != nil {
		return unread("label", err)
	}
	object, _ := v.(map[string]any)
	verdict, ok := object[label].(bool)
	if !ok {
		return none
	}
	return binary(verdict, "A person labelled the item.")
}

// holds scores an assertion 1 or 0.
func (r *Registry) holds(l *look, a assertion) Score {
	if !l.Spend(a.cost()) {
		return tooCostly()
	}
	if score, ok := r.shorthand(l, a); ok {
		return score
	}
	s, ok := r.spec(a.kind)
	switch {
	case a.kind == "", a.kind == "judge", a.kind == "decision_is", a.kind == "state_reached", ok && s.build == nil:
		return Missing(ReasonNeedsJudge, "It needs a judge or records beside the output.")
	case !ok, s.alone:
		return Missing(ReasonBadAssertion, "There is no assertion of this type.")
	}
	score, bounds, problems := r.claim(s, s.defaults, a)
	if problems = append(problems, checkBounds(s, bounds)...); len(problems) > 0 {
		return badAssertion(a.kind, problems)
	}
	got := score(l)
	v, ok := got.Value()
	if !ok {
		return got
	}
	switch {
	case bounds.has("at_most") && v > bounds.number("at_most"):
		return Scored(0, fmt.Sprintf("%v is more than %v. %s", v, bounds.number("at_most"), got.Explanation()))
	case bounds.has("at_least") && v < bounds.number("at_least"):
		return Scored(0, fmt.Sprintf("%v is less than %v. %s", v, bounds.number("at_least"), got.Explanation()))
	case !bounds.has("at_most") && !bounds.has("at_least") && v < 1:
		return Scored(0, got.Explanation())
	}
	return Scored(1, got.Explanation())
}

// checkBounds asks for a threshold where none goes without saying.
func checkBounds(s spec, bounds settings) []Problem {
	if bounds != nil && s.Better == Lower && !bounds.has("at_most") && !bounds.has("at_least") {
		return []Problem{{"at_most", "required", "must be given"}}
	}
	return nil
}

// shorthand scores the assertions that are no metrics: those that quality cases
// are made of.
func (r *Registry) shorthand(l *look, a assertion) (score Score, ok bool) {
	switch a.kind {
	case "output_contains":
		return outputContains(l, a, modeAll), true
	case "output_not_contains":
		return outputContains(l, a, modeNone), true
	case "schema":
		a.kind = "json_schema"
		return r.holds(l, a), true
	case "tool_called":
		return calledTool(l, a, true), true
	case "tool_not_called":
		return calledTool(l, a, false), true
	case "arguments_match":
		return argumentsMatch(l, a), true
	case "max_steps":
		return maxSteps(l, a), true
	}
	return Score{}, false
}

var toolNameParameter = Parameter{Name: "tool_name", Type: String, MaxLength: 1000}

// required finds the parameters that have to be there and are not.
func required(s settings, problems []Problem, names ...string) []Problem {
	for _, name := range names {
		if !s.has(name) {
			problems = append(problems, Problem{name, "required", "must be given"})
		}
	}
	return problems
}

// outputContains looks for texts in the output.
func outputContains(l *look, a assertion, mode string) Score {
	s, problems := settings{"case": caseSensitive, "whitespace": whitespaceExact, "mode": mode}.overlay([]Parameter{
		{Name: "text", Type: String, MaxLength: 10_000},
		{Name: "values", Type: Strings, MaxItems: 100, MaxLength: 10_000},
		caseParameter, pathParameter,
	}, a.members)
	if s.has("text") {
		s["values"] = append([]string{s.text("text")}, s.texts("values")...)
	} else if !s.has("values") {
		problems = required(s, problems, "text")
	}
	if problems = append(problems, checkPaths(s)...); len(problems) > 0 {
		return badAssertion(a.kind, problems)
	}
	return scoreContains(l, s)
}

// calledTool holds if the tool was called, as often as the assertion says, or
// not at all.
func calledTool(l *look, a assertion, should bool) Score {
	defined := []Parameter{toolNameParameter}
	if should {
		defined = append(defined, Parameter{Name: "times", Type: Number, Minimum: num(1), Maximum: num(maxCalls)})
	}
	s, problems := settings{}.overlay(defined, a.members)
	if problems = required(s, problems, "tool_name"); len(problems) > 0 {
		return badAssertion(a.kind, problems)
	}
	made, instead, ok := l.made()
	if !ok {
		return instead
	}
	times := 0
	for _, c := range made {
		if c.name == s.text("tool_name") {
			times++
		}
	}
	told := fmt.Sprintf("Calls of %s: %d.", excerpt(s.text("tool_name")), times)
	switch {
	case !should:
		return binary(times == 0, told)
	case s.has("times"):
		return binary(float64(times) == s.number("times"), told)
	default:
		return binary(times > 0, told)
	}
}

// argumentsMatch holds if some call of the tool has the arguments.
func argumentsMatch(l *look, a assertion) Score {
	s, problems := settings{"match": argumentsExpected}.overlay([]Parameter{
		toolNameParameter,
		{Name: "arguments", Type: Any, MaxLength: 1 << 20},
		{Name: "match", Type: String, Enum: []string{argumentsExpected, argumentsExact}},
	}, a.members)
	if problems = required(s, problems, "tool_name", "arguments"); len(problems) > 0 {
		return badAssertion(a.kind, problems)
	}
	made, instead, ok := l.made()
	if !ok {
		return instead
	}
	exact := s.text("match") == argumentsExact
	want := byName(s.document("arguments").value)
	told := "The tool was not called."
	for _, c := range made {
		if c.name != s.text("tool_name") {
			continue
		}
		if !l.Spend(costArgument * int64(len(want)+1)) {
			return tooCostly()
		}
		if matched(want, c.args, exact) == 1 {
			return Scored(1, "")
		}
		told = "A call was made, but " + wrongArguments(want, c.args, exact) + "."
	}
	return Scored(0, told)
}

// maxSteps holds if there were no more tool calls than that.
func maxSteps(l *look, a assertion) Score {
	s, problems := settings{}.overlay([]Parameter{{Name: "max", Type: Number, Minimum: num(0), Maximum: num(1e6)}}, a.members)
	if problems = required(s, problems, "max"); len(problems) > 0 {
		return badAssertion(a.kind, problems)
	}
	if l.ToolCalls == nil {
		return noToolCalls()
	}
	return binary(float64(len(l.ToolCalls)) <= s.number("max"), fmt.Sprintf("Tool calls: %d.", len(l.ToolCalls)))
}
