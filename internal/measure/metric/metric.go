package metric

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Metric measures cases. It is safe for concurrent use.
type Metric interface {
	Definition() Definition
	// Score measures one case. It neither fails nor panics: what cannot be
	// measured is a missing score.
	Score(Case) Score
}

// Definition says what a metric is, for those who choose one and for those who
// add its scores up.
type Definition struct {
	Name    string
	Summary string
	// Low and High bound the scores; nil is unbounded on that side.
	Low, High *float64
	Better    Direction
	Kind      Kind
	// Unit is what a score counts, empty for a share of 1.
	Unit string
	// Overall is whether the metric counts in an item's overall score: latency
	// and cost do not.
	Overall bool
	// Source is who makes the scores, empty for the platform's own code; Version is
	// that of their rules.
	Source  Source
	Version string
	// Judge is whether only a model can compute the metric. Find does not give
	// such a metric.
	Judge bool
	// Needs is what a case must have for a score, unless parameters or
	// assertions stand in for it.
	Needs []Need
	// Abstains says in a sentence when there is no score.
	Abstains   string
	Parameters []Parameter
}

// Direction is which scores are the better ones.
type Direction string

// The two directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Source is who makes the scores of a metric.
type Source string

// The sources.
const (
	Code  Source = "code"
	Judge Source = "judge"
	Human Source = "human"
)

// Kind is what values the scores of a metric take. It decides which statistics
// they are summed up with.
type Kind string

// The kinds.
const (
	// Binary scores are 0 or 1.
	Binary Kind = "binary"
	// Numeric scores are any numbers within the bounds.
	Numeric Kind = "numeric"
)

// Need is a part of a case.
type Need string

// The parts that metrics need.
const (
	NeedInput          Need = "input"
	NeedExpectedOutput Need = "expected_output"
	NeedOutput         Need = "output"
	NeedContext        Need = "context"
	NeedToolCalls      Need = "tool_calls"
	NeedAssertions     Need = "assertions"
	NeedDuration       Need = "duration"
	NeedCost           Need = "cost"
	NeedEffects        Need = "effects"
)

// Parameter is a setting of a metric, with bounds in the words of JSON Schema.
type Parameter struct {
	Name    string
	Summary string
	Type    Type
	// Default is the value without a setting, empty if there is none.
	Default jsontext.Value
	// Enum lists the values of a string, if they are few.
	Enum []string
	// Minimum and Maximum bound a number.
	Minimum, Maximum *float64
	// MaxLength bounds the bytes of a string, of each string of a list, or of
	// the JSON text of a value; zero is unbounded.
	MaxLength int
	// MaxItems bounds a list, which is never empty unless Empty is set.
	MaxItems int
	Empty    bool
}

// Type is what a parameter holds.
type Type string

// The types of parameters.
const (
	String  Type = "string"
	Strings Type = "strings" // a list of strings, or one string
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object"
	List    Type = "list"
	Any     Type = "any"
)

// Params are the parameters of a metric by name, as JSON.
type Params map[string]jsontext.Value
