package policy

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// settle makes a question mean the same however it is put: a subject that is a runtime is the
// runtime, and a resource that is a tool names the connector. So what is known about both, that
// they are stopped for example, and the past of the runtime hold for all ways to ask.
func (s *Service) settle(ctx context.Context, b *evaluateBody) error {
	if b.Subject.ID != "" && is(b.Subject.Type, "Runtime") {
		if b.RuntimeKey != "" && b.RuntimeKey != b.Subject.ID {
			return fault.Invalid("body", "/subject/id", "mutually_exclusive", "is another runtime than runtimeKey")
		}
		b.RuntimeKey = b.Subject.ID
	}
	connector, name, ok := engine.SplitTool(b.Resource.ID)
	if !ok || !is(b.Resource.Type, "Tool") {
		return nil
	}
	call := &b.ToolInvocation
	if call.ToolName != "" {
		if call.ConnectorKey+"/"+call.ToolName != b.Resource.ID {
			return fault.Invalid("body", "/resource/id", "mutually_exclusive", "is another tool than toolInvocation")
		}
		return nil
	}
	if strings.Contains(connector, "/") {
		var err error
		if connector, name, err = s.splitTool(ctx, b.Resource.ID); err != nil {
			return err
		}
	}
	call.ConnectorKey, call.ToolName = connector, name
	var said struct {
		Arguments httpapi.Object `json:"arguments"`
	}
	if len(b.Context) > 0 && json.Unmarshal(jsontext.Value(b.Context), &said) == nil {
		call.Arguments = said.Arguments
	}
	return nil
}

// is reports whether an entity has a type, which is also the one that it has if none is given.
func is(given, want string) bool { return given == "" || strings.EqualFold(given, want) }

// splitTool finds the connector in the id of a tool with more than one slash: the one that
// people of the organization have decided about, or all before the last slash if there is none.
// If there are several, the question has to say which is meant: what is forbidden for one may be
// allowed for another.
func (s *Service) splitTool(ctx context.Context, id string) (connector, tool string, err error) {
	org := principal.From(ctx).Org
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
		l := evidence.ListOf(evidence.Connectors)
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
			found := tools[known[0].Values.Text("connector_key")]
			return found[0], found[1], nil
		}
	}
	return connector, tool, nil
}

// decided are the states of connectors that people have decided about. One that is retired counts
// if no other does. Whatever an agent names is registered: that decides nothing.
var decided = [][]string{{"under_review", "approved", "blocked"}, {"retired"}}
