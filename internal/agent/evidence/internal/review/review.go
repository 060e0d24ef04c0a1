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
var guarded = []string{kind.FieldType, kind.FieldEndpoint, kind.FieldAuth, kind.FieldManifestDigest, kind.FieldTools}

// Believed reports whether people have reviewed what a connector says about itself.
func Believed(v kind.Values) bool {
	t := v.TrustLevel()
	return t == "reviewed" || t == "trusted"
}

// Drifted reports whether a connector is not what it was: its manifest is another one, or
// something that people decided on has changed.
func Drifted(before, after kind.Values) bool {
	was, is := before.ManifestDigest(), after.ManifestDigest()
	if was != "" && was != is {
		return true
	}
	if before.State() != "approved" && !Believed(before) {
		return false
	}
	if normal.Paged(after) && !normal.Paged(before) {
		return true // from now on, tools that are gone would not be noticed
	}
	return slices.ContainsFunc(guarded, func(name string) bool {
		if name == kind.FieldTools && normal.Paged(after) {
			return !added(before, after)
		}
		return !bytes.Equal(before[name], after[name])
	})
}

// added reports whether all tools are there that were, as they were. A page may add others:
// what they do is unknown until people look at them.
func added(before, after kind.Values) bool {
	now := byName(after.Tools())
	return !slices.ContainsFunc(before.Tools(), func(t kind.Values) bool { return !bytes.Equal(t.JSON(), now[t.Name()].JSON()) })
}

// Classes are the tools that a connector reports, with classes that can be relied on: one
// that is known stays until people change it, and what a report says about a new tool
// never makes it harmless. A new tool of a connector that people have decided on is
// unknown to them.
func Classes(before, reported kind.Values) jsontext.Value {
	old, now := byName(before.Tools()), reported.Tools()
	if now == nil {
		return reported[kind.FieldTools]
	}
	decided := before.State() == "approved" || Believed(before)
	for _, t := range now {
		was := old[t.Name()]
		class := t.SideEffectClass()
		if decided || class == "" || class == "read" || class == "none" {
			class = "unknown"
		}
		if known := was.SideEffectClass(); known != "" && known != "unknown" {
			class = known
		}
		t[kind.FieldSideEffectClass] = kind.TextValue(class)
		delete(t, kind.FieldReversibility)
		for _, name := range []string{kind.FieldReversibility, kind.FieldCompensationTool} {
			if known := was[name]; known != nil {
				t[name] = known
			}
		}
	}
	return sorted(now, reported[kind.FieldTools])
}

// Edited are the tools of a connector after a person has said something about some of
// them. What the connector says about them stays.
func Edited(known, said kind.Values) jsontext.Value {
	all := known.Tools()
	named := byName(all)
	for _, t := range said.Tools() {
		was := named[t.Name()]
		if was == nil {
			all = append(all, t)
			continue
		}
		for _, name := range []string{kind.FieldSideEffectClass, kind.FieldReversibility, kind.FieldCompensationTool} {
			if t[name] != nil {
				was[name] = t[name]
			}
		}
	}
	return sorted(all, said[kind.FieldTools])
}

// sorted are tools by name: a server may list them in any order.
func sorted(all []kind.Values, otherwise jsontext.Value) jsontext.Value {
	type named struct {
		name string
		tool kind.Values
	}
	list := make([]named, len(all))
	for i, t := range all {
		list[i] = named{t.Name(), t}
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
func union(known, page kind.Values) jsontext.Value {
	all, reported := []kind.Values{}, byName(page.Tools())
	for _, t := range known.Tools() {
		name := t.Name()
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
	return sorted(all, page[kind.FieldTools])
}

// byName are tools by their names.
func byName(all []kind.Values) map[string]kind.Values {
	out := make(map[string]kind.Values, len(all))
	for _, t := range all {
		if name := t.Name(); out[name] == nil {
			out[name] = t
		}
	}
	return out
}

// tool is the one with a name; nil if there is none.
func tool(all []kind.Values, name string) kind.Values {
	i := slices.IndexFunc(all, func(t kind.Values) bool { return t.Name() == name })
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
		delete(v, kind.FieldManifestDigest) // of a page
		if v[kind.FieldTools] != nil {
			v[kind.FieldTools] = union(before, v)
		}
	}
	if v[kind.FieldTools] != nil {
		v[kind.FieldTools] = Classes(before, v)
	}
	return v
}

// Class is what a call of a tool does to the world, if its report does not say so: what
// its connector has for the tool, or else what the hints of the call say. Connector is nil
// if there is none.
func Class(call, connector kind.Values) string {
	believed := Believed(connector)
	known := tool(connector.Tools(), call.ToolName()).SideEffectClass()
	switch {
	case known != "" && (believed || known != "read" && known != "none"):
		return known
	case call[kind.FieldAnnotations] != nil:
		return normal.Class(call.Annotations(), believed)
	}
	return "unknown"
}

// Tool is what a call of one of a connector's tools does to the world, and whether it can
// be undone, as far as that can be relied on.
func Tool(connector kind.Values, name string) (class, reversibility string) {
	class = Class(kind.Values{kind.FieldToolName: kind.TextValue(name)}, connector)
	if reversibility = tool(connector.Tools(), name).Reversibility(); reversibility == "" {
		reversibility = "unknown"
	}
	return class, reversibility
}
