package judge

import (
	"fmt"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

// kind is how a case goes. Its mark is a part of the answer that is judged, and
// makes the simulated provider do it.
type kind struct {
	mark   string
	status string
	code   string
	score  float64 // of a verdict that is completed
	// repaired: the model is asked to repair its first answer.
	repaired bool
}

// kinds are the ways that cases go, in turn.
var kinds = []kind{
	{mark: "[[score:1]]", status: "completed", score: 1},
	{mark: "[[score:0]]", status: "completed"},
	{mark: "[[score:1]] [[answer:malformed,once]]", status: "completed", score: 1, repaired: true},
	{mark: "[[answer:malformed]]", status: "failed", code: "answer_not_json", repaired: true},
	{mark: "[[score:1]]", status: "completed", score: 1},
	{mark: "[[answer:schema]]", status: "failed", code: "answer_wrong_schema", repaired: true},
	{mark: "[[answer:truncated]]", status: "failed", code: "answer_truncated"},
	{mark: "[[answer:filtered]]", status: "failed", code: "refused"},
	{mark: "[[abstain:yes]]", status: "abstained", code: "abstained"},
	{mark: "[[answer:refused]]", status: "failed", code: "refused"},
	{mark: "[[score:0]] first-reset", status: "completed"},
	{mark: "[[score:1]] first-half", status: "completed", score: 1},
	{mark: "[[score:1]] first-cut", status: "completed", score: 1},
	{mark: "[[score:0]] first-limited", status: "completed"},
	{mark: "[[answer:empty]]", status: "failed", code: "answer_empty", repaired: true},
	{mark: "[[score:1]] first-overloaded", status: "completed", score: 1},
}

// firsts are faults that the first call of a case meets.
var firsts = []simulated.Rule{
	{Fault: simulated.FaultDisconnect, First: 1, Contains: "first-reset"},
	{Fault: simulated.FaultMalformed, First: 1, Contains: "first-half"},
	{Fault: simulated.FaultTruncated, First: 1, Contains: "first-cut"},
	{Fault: simulated.FaultRateLimit, First: 1, Contains: "first-limited", RetryAfter: 200_000_000},
	{Fault: simulated.FaultOverloaded, First: 1, Contains: "first-overloaded", RetryAfter: 200_000_000},
}

// unit is a case with the name under which the provider sees it.
type unit struct {
	name string
	kind
}

// The names of cases begin with what asks for them.
const (
	ofRuns    = "case-r"
	ofSingles = "case-s"
	ofCaps    = "case-c"
)

func newUnit(of string, number uint64, index int) unit {
	return unit{fmt.Sprintf("%s%d-%d", of, number, index), kinds[index%len(kinds)]}
}

func (u unit) input() string  { return "What is " + u.name + "?" }
func (u unit) output() string { return "It is " + u.name + ". " + u.mark }

// wrong says how a verdict differs from what it must be; nothing if it does not.
func (u unit) wrong(status string, score *float64, code string) string {
	got := 0.0
	if score != nil {
		got = *score
	}
	if status == u.status && code == u.code && got == u.score && (score != nil) == (u.status == "completed") {
		return ""
	}
	return fmt.Sprintf("%s is %s %q with the score %v, and had to be %s %q with %v", u.name, status, code, got, u.status, u.code, u.score)
}
