package policy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// ErrTestsFailed is returned when a policy does not decide as its tests expect.
var ErrTestsFailed = fault.New(fault.Validation, "tests_failed", "The policy does not pass its tests. Change the source or the tests.")

var (
	errInvalidPolicy = fault.New(fault.Validation, "invalid_policy", "The source is not a policy.")
	errUnworkable    = fault.New(fault.Validation, "invalid_policy", "The source has parts that cannot work as they are written.")
)

// maxTests bounds the tests of a policy, in bytes of their inputs.
const maxTests = 64 << 10

// Test is a question, and what the policy alone must decide.
type Test struct {
	Name   string
	Input  jsontext.Value // an object, as it was sent
	Expect engine.Decision
	RuleID string // must be among the reasons; may be empty
}

// testInput is a question, with what an evaluation would look up.
type testInput struct {
	Subject        testEntity     `json:"subject"`
	Action         testEntity     `json:"action"`
	Resource       testEntity     `json:"resource"`
	Context        jsontext.Value `json:"context"`
	ToolInvocation struct {
		ConnectorKey string         `json:"connectorKey"`
		ToolName     string         `json:"toolName"`
		Arguments    jsontext.Value `json:"arguments"`
		InvocationID string         `json:"invocationId"`
	} `json:"toolInvocation"`
	RuntimeKey        string                    `json:"runtimeKey"`
	Environment       string                    `json:"environment"`
	SideEffectClass   string                    `json:"sideEffectClass"`
	Reversibility     string                    `json:"reversibility"`
	ConnectorState    string                    `json:"connectorState"`
	ConnectorTrust    string                    `json:"connectorTrust"`
	ApprovalSatisfied bool                      `json:"approvalSatisfied"`
	History           map[string]jsontext.Value `json:"history"`
}

type testEntity struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Name       string         `json:"name"` // of an action
	Properties jsontext.Value `json:"properties"`
}

// check refuses a spec that cannot be parsed or does not pass its tests, and, if its source is
// new, one with parts that cannot work. It returns what else is remarkable.
func (s *Service) check(ctx context.Context, spec Spec, fresh bool) ([]engine.Remark, error) {
	failed, remarks, err := s.try(ctx, spec, fresh)
	return remarks, passed(failed, err)
}

// passed is the refusal of what failed, or nil.
func passed(failed []failure, err error) error {
	if err != nil || len(failed) == 0 {
		return err
	}
	refusal := ErrTestsFailed
	for _, f := range failed {
		refusal = refusal.WithFields(fault.Field{In: "body", Path: "/tests/" + strconv.Itoa(f.index), Code: "format", Message: fmt.Sprintf("%q: %s", f.name, f.message)})
	}
	return refusal
}

// failure is a test that failed.
type failure struct {
	index         int
	name, message string
}

// try reads a spec and runs its tests, in the processor time of the organization. What cannot
// work is refused if the source is new, and otherwise remarked on: connectors may have changed
// since it was saved, and the rest of the policy must stay changeable.
func (s *Service) try(ctx context.Context, spec Spec, fresh bool) (failed []failure, remarks []engine.Remark, err error) {
	if err := readable(ctx, spec.Source); err != nil {
		return nil, nil, err
	}
	tests, err := toCases(spec.Tests)
	if err != nil {
		return nil, nil, err
	}
	if remarks, err = s.review(ctx, principal.From(ctx).Org, spec.Source, tests); err != nil {
		return nil, nil, err
	}
	if fresh {
		if err := refusalOf(remarks); err != nil {
			return nil, nil, err
		}
	}
	err = admission.From(ctx).Work(ctx, func(func() error) error {
		failed, err = run(spec)
		return err
	})
	return failed, remarks, err
}

// readable refuses a source that is not a policy.
func readable(ctx context.Context, source string) error {
	return admission.From(ctx).Work(ctx, func(func() error) error {
		if _, problems := engine.Parse(source); len(problems) > 0 {
			return unparsed(problems)
		}
		return nil
	})
}

// refusalOf is the refusal of what cannot work, with the place of each; nil if there is none.
func refusalOf(remarks []engine.Remark) error {
	refusal, found := errUnworkable, false
	for _, r := range remarks {
		if r.Refused {
			refusal, found = refusal.WithFields(fault.Field{In: "body", Path: "/source", Code: violated(r.Code), Message: place(r.Problem)}), true
		}
	}
	if !found {
		return nil
	}
	return refusal
}

// violated is the rule that a part of a source violates.
func violated(code string) string {
	switch code {
	case engine.WrongType:
		return "type"
	case engine.GuardedFact:
		return "format"
	default:
		return "unknown_reference"
	}
}

