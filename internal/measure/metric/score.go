package metric

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Score is what a metric says about one case: a finite number, or nothing and
// the reason. The zero Score is a missing one.
type Score struct {
	value       float64
	scored      bool
	reason      Reason
	explanation string
}

// Reason is why a score is missing, for programs. People read the explanation.
type Reason string

// The reasons, by what has to change for a score to appear.
const (
	// ReasonNotComputed is the reason of the zero Score.
	ReasonNotComputed Reason = "not_computed"

	// ReasonNoOutput and the following say what the case lacks.
	ReasonNoOutput      Reason = "no_output"
	ReasonNoExpectation Reason = "no_expectation"
	ReasonNoToolCalls   Reason = "no_tool_calls"
	ReasonNoDuration    Reason = "no_duration"
	ReasonNoCost        Reason = "no_cost"
	ReasonNoGoal        Reason = "no_goal"
	ReasonNoTrace       Reason = "no_trace"
	// ReasonNoEffects means that there is nothing that could be verified.
	ReasonNoEffects Reason = "no_effects"

	// ReasonNotConfigured means that neither the parameters nor the item say
	// what to look for.
	ReasonNotConfigured Reason = "not_configured"
	// ReasonNoMatch means that there are no arguments to compare: no expected
	// tool was called.
	ReasonNoMatch Reason = "no_match"

	// ReasonBadExpectation means that the expected output cannot be compared
	// with: a number is needed and it has none.
	ReasonBadExpectation Reason = "bad_expectation"
	// ReasonBadAssertion means that an assertion of the item cannot be read.
	ReasonBadAssertion Reason = "bad_assertion"
	// ReasonBadValue means that a value of the case makes no sense, such as a
	// negative duration or an output that is not JSON.
	ReasonBadValue Reason = "bad_value"

	// ReasonNeedsJudge means that an assertion needs a model or the platform's
	// records to decide it.
	ReasonNeedsJudge Reason = "needs_judge"
	// ReasonNotSent means that whoever makes the metric's scores sent none,
	// ReasonExcluded that the metric is declared to leave such items out.
	ReasonNotSent  Reason = "not_sent"
	ReasonExcluded Reason = "excluded"
	// ReasonAbstained means that a judge would not decide.
	ReasonAbstained Reason = "judge_abstained"
	// ReasonServiceFailed means that the service that makes the metric's scores
	// did not give one.
	ReasonServiceFailed Reason = "service_failed"
	// ReasonNotAsked means that whoever makes the metric's scores has not been asked
	// for this one: it is still to come, or the run ended before.
	ReasonNotAsked Reason = "not_asked"
	// ReasonTooLarge means that a value is larger or deeper than what is read.
	ReasonTooLarge Reason = "too_large"
	// ReasonTooCostly means that the score needs more work than one score may.
	ReasonTooCostly Reason = "too_costly"
)

// OfItem reports whether a score is missing because of the item: no answer could
// have one, or this one has nothing to measure. Every other missing score is that of an answer or of the system that
// gave it, and leaving it out would favour whoever fails.
func (r Reason) OfItem() bool {
	switch r {
	case ReasonNoExpectation, ReasonNoGoal, ReasonNotConfigured, ReasonBadExpectation, ReasonBadAssertion, ReasonNeedsJudge, ReasonExcluded, ReasonNoEffects:
		return true
	}
	return false
}

// Scored is a score with its value and, if there is something to say, how it
// came about. A value that is no finite number gives a missing score.
func Scored(value float64, explanation string) Score {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Missing(ReasonBadValue, "The value is not a finite number.")
	}
	if value == 0 {
		value = 0 // never a negative zero
	}
	return Score{value: value, scored: true, explanation: brief(explanation)}
}

// Missing is a score that could not be computed, with a sentence for people.
func Missing(reason Reason, sentence string) Score {
	return Score{reason: reason, explanation: brief(sentence)}
}

// Value returns the score, and whether there is one.
func (s Score) Value() (float64, bool) { return s.value, s.scored }

// Reason is why the score is missing; it is empty when there is one.
func (s Score) Reason() Reason {
	if !s.scored && s.reason == "" {
		return ReasonNotComputed
	}
	return s.reason
}

// Explanation is a sentence or two for people, of at most MaxExplanation bytes.
// It is there for every missing score, and for those that need it.
func (s Score) Explanation() string {
	if !s.scored && s.explanation == "" {
		return "The score was not computed."
	}
	return s.explanation
}

// MaxExplanation bounds an explanation, which may quote what was compared.
const MaxExplanation = 1000

// brief cuts a text to MaxExplanation bytes, between characters.
func brief(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return cut(text, MaxExplanation)
}

// cut shortens a text to at most n bytes, between characters, and shows that.
func cut(text string, n int) string {
	const more = "…"
	if len(text) <= n {
		return text
	}
	n -= len(more)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + more
}
