package policy

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// input is a question as decisions keep it.
type input struct {
	Subject    entity         `json:"subject"`
	Action     entity         `json:"action"`
	Resource   entity         `json:"resource"`
	Context    jsontext.Value `json:"context,omitempty"`
	Invocation *invocation    `json:"tool_invocation,omitempty"`
	Known      *knowledge     `json:"known,omitempty"`
}

type invocation struct {
	ConnectorKey string         `json:"connector_key,omitempty"`
	ToolName     string         `json:"tool_name"`
	Arguments    jsontext.Value `json:"arguments,omitempty"`
}

// knowledge is what was known when a decision was made and the question does not say. With
// it, the question can be asked again.
type knowledge struct {
	Environment    string `json:"environment,omitempty"` // of the runtime; otherwise that of the context holds
	ConnectorState string `json:"connector_state,omitempty"`
	ConnectorTrust string `json:"connector_trust,omitempty"`
	// Supported are the obligations that the caller could honour; absent if it did not say.
	Supported []string `json:"supported_obligations,omitzero"`
	// History has the facts that were looked up, as policies write them.
	History map[string]pastFact `json:"history,omitempty"`
}

// pastFact is the value of a fact when a decision was made.
type pastFact struct {
	Count int64  `json:"count"`
	Sum   string `json:"sum"`
}

func (f pastFact) value() engine.FactValue {
	return engine.FactValue{Count: f.Count, Sum: f.Sum, Formerly: f.Count > 0}
}

// inputOf is a question as it is put, without what the platform knows.
func inputOf(q *engine.Question) input {
	subject, action, resource := q.Entities()
	in := input{Subject: entity(subject), Action: entity(action), Resource: entity(resource), Context: q.Context}
	if q.ToolName != "" {
		in.Invocation = &invocation{q.ConnectorKey, q.ToolName, q.Arguments}
	}
	return in
}

// record is the question with what was known.
func (a *asked) record(out answer) (jsontext.Value, error) {
	k := knowledge{
		Environment: out.environment, ConnectorState: out.connectorState, ConnectorTrust: out.connectorTrust,
		History: map[string]pastFact{},
	}
	if a.Supported != nil {
		k.Supported = []string{}
	}
	for _, o := range engine.ObligationTypes { // what is none of them is the caller's own, and stays with it
		if slices.Contains(a.Supported, o) {
			k.Supported = append(k.Supported, o)
		}
	}
	for f, v := range a.question.History {
		k.History[f.String()] = pastFact{v.Count, v.Sum}
	}
	known, err := json.Marshal(k, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	whole := maps.Clone(a.stored)
	whole["known"] = known
	return whole.JSON(), nil
}

// recalled is the question that a decision answered, if the record has all of it. The digest
// of the action shows whether something is missing that the decision depended on.
func recalled(r *evidence.Record) (engine.Question, *knowledge, bool) {
	var in input
	if err := json.Unmarshal(r.Values[kind.FieldInput], &in); err != nil || in.Known == nil {
		return engine.Question{}, nil, false
	}
	q := engine.Question{
		Subject: engine.Entity(in.Subject), Action: engine.Entity(in.Action), Resource: engine.Entity(in.Resource), Context: in.Context, RuntimeKey: r.RuntimeKey,
		SideEffectClass: r.Values.SideEffectClass(), Reversibility: r.Values.Reversibility(),
		ConnectorState: in.Known.ConnectorState, ConnectorTrust: in.Known.ConnectorTrust, Environment: environmentOf(in.Context),
	}
	if in.Known.Environment != "" {
		q.Environment = in.Known.Environment
	}
	if in.Invocation != nil {
		q.ConnectorKey, q.ToolName, q.Arguments = in.Invocation.ConnectorKey, in.Invocation.ToolName, in.Invocation.Arguments
	}
	act, err := bound(&q)
	return q, in.Known, err == nil && act.Digest == r.Values.InputDigest()
}

// environmentOf is where a question says that it is asked.
func environmentOf(context jsontext.Value) string {
	var all kind.Values
	if len(context) == 0 || json.Unmarshal(context, &all) != nil {
		return ""
	}
	return all.Environment()
}