// place is a problem with where it is.
func place(p engine.Problem) string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Message)
}

func run(spec Spec) ([]failure, error) {
	if _, problems := engine.Parse(spec.Source); len(problems) > 0 {
		return nil, unparsed(problems)
	}
	cases, err := toCases(spec.Tests)
	if err != nil {
		return nil, err
	}
	found, err := engine.RunTests(spec.Source, cases)
	if err != nil {
		return nil, err
	}
	var failed []failure
	for _, f := range found {
		failed = append(failed, failure{index: f.Index, name: f.Name, message: f.Message})
	}
	return failed, nil
}

// unparsed is the refusal of a source, with the place of each problem.
func unparsed(problems []engine.Problem) error {
	refusal := errInvalidPolicy
	for _, p := range problems {
		refusal = refusal.WithFields(fault.Field{In: "body", Path: "/source", Code: "format", Message: place(p)})
	}
	return refusal
}

func toCases(tests []Test) ([]engine.Case, error) {
	size := 0
	out := make([]engine.Case, len(tests))
	for i, t := range tests {
		if size += len(t.Input); size > maxTests {
			return nil, fault.Invalid("body", "/tests", "max", fmt.Sprintf("must have inputs of at most %d bytes together", maxTests))
		}
		c, err := t.toCase()
		if err != nil {
			return nil, fault.Invalid("body", "/tests/"+strconv.Itoa(i)+"/input", "format", err.Error())
		}
		out[i] = c
	}
	return out, nil
}

// toCase reads the input, whose names may be in camel case or snake case.
func (t Test) toCase() (engine.Case, error) {
	var in testInput
	if err := json.Unmarshal(t.Input, &in, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)); err != nil {
		return engine.Case{}, unreadable(err)
	}
	entity := func(e testEntity) engine.Entity {
		return engine.Entity{Type: e.Type, ID: e.ID, Properties: e.Properties}
	}
	c := engine.Case{Name: t.Name, Expect: t.Expect, RuleID: t.RuleID, History: map[string]engine.FactValue{}, Question: engine.Question{
		Subject: entity(in.Subject), Action: entity(in.Action), Resource: entity(in.Resource), Context: in.Context,
		RuntimeKey: in.RuntimeKey, ConnectorKey: in.ToolInvocation.ConnectorKey, ToolName: in.ToolInvocation.ToolName, Environment: in.Environment,
		Arguments: in.ToolInvocation.Arguments, SideEffectClass: in.SideEffectClass, Reversibility: in.Reversibility,
		ConnectorState: in.ConnectorState, ConnectorTrust: in.ConnectorTrust, ApprovalSatisfied: in.ApprovalSatisfied,
	}}
	if in.Action.Name != "" {
		c.Question.Action.ID = in.Action.Name
	}
	for name, value := range in.History {
		v, err := toFact(value)
		if err != nil {
			return engine.Case{}, fmt.Errorf("has a fact %q that is not a number, a text with a number, or true or false", name)
		}
		c.History[name] = v
	}
	return c, nil
}

// toFact reads a fact whose measure the policy knows.
func toFact(value jsontext.Value) (engine.FactValue, error) {
	v := engine.FactValue{Sum: "0"}
	switch value.Kind() {
	case 't', 'f':
		v.Formerly = value.Kind() == 't'
	case '"':
		return v, json.Unmarshal(value, &v.Sum)
	case '0':
		v.Sum = string(value)
		v.Count, _ = strconv.ParseInt(v.Sum, 10, 64)
	default:
		return v, errors.New("not a fact")
	}
	return v, nil
}

// unreadable says what is wrong with an input, and where.
func unreadable(err error) error {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return errors.New("is not a question")
	}
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		return fmt.Errorf("has an unknown field at %s", semantic.JSONPointer)
	}
	return fmt.Errorf("has a value of the wrong type at %q", semantic.JSONPointer)
}

// review looks for names in a policy that are not known, and for uses of them that cannot work.
func (s *Service) review(ctx context.Context, org principal.OrgID, source string, tests []engine.Case) (remarks []engine.Remark, err error) {
	var m engine.Mentions
	work := admission.From(ctx).Work
	if err := work(ctx, func(func() error) error { m = engine.MentionsOf(source); return nil }); err != nil {
		return nil, err
	}
	names, err := s.names(ctx, org, m)
	if err != nil {
		return nil, err
	}
	err = work(ctx, func(func() error) error { remarks = engine.Review(source, tests, names); return nil })
	return remarks, err
}
