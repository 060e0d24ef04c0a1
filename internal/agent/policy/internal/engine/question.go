package engine

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/go-json-experiment/json/jsontext"
)

// Entity is who acts, what is done, or what it is done to.
type Entity struct {
	Type       string
	ID         string
	Properties jsontext.Value // an object, or nothing
}

// Question asks whether an action may be taken.
type Question struct {
	Subject  Entity // by default the runtime
	Action   Entity // by default a call of a tool
	Resource Entity // by default the tool

	// Context is what the caller adds, an object. It cannot replace what follows.
	Context jsontext.Value

	RuntimeKey      string
	ConnectorKey    string
	ToolName        string
	Environment     string
	Arguments       jsontext.Value // an object
	SideEffectClass string
	Reversibility   string
	ConnectorState  string
	ConnectorTrust  string

	// History has the facts that Set.Facts asks for. Reading one that is missing is an
	// error, so that a forbid that needs it denies.
	History map[Fact]FactValue

	// ApprovalSatisfied says that the people whom the policies require have agreed to
	// this very action.
	ApprovalSatisfied bool

	// Only restricts the question to policies with these keys.
	Only []string

	read  *conversion
	early bool // what the platform says about the action is not known yet
}

// Check returns why a question cannot be answered: something in it is not an object, is
// too long, too deep or too much. What it has read of the question stays with it: the
// properties, the context and the arguments must not change any more.
func (q *Question) Check() (err error) {
	if q.read == nil {
		q.read, err = q.convert()
	}
	return err
}

// conversion is what a question has in JSON, as values of Cedar. It does not change, and copies
// of the question share it.
type conversion struct {
	converter
	properties         [3]types.Record // of the subject, the action and the resource
	context, arguments types.RecordMap
}

func (q *Question) convert() (*conversion, error) {
	var c conversion
	for i, one := range []struct {
		what       string
		properties jsontext.Value
	}{
		{"subject", q.Subject.Properties},
		{"action", q.Action.Properties},
		{"resource", q.Resource.Properties},
	} {
		properties, err := c.record(one.properties)
		if err != nil {
			return nil, fmt.Errorf("properties of the %s: %w", one.what, err)
		}
		c.properties[i] = types.NewRecord(properties)
	}
	var err error
	if c.context, err = c.record(q.Context); err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	if c.arguments, err = c.record(q.Arguments); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return &c, nil
}

// prepared is a question in the terms of Cedar.
type prepared struct {
	Question
	properties [3]types.Record // of the subject, the action and the resource
	request    cedar.Request
	entities   types.EntityMap
	context    types.RecordMap // without history
	longest    int
	bytes      int
	lists      lists
}

func (q Question) prepare() (*prepared, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	c := q.read.converter
	p := &prepared{Question: q, properties: q.read.properties, context: maps.Clone(q.read.context), lists: c.lists}
	p.identify()
	for uid := range p.entities {
		c.text(string(uid.ID))
	}
	p.given(&c, q.read.arguments)
	p.longest, p.bytes = c.longest, c.bytes
	return p, nil
}

// identify puts the entities of the question into the request.
func (p *prepared) identify() {
	all := [3]types.EntityUID{p.subject(), p.action(), p.resource()}
	p.request.Principal, p.request.Action, p.request.Resource = all[0], all[1], all[2]
	p.entities = types.EntityMap{}
	for i, uid := range all {
		p.entities[uid] = types.Entity{UID: uid, Attributes: p.properties[i]}
	}
}

// as is another form of the question.
func (p *prepared) as(q Question) *prepared {
	out := *p
	out.Question = q
	out.identify()
	return &out
}

// given puts what is known about the action into the context, in place of what the
// caller says about it.
func (p *prepared) given(c *converter, arguments types.RecordMap) {
	for name, text := range map[types.String]string{
		"side_effect_class": p.SideEffectClass, "reversibility": p.Reversibility, "connector_key": p.ConnectorKey, "tool_name": p.ToolName,
		"connector_state": p.ConnectorState, "connector_trust": p.ConnectorTrust, "environment": p.Environment, "runtime_key": p.RuntimeKey,
	} {
		p.context[name] = c.text(text)
	}
	p.context["arguments"] = types.NewRecord(arguments)
	p.context["history"] = types.Record{}
	delete(p.context, "amount")
	delete(p.context, "currency")
	if amount, ok := toAmount(arguments["amount"]); ok {
		p.context["amount"] = amount
	} else if amount := arguments["amount"]; amount != nil {
		p.context["amount"] = amount // to compare it is an error, so that a forbid that does denies
	}
	if currency, ok := arguments["currency"].(types.String); ok {
		p.context["currency"] = currency
	}
}

// toAmount is an amount as a decimal: agents send it as a text or as a number.
func toAmount(v types.Value) (types.Value, bool) {
	switch v := v.(type) {
	case types.Decimal:
		return v, true
	case types.Long:
		return exact(v.String())
	case types.String:
		if strings.ContainsAny(string(v), "eE") {
			return nil, false
		}
		return exact(string(v))
	}
	return nil, false
}

// Entities are the subject, the action and the resource, with the types and ids that
// policies see.
func (q *Question) Entities() (subject, action, resource Entity) {
	named := func(uid types.EntityUID, e Entity) Entity {
		return Entity{Type: string(uid.Type), ID: string(uid.ID), Properties: e.Properties}
	}
	return named(q.subject(), q.Subject), named(q.action(), q.Action), named(q.resource(), q.Resource)
}

// subject is who acts, by default the runtime.
func (q *Question) subject() types.EntityUID {
	return types.NewEntityUID(entityType(q.Subject.Type, "Runtime"), types.String(cmp.Or(q.Subject.ID, q.RuntimeKey)))
}

// action is what is done, by default a call of a tool.
func (q *Question) action() types.EntityUID {
	return types.NewEntityUID("Action", types.String(cmp.Or(q.Action.ID, "tool.call")))
}

// resource is what it is done to, by default the tool.
func (q *Question) resource() types.EntityUID {
	return types.NewEntityUID(entityType(q.Resource.Type, "Tool"), types.String(cmp.Or(q.Resource.ID, q.ConnectorKey+"/"+q.ToolName)))
}

var (
	foreign = regexp.MustCompile(`[^A-Za-z0-9_]`)
	// reserved words cannot be part of a type's name.
	reserved = []string{"true", "false", "if", "then", "else", "in", "like", "has", "is", "__cedar"}
)

// entityType is a type as Cedar can write it: parts of letters, digits and _ that are
// separated by two colons. Other characters become _.
func entityType(name, otherwise string) types.EntityType {
	if name == "" {
		return types.EntityType(otherwise)
	}
	parts := strings.Split(name, "::")
	for i, part := range parts {
		part = foreign.ReplaceAllString(part, "_")
		if part == "" || digit(part[0]) || slices.Contains(reserved, part) {
			part = "_" + part
		}
		parts[i] = part
	}
	return types.EntityType(strings.Join(parts, "::"))
}

// in is the request with the history that a policy asks for.
func (p *prepared) in(facts map[string]Fact) cedar.Request {
	r := p.request
	context := p.context
	if len(facts) > 0 {
		history := types.RecordMap{}
		for name, f := range facts {
			v, ok := p.History[f]
			if !ok {
				continue
			}
			if value, ok := v.cedar(f.Measure); ok {
				history[types.String(name)] = value
			}
		}
		context["history"] = types.NewRecord(history)
		defer func() { context["history"] = types.Record{} }()
	}
	r.Context = types.NewRecord(context)
	return r
}
