package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// sum is the digest of all that is asked: two requests that differ in anything, the mode or
// the approval for example, are not the same request under one name.
func (a *asked) sum() ([]byte, error) {
	return sumOf([]any{
		a.input, a.Runtime, a.Only, a.Call.ID, a.Approval, a.Supported == nil, a.Supported, a.DryRun, a.trace.String(), a.Span, a.SubjectUser,
	})
}

// boundAction is the part of a question that an approval is bound to.
type boundAction struct {
	Runtime   string         `json:"runtime"`
	Connector string         `json:"connector"`
	Tool      string         `json:"tool"`
	Subject   entity         `json:"subject"`
	Action    entity         `json:"action"`
	Resource  entity         `json:"resource"`
	Arguments jsontext.Value `json:"arguments"`
}

type entity struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Properties jsontext.Value `json:"properties,omitempty"`
}

// bound is the action of a question, with its digests. With which key and when it is asked
// is not part of it.
func bound(q *engine.Question) (approval.Action, error) {
	subject, act, resource := q.Entities()
	a := boundAction{
		Runtime: q.RuntimeKey, Connector: q.ConnectorKey, Tool: q.ToolName,
		Subject: entity{subject.Type, subject.ID, q.Subject.Properties}, Action: entity{act.Type, act.ID, q.Action.Properties},
		Resource: entity{resource.Type, resource.ID, q.Resource.Properties}, Arguments: q.Arguments,
	}
	if len(a.Arguments) == 0 || a.Arguments.Kind() == 'n' {
		a.Arguments = jsontext.Value("{}")
	}
	whole, err := digest(a)
	if err != nil {
		return approval.Action{}, err
	}
	out := approval.Action{Digest: whole, Frame: whole}
	var arguments map[string]jsontext.Value
	if err := json.Unmarshal(a.Arguments, &arguments); err != nil {
		return approval.Action{}, err
	}
	if amount, ok := arguments[kind.FieldAmount]; ok {
		out.Amount = string(amount)
		if amount.Kind() == '"' {
			out.Amount = kind.Values(arguments).Text(kind.FieldAmount)
		}
		delete(arguments, kind.FieldAmount)
		if a.Arguments, err = json.Marshal(arguments); err != nil {
			return approval.Action{}, err
		}
		out.Frame, err = digest(a)
	}
	return out, err
}

// digest of the canonical form of a value.
func digest(v any) (string, error) {
	sum, err := sumOf(v)
	return "sha256:" + hex.EncodeToString(sum), err
}

func sumOf(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	// Numbers stay as they are written: two long ones are not the same because they are close.
	if err := canonical.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(canonical)
	return sum[:], nil
}
