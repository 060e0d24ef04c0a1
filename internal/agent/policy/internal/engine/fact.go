package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go/types"
)

// Measure is how a fact is computed from what the agent did before.
type Measure string

// The measures.
const (
	Count    Measure = "count"    // how many calls: a Long
	Sum      Measure = "sum"      // the sum of an argument over the calls: a decimal
	Formerly Measure = "formerly" // whether there was a call: a Bool
)

// Fact is something about the past that a policy asks for. Two policies that ask for the
// same share it.
type Fact struct {
	Measure   Measure
	Connector string
	Tool      string
	Argument  string // of a sum
	Window    time.Duration
}

// String is the fact as policies write it, with the window in seconds.
func (f Fact) String() string {
	argument := ""
	if f.Argument != "" {
		argument = f.Argument + ", "
	}
	return fmt.Sprintf("%s(%s/%s, %s%ds)", f.Measure, f.Connector, f.Tool, argument, int(f.Window/time.Second))
}

// FactValue is what a fact was found to be. The measure says which member counts.
type FactValue struct {
	Count    int64
	Sum      string // a decimal number with at most four places
	Formerly bool
}

// MaxCount is how many calls a fact counts. How many more there are is not known.
const MaxCount = 100_000

// cedar is the value for policies; false for a count that is too large, and for a sum that Cedar
// cannot hold.
func (v FactValue) cedar(m Measure) (types.Value, bool) {
	switch m {
	case Count:
		return types.Long(v.Count), v.Count <= MaxCount
	case Formerly:
		return types.Boolean(v.Formerly), true
	default:
		return exact(v.Sum)
	}
}

var (
	factName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)
	factCall = regexp.MustCompile(`^(count|sum|formerly)\(([^()]*)\)$`)
	window   = regexp.MustCompile(`^([0-9]{1,5})([mhd])$`)
)

// history reads a list such as "refunds = count(payments/refund, 24h)".
func (n *notes) history(list string) {
	for _, one := range outsideBrackets(list, ';') {
		name, call, _ := strings.Cut(one, "=")
		name, call = strings.TrimSpace(name), strings.TrimSpace(call)
		if !factName.MatchString(name) {
			n.refuse("history", "%q is not of the form name = count(connector/tool, 24h)", one)
			continue
		}
		f, why := fact(call)
		if why != "" {
			n.refuse("history", "%s: %s", name, why)
			continue
		}
		if before, ok := n.facts[name]; ok && before != f {
			n.refuse("history", "%s means something else in another statement of this policy", name)
			continue
		}
		n.facts[name] = f
		if len(n.facts) > MaxFacts {
			n.refuse("history", "%s is one too many: a policy has at most %d facts", name, MaxFacts)
			return
		}
	}
}

// fact reads one call, or returns why it cannot.
func fact(call string) (Fact, string) {
	m := factCall.FindStringSubmatch(call)
	if m == nil {
		return Fact{}, fmt.Sprintf("%q is not one of count(connector/tool, 24h), sum(connector/tool, argument, 24h) and formerly(connector/tool, 24h)", call)
	}
	f := Fact{Measure: Measure(m[1])}
	parts := strings.Split(m[2], ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if want := map[Measure]int{Count: 2, Sum: 3, Formerly: 2}[f.Measure]; len(parts) != want {
		return Fact{}, fmt.Sprintf("%s takes %d parameters, not %d", f.Measure, want, len(parts))
	}
	if f.Measure == Sum {
		f.Argument = parts[1]
		if f.Argument == "" {
			return Fact{}, "sum needs the name of an argument"
		}
	}
	var ok bool
	if f.Connector, f.Tool, ok = SplitTool(parts[0]); !ok || f.Connector == "" {
		return Fact{}, fmt.Sprintf("%q is not a tool of the form connector/tool", parts[0])
	}
	text := parts[len(parts)-1]
	w := window.FindStringSubmatch(text)
	if w == nil {
		return Fact{}, fmt.Sprintf("%q is not a window such as 30m, 24h or 7d", text)
	}
	count, _ := strconv.Atoi(w[1])
	f.Window = time.Duration(count) * map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[w[2]]
	if f.Window < minWindow || f.Window > MaxWindow {
		return Fact{}, fmt.Sprintf("%q is not a window from 1m to 30d", text)
	}
	return f, ""
}
