package engine

import "fmt"

// Case is a test of a policy: a question, and what must be decided.
type Case struct {
	Name     string
	Question Question
	// History has facts by the names that the policy gives them. One that is missing is
	// zero or false: nothing has happened.
	History map[string]FactValue
	Expect  Decision
	// RuleID is a statement that must be among the reasons, or empty.
	RuleID string
}

// Failure is a test that failed, and why.
type Failure struct {
	Index   int // among the tests
	Name    string
	Message string
}

// RunTests asks a policy its tests, as if it were the only one. The policy is enforced
// and applies to every question.
func RunTests(text string, cases []Case) ([]Failure, error) {
	set, err := Compile([]Source{{Key: "policy", Version: 1, Mode: Enforce, Text: text}})
	if err != nil {
		return nil, err
	}
	var out []Failure
	for i, c := range cases {
		if why := set.try(c); why != "" {
			out = append(out, Failure{Index: i, Name: c.Name, Message: why})
		}
	}
	return out, nil
}

// try returns why a test fails.
func (s *Set) try(c Case) string {
	q := c.Question
	q.History = map[Fact]FactValue{}
	for name := range c.History {
		if _, ok := s.sources[0].facts[name]; !ok {
			return fmt.Sprintf("the policy has no fact %q", name)
		}
	}
	for name, f := range s.sources[0].facts {
		v, ok := c.History[name]
		if !ok {
			v.Sum = "0"
		}
		if _, ok := v.cedar(f.Measure); !ok {
			if f.Measure == Count {
				return fmt.Sprintf("%d is too large for a count: it is known up to %d", v.Count, MaxCount)
			}
			return fmt.Sprintf("%q is not a decimal number with at most four places", v.Sum)
		}
		q.History[f] = v
	}
	if err := q.Check(); err != nil {
		return err.Error()
	}
	v := s.Evaluate(q)
	if v.Decision != c.Expect {
		return fmt.Sprintf("expected %s, decided %s: %s", c.Expect, v.Decision, v.Reasons[0].text())
	}
	if c.RuleID == "" {
		return ""
	}
	for _, r := range v.Reasons {
		if r.RuleID == c.RuleID {
			return ""
		}
	}
	return fmt.Sprintf("decided %s, but not by rule %s: %s", v.Decision, c.RuleID, v.Reasons[0].text())
}

func (r Reason) text() string {
	if r.RuleID == "" {
		return r.Message
	}
	return fmt.Sprintf("rule %s: %s", r.RuleID, r.Message)
}
