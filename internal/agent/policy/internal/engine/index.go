package engine

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"
)

// place is where the index keeps a statement. An empty part that is wild stands for
// every value.
type place struct {
	runtime, connector, tool part
}

type part struct {
	key  string
	wild bool
}

// maxPlaces is how often the index lists a statement. One with more is listed under
// fewer parts.
const maxPlaces = 64

// index finds the statements that can say something about a question without looking at
// the others.
type index struct {
	places    map[place][]int
	resources map[types.EntityUID][]int
}

func indexed(statements []*statement) index {
	x := index{places: map[place][]int{}, resources: map[types.EntityUID][]int{}}
	for i, s := range statements {
		if s.need.resource != nil {
			x.resources[*s.need.resource] = append(x.resources[*s.need.resource], i)
			continue
		}
		for _, p := range s.places() {
			x.places[p] = append(x.places[p], i)
		}
	}
	return x
}

// places are all places of a statement.
func (s *statement) places() []place {
	runtimes := parts(s.source.AppliesTo.RuntimeKeys, s.need.texts[runtimeKey])
	connectors := parts(s.source.AppliesTo.ConnectorKeys, s.need.texts[connectorKey])
	tools := parts(nil, s.need.texts[toolName])
	for len(runtimes)*len(connectors)*len(tools) > maxPlaces {
		longest := &runtimes
		for _, other := range []*[]part{&connectors, &tools} {
			if len(*other) > len(*longest) {
				longest = other
			}
		}
		*longest = []part{{wild: true}}
	}
	var out []place
	for _, r := range runtimes {
		for _, c := range connectors {
			for _, t := range tools {
				out = append(out, place{runtime: r, connector: c, tool: t})
			}
		}
	}
	return out
}

// parts are the keys of the shorter list that restricts anything.
func parts(a, b []string) []part {
	keys := a
	if len(a) == 0 || b != nil && len(b) < len(a) {
		keys = b
	}
	if keys == nil {
		return []part{{wild: true}}
	}
	var out []part
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		out = append(out, part{key: k})
	}
	return out
}

// candidates are the statements that can match a question or fail at it, in the order of
// the set.
func (s *Set) candidates(q *Question) []*statement {
	var found []int
	runtimes, connectors, tools := both(q.RuntimeKey), both(q.ConnectorKey), both(q.ToolName)
	for _, r := range runtimes {
		for _, c := range connectors {
			for _, t := range tools {
				found = append(found, s.index.places[place{runtime: r, connector: c, tool: t}]...)
			}
		}
	}
	resource := q.resource()
	found = append(found, s.index.resources[resource]...)
	slices.Sort(found)
	action := q.action()
	out := make([]*statement, 0, len(found))
	for _, i := range found {
		st := s.statements[i]
		if st.applies(q) && st.need.meets(q, action) {
			out = append(out, st)
		}
	}
	return out
}

func both(key string) [2]part { return [2]part{{wild: true}, {key: key}} }

// meets reports whether a question is what a statement needs.
func (n need) meets(q *Question, action types.EntityUID) bool {
	if n.action != nil && *n.action != action {
		return false
	}
	for name, texts := range n.texts {
		if q.early && late[name] {
			continue
		}
		if !slices.Contains(texts, q.text(name)) {
			return false
		}
	}
	return true
}

// late are the attributes that the platform looks up, after others have been decided on. It can
// replace the environment that the caller names.
var late = map[types.String]bool{
	environment: true, "side_effect_class": true, "reversibility": true, "connector_state": true, "connector_trust": true,
}

// text is an attribute that every question has.
func (q *Question) text(name types.String) string {
	switch name {
	case connectorKey:
		return q.ConnectorKey
	case toolName:
		return q.ToolName
	case runtimeKey:
		return q.RuntimeKey
	case environment:
		return q.Environment
	case "side_effect_class":
		return q.SideEffectClass
	case "reversibility":
		return q.Reversibility
	case "connector_state":
		return q.ConnectorState
	default:
		return q.ConnectorTrust
	}
}
