package metric

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// Case is one item of an evaluation and what came of it. Fields that are empty
// are not known. Metrics read a case and never write to it,
// but for the work that they spend.
type Case struct {
	Input jsontext.Value
	// ExpectedOutput is what a good output is. JSON null is no expectation.
	ExpectedOutput jsontext.Value
	// Output is what the application answered. JSON null is an empty answer;
	// without an answer the field is empty.
	Output  jsontext.Value
	Context jsontext.Value
	// Messages is the conversation that led to the output.
	Messages jsontext.Value
	// Tools are the tools that were offered.
	Tools      jsontext.Value
	Assertions []jsontext.Value
	// Labels is what people said about the item.
	Labels jsontext.Value

	// ToolCalls are the calls that were made, in their order. It is nil when
	// nobody recorded calls, and empty when it is known that none was made.
	ToolCalls []ToolCall
	// Duration is how long the answer took, nil when nobody measured it.
	Duration *time.Duration
	// CostUSD is what the answer cost, nil when that is not known.
	CostUSD *float64
	// Effects are what the answer did to the world, nil when that is not known.
	Effects *Effects
	// Usage counts tokens, nil when nobody counted.
	Usage *Usage

	// Allowance is what all scores of a request may spend together; nil leaves each
	// what one score may.
	Allowance *schema.Work
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Name string
	// Arguments is an object for most tools; empty means that there are none.
	Arguments jsontext.Value
	// Error is what the tool answered when it failed. A failed call was still
	// made, and counts as one.
	Error string
}

// Usage is how many tokens an answer took.
type Usage struct{ InputTokens, OutputTokens int64 }
