package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Body is the input of an operation that takes a body and nothing else, or the output of one that answers with a
// body and no header of its own.
type Body[B any] struct{ Body B }

// NewBody is the output with the body.
func NewBody[B any](b B) *Body[B] { return &Body[B]{Body: b} }

// Resource is a body that says what its resource is called in documents.
type Resource interface{ Noun() string }

// Output is the output of an operation on a resource that counts its changes.
type Output[B Resource] struct {
	ETag string `header:"ETag" doc:"The {noun}'s version, to be sent as If-Match."`
	Body B
}

// Noun is what the resource is called.
func (o Output[B]) Noun() string { return o.Body.Noun() }

// Made is the output of an operation that makes a resource that counts its changes.
type Made[B Resource] struct {
	ETag     string `header:"ETag" doc:"The {noun}'s version, to be sent as If-Match."`
	Location string `header:"Location" doc:"Path of the {noun}."`
	Body     B
}

// Noun is what the resource is called.
func (o Made[B]) Noun() string { return o.Body.Noun() }

// describe completes what the document says about the successes of an operation: the noun of
// its output, and the status of a repetition.
func (op Op) describe(responses map[string]*huma.Response, output any) {
	success := responses[strconv.Itoa(op.Status)]
	if named, ok := output.(Resource); ok {
		for _, h := range success.Headers {
			h.Schema.Description = strings.ReplaceAll(h.Schema.Description, "{noun}", named.Noun())
		}
	}
	if op.RepeatStatus != 0 {
		repeated := *success
		repeated.Description = http.StatusText(op.RepeatStatus)
		responses[strconv.Itoa(op.RepeatStatus)] = &repeated
	}
}
