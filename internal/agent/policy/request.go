package policy

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// maxKey is how many bytes a key has that a policy applies to, and maxKeys all of them.
const (
	maxKey  = 256
	maxKeys = 16 << 10
)

// Entity is a subject, an action or a resource: a type, an id and properties.
type Entity = engine.Entity

// Call is a call of a tool.
type Call struct {
	Connector, Tool string
	Arguments       jsontext.Value
	ID              string
}

// Request asks whether an action may be taken.
type Request struct {
	Subject, Action, Resource Entity
	Context                   jsontext.Value
	Call                      Call
	Runtime                   string   // its key
	Only                      []string // asks only these policies; in a dry run
	// Approval is the one that the caller presents; 0 if there is none.
	Approval int64
	// Supported are the obligations that the caller can honour; nil means that it does
	// not say.
	Supported []string
	// DryRun asks for a decision that nobody acts on.
	DryRun         bool
	IdempotencyKey string
	SubjectUser    string
	Trace, Span    string // in hexadecimal digits; empty if there is none
}

// Check refuses a request that says too little.
func (r *Request) Check() error {
	switch {
	case r.Call.Tool == "" && r.Resource.ID == "":
		return fault.Invalid("body", "/toolInvocation", "one_of_required", "give toolInvocation, or resource with an id")
	case r.Runtime == "" && r.Subject.ID == "":
		return fault.Invalid("body", "/runtimeKey", "one_of_required", "give runtimeKey, or subject with an id")
	case len(r.Only) > 0 && !r.DryRun:
		return fault.Invalid("body", "/policyKeys", "mutually_exclusive", "can only be sent with the mode dry_run")
	}
	return nil
}

// asked is a request on its way to a decision.
type asked struct {
	Request

	question engine.Question
	trace    span.TraceID
	input    jsontext.Value // the question as it was put, for the record

	// Found before the transaction.
	act     approval.Action
	number  int64
	content []byte           // digest of all that was asked
	clean   evidence.Cleaner // for what is recorded
	kept    kind.Values      // what is recorded of the question
	stored  kind.Values      // the input of kept, read once
	actor   string           // whose past counts

	// The parties by the keys by which reports know them.
	runtime, connector string
}

// normalize makes a request mean the same however it is put: a subject that is a runtime is
// the runtime, and a resource that is a tool names the connector. So what is known about both,
// that they are stopped for example, and the past of the runtime hold for all ways to ask.
func (s *Service) normalize(ctx context.Context, org principal.OrgID, r Request) (*asked, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := r.nameRuntime(); err != nil {
		return nil, err
	}
	if err := s.nameTool(ctx, org, &r); err != nil {
		return nil, err
	}
	a := &asked{Request: r, question: engine.Question{
		Subject: r.Subject, Action: r.Action, Resource: r.Resource, Context: r.Context,
		RuntimeKey: r.Runtime, ConnectorKey: r.Call.Connector, ToolName: r.Call.Tool, Arguments: r.Call.Arguments,
		Only: r.Only, Environment: environmentOf(r.Context),
	}}
	if r.Trace != "" {
		var ok bool
		if a.trace, ok = span.ParseTraceID(r.Trace); !ok {
			return nil, fault.Invalid("body", "/traceId", "pattern", "must be 32 hexadecimal digits that are not all zero")
		}
	}
	if r.Span != "" {
		if _, ok := span.ParseID(r.Span); !ok {
			return nil, fault.Invalid("body", "/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
	}
	if err := a.question.Check(); err != nil {
		return nil, fault.Invalid("body", "", "max", err.Error())
	}
	text, err := json.Marshal(inputOf(&a.question), json.Deterministic(true))
	if kind.HasNUL(text) {
		return nil, fault.Invalid("body", "", "pattern", "must not contain the character U+0000")
	}
	a.input = text
	return a, err
}

// nameRuntime takes the runtime from a subject that is one.
func (r *Request) nameRuntime() error {
	if r.Subject.ID == "" || !is(r.Subject.Type, "Runtime") {
		return nil
	}
	if r.Runtime != "" && r.Runtime != r.Subject.ID {
		return fault.Invalid("body", "/subject/id", "mutually_exclusive", "is another runtime than runtimeKey")
	}
	r.Runtime = r.Subject.ID
	return nil
}

// nameTool takes the call from a resource that is a tool.
func (s *Service) nameTool(ctx context.Context, org principal.OrgID, r *Request) error {
	connector, name, ok := engine.SplitTool(r.Resource.ID)
	if !ok || !is(r.Resource.Type, "Tool") {
		return nil
	}
	if r.Call.Tool != "" {
		if r.Call.Connector+"/"+r.Call.Tool != r.Resource.ID {
			return fault.Invalid("body", "/resource/id", "mutually_exclusive", "is another tool than toolInvocation")
		}
		return nil
	}
	if strings.Contains(connector, "/") {
		var err error
		if connector, name, err = s.splitTool(ctx, org, r.Resource.ID); err != nil {
			return err
		}
	}
	r.Call.Connector, r.Call.Tool = connector, name
	if said := (kind.Values{}); len(r.Context) > 0 && json.Unmarshal(r.Context, &said) == nil {
		r.Call.Arguments = said[kind.FieldArguments]
	}
	return nil
}

// is reports whether an entity has a type, which is also the one that it has if none is given.
func is(given, want string) bool { return given == "" || strings.EqualFold(given, want) }

// splitTool finds the connector in the id of a tool with more than one slash: the one that
// people of the organization have decided about, or all before the last slash if there is none.
// If there are several, the question has to say which is meant: what is forbidden for one may be
// allowed for another.
func (s *Service) splitTool(ctx context.Context, org principal.OrgID, id string) (connector, tool string, err error) {
	clean, err := s.evidence.Cleaner(ctx, org)
	if err != nil {
		return "", "", err
	}
	connector, tool, _ = engine.SplitTool(id)
	tools := map[string][2]string{} // by the keys of connectors as they are stored
	var keys []string
	for c, t := range engine.Splits(id) {
		if utf8.RuneCountInString(c) > maxKey || strings.Contains(c, "\x00") {
			continue // the key of none
		}
		if key := clean.Text(c); tools[key] == [2]string{} {
			tools[key], keys = [2]string{c, t}, append(keys, key)
		}
	}
	if len(keys) == 0 {
		return connector, tool, nil
	}
	for _, states := range decided {
		l := evidence.ListOf(kind.Connectors)
		l.Restrict("connectorKey", keys)
		l.Restrict("state", states)
		l.Limit = 2
		known, _, _, err := s.evidence.List(ctx, org, l)
		switch {
		case err != nil:
			return "", "", err
		case len(known) > 1:
			return "", "", fault.Invalid("body", "/resource/id", "format", "can be a tool of more than one connector. Ask with POST /api/agent-evidence/policy/evaluate and say which in toolInvocation, or retire one of the connectors")
		case len(known) == 1:
			found := tools[known[0].Values.ConnectorKey()]
			return found[0], found[1], nil
		}
	}
	return connector, tool, nil
}

// decided are the states of connectors that people have decided about. One that is retired counts
// if no other does. Whatever an agent names is registered: that decides nothing.
var decided = [][]string{{"under_review", "approved", "blocked"}, {"retired"}}
