package detect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Failure is a failure that a record shows.
type Failure struct {
	// Rule is the ID of the rule that found it.
	Rule     string
	Mode     string
	Severity string
	Title    string
	// Tool is the tool that was called, or what was done to the world; empty for a
	// step.
	Tool string
	// Message is what the record says about it; empty if it says nothing.
	Message string
}

// Failures returns what a record shows after a change and did not show before it. The
// record before is nil if there was none. A record whose failure is described better
// than before, in the same mode, shows nothing new.
func Failures(k *kind.Kind, before, after kind.Values) []Failure {
	var out []Failure
	known := matches(k, before)
	for _, r := range matches(k, after) {
		if slices.ContainsFunc(known, func(was *Rule) bool { return was.About == r.About && was.Mode == r.Mode }) {
			continue
		}
		out = append(out, Failure{r.ID, r.Mode, r.Severity, r.Title, cmp.Or(after.ToolName(), after.Operation()), message(after)})
	}
	return out
}

// matches are the rules that match a record, at most one about each question.
func matches(k *kind.Kind, v kind.Values) (out []*Rule) {
	if len(v) == 0 {
		return nil
	}
	r := record{values: v, fields: map[string]field{}, words: map[string][][]string{}}
	for _, rule := range rulesOf[k.Name] {
		if slices.ContainsFunc(out, func(m *Rule) bool { return m.About == rule.About }) {
			continue
		}
		if !slices.ContainsFunc(rule.When, func(c Condition) bool { return !r.holds(c) }) {
			out = append(out, rule)
		}
	}
	return out
}

// record is a record that is asked many questions.
type record struct {
	values kind.Values
	// fields are those that were asked for already, and words what their texts have.
	fields map[string]field
	words  map[string][][]string
}

// field is a field as conditions compare it, if it is there.
type field struct {
	text  string
	there bool
}

func (r record) holds(c Condition) bool {
	return slices.ContainsFunc(c.Fields, func(f string) bool { return r.field(f, c) })
}

// field reports whether a condition holds for one of its fields.
func (r record) field(name string, c Condition) bool {
	f, known := r.fields[name]
	if !known {
		if v := r.at(name); v != nil {
			f = field{plain(v), true}
		}
		r.fields[name] = f
	}
	if !f.there {
		return false
	}
	switch c.Op {
	case Exists:
		return true
	case Equals, OneOf:
		return slices.Contains(c.Values, f.text)
	case ContainsAny:
		return slices.ContainsFunc(c.Values, func(phrase string) bool { return r.contains(name, phrase) })
	}
	return false
}

// contains reports whether a phrase is in one of the texts of a field.
func (r record) contains(name, phrase string) bool {
	lists, ok := r.words[name]
	if !ok {
		for _, text := range texts(r.at(name)) {
			lists = append(lists, words(cut(text, maxRead)))
		}
		r.words[name] = lists
	}
	want, ok := phrases[phrase]
	if !ok {
		called := r.values.ToolName()
		if called == "" {
			return false
		}
		want = words(strings.ReplaceAll(phrase, "{tool}", called))
	}
	return slices.ContainsFunc(lists, func(text []string) bool { return within(text, want) })
}

// at is the value that a path leads to; nil if there is none, or null.
func (r record) at(path string) jsontext.Value {
	v := r.values
	for {
		name, rest, more := strings.Cut(path, ".")
		if !more {
			if v[name].Kind() == 'n' || len(v[name]) == 0 {
				return nil
			}
			return v[name]
		}
		v, path = v.Within(name), rest
	}
}

// plain is a value as conditions compare it.
func plain(v jsontext.Value) string {
	if v.Kind() == '"' {
		return unquoted(v)
	}
	return string(v)
}

// maxMessage is the length of a message in bytes; the rest is in the record.
const maxMessage = 2_000

// message is what a record says about its failure.
func message(v kind.Values) string {
	e := v.Error()
	text := cmp.Or(strings.TrimSpace(e.Message()), strings.TrimSpace(e.Type()))
	if text == "" {
		text = strings.TrimSpace(strings.Join(texts(v[kind.FieldResult]), " "))
	}
	return strings.ReplaceAll(cut(text, maxMessage), "\x00", " ")
}
