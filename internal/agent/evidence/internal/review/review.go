package review

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// guarded are the fields of a connector that people look at when they decide about it.
var guarded = []string{"type", "endpoint", "auth", "manifest_digest", "tools"}

// Believed reports whether people have reviewed what a connector says about itself.
func Believed(v kind.Values) bool {
	t := v.Text("trust_level")
	return t == "reviewed" || t == "trusted"
}

// Drifted reports whether a connector is not what it was: its manifest is another one, or
// something that people decided on has changed.
func Drifted(before, after kind.Values) bool {
	was, is := before.Text("manifest_digest"), after.Text("manifest_digest")
	if was != "" && was != is {
		return true
	}
	if before.Text("state") != "approved" && !Believed(before) {
		return false
	}
	if normal.Paged(after) && !normal.Paged(before) {
		return true // from now on, tools that are gone would not be noticed
	}
	return slices.ContainsFunc(guarded, func(name string) bool {
		if name == "tools" && normal.Paged(after) {
			return !added(before[name], after[name])
		}
		return !bytes.Equal(before[name], after[name])
	})
}

// added reports whether all tools are there that were, as they were. A page may add others:
// what they do is unknown until people look at them.
func added(before, after jsontext.Value) bool {
	now := byName(toolsOf(after))
	return !slices.ContainsFunc(toolsOf(before), func(t kind.Values) bool { return !bytes.Equal(t.JSON(), now[t.Text("name")].JSON()) })
}

// Classes are the tools that a connector reports, with classes that can be relied on: one
// that is known stays until people change it, and what a report says about a new tool
// never makes it harmless. A new tool of a connector that people have decided on is
// unknown to them.
func Classes(before kind.Values, reported jsontext.Value) jsontext.Value {
	old, now := byName(toolsOf(before["tools"])), toolsOf(reported)
	if now == nil {
		return reported
	}
	decided := before.Text("state") == "approved" || Believed(before)
	for _, t := range now {
		was := old[t.Text("name")]
		class := t.Text("side_effect_class")
		if decided || class == "" || class == "read" || class == "none" {
			class = "unknown"
		}
		if known := was.Text("side_effect_class"); known != "" && known != "unknown" {
			class = known
		}
		t["side_effect_class"] = kind.TextValue(class)
		delete(t, "reversibility")
		for _, name := range []string{"reversibility", "compensation_tool"} {
			if known := was[name]; known != nil {
				t[name] = known
			}
		}
	}
	return sorted(now, reported)
}

// Edited are the tools of a connector after a person has said something about some of
// them. What the connector says about them stays.
func Edited(known, said jsontext.Value) jsontext.Value {
	all := toolsOf(known)
	named := byName(all)
	for _, t := range toolsOf(said) {
		was := named[t.Text("name")]
		if was == nil {
			all = append(all, t)
			continue
		}
		for _, name := range []string{"side_effect_class", "reversibility", "compensation_tool"} {
			if t[name] != nil {
				was[name] = t[name]
			}
		}
	}
	return sorted(all, said)
}

// sorted are tools by name: a server may list them in any order.
func sorted(all []kind.Values, otherwise jsontext.Value) jsontext.Value {
	type named struct {
		name string
		tool kind.Values
	}
	list := make([]named, len(all))
	for i, t := range all {
		list[i] = named{t.Text("name"), t}
	}
	slices.SortStableFunc(list, func(a, b named) int { return strings.Compare(a.name, b.name) })
	for i := range list {
		all[i] = list[i].tool
	}
	text, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return otherwise
	}
	return text
}

// union are the tools that are known, and those that a page adds, up to as many as one
// report can have. What is left out is unknown, as every tool is at first.
func union(known, page jsontext.Value) jsontext.Value {
	all, reported := []kind.Values{}, byName(toolsOf(page))
	for _, t := range toolsOf(known) {
		name := t.Text("name")
		if again := reported[name]; again != nil {
			t = again
			delete(reported, name)
		}
		all = append(all, t)
	}
	for _, name := range slices.Sorted(maps.Keys(reported)) {
		if len(all) == normal.MaxTools {
			break
		}
		all = append(all, reported[name])
	}
	return sorted(all, page)
}

// toolsOf are the tools of a connector; nil if the value is not a list of them.
func toolsOf(v jsontext.Value) []kind.Values {
	var out []kind.Values
	if len(v) == 0 || json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

// byName are tools by their names.
func byName(all []kind.Values) map[string]kind.Values {
	out := make(map[string]kind.Values, len(all))
	for _, t := range all {
		if name := t.Text("name"); out[name] == nil {
			out[name] = t
		}
	}
	return out
}

// tool is the one with a name; nil if there is none.
func tool(all []kind.Values, name string) kind.Values {
	i := slices.IndexFunc(all, func(t kind.Values) bool { return t.Text("name") == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Kept is what a connector reports, as it is kept: the tools of a page add to those that
// are known.
func Kept(before, reported kind.Values) kind.Values {
	v := maps.Clone(reported)
	if normal.Paged(before) || normal.Paged(reported) {
		delete(v, "manifest_digest") // of a page
		if v["tools"] != nil {
			v["tools"] = union(before["tools"], v["tools"])
		}
	}
	if v["tools"] != nil {
		v["tools"] = Classes(before, v["tools"])
	}
	return v
}

// Class is what a call of a tool does to the world, if its report does not say so: what
// its connector has for the tool, or else what the hints of the call say. Connector is nil
// if there is none.
func Class(call, connector kind.Values) string {
	believed := Believed(connector)
	known := tool(toolsOf(connector["tools"]), call.Text("tool_name")).Text("side_effect_class")
	switch {
	case known != "" && (believed || known != "read" && known != "none"):
		return known
	case call["annotations"] != nil:
		return normal.Class(call.Within("annotations"), believed)
	}
	return "unknown"
}

// Tool is what a call of one of a connector's tools does to the world, and whether it can
// be undone, as far as that can be relied on.
func Tool(connector kind.Values, name string) (class, reversibility string) {
	class = Class(kind.Values{"tool_name": kind.TextValue(name)}, connector)
	if reversibility = tool(toolsOf(connector["tools"]), name).Text("reversibility"); reversibility == "" {
		reversibility = "unknown"
	}
	return class, reversibility
}
