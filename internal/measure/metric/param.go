package metric

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// settings are parameters that were read: a string, []string, float64, bool or,
// for what has no type of its own, a document.
type settings map[string]any

// document is a JSON value that was read, with its text.
type document struct {
	value any
	text  string
}

func (s settings) text(name string) string       { v, _ := s[name].(string); return v }
func (s settings) texts(name string) []string    { v, _ := s[name].([]string); return v }
func (s settings) number(name string) float64    { v, _ := s[name].(float64); return v }
func (s settings) yes(name string) bool          { v, _ := s[name].(bool); return v }
func (s settings) document(name string) document { v, _ := s[name].(document); return v }
func (s settings) has(name string) bool          { _, ok := s[name]; return ok }

// overlay reads parameters over those that are there. Names may be written in
// camelCase too. JSON null is no setting.
func (s settings) overlay(defined []Parameter, params Params) (settings, []Problem) {
	out := maps.Clone(s)
	if out == nil {
		out = settings{}
	}
	var problems []Problem
	seen := map[string]bool{}
	for _, sent := range slices.Sorted(maps.Keys(params)) {
		name := snake(sent)
		at := slices.IndexFunc(defined, func(p Parameter) bool { return p.Name == name })
		switch {
		case at < 0:
			problems = append(problems, Problem{cut(sent, 100), "unknown_field", "is not a parameter of this metric; " + known(defined)})
			continue
		case seen[name]:
			problems = append(problems, Problem{name, "ambiguous_field", "is given twice, in two spellings"})
			continue
		}
		seen[name] = true
		v, problem := defined[at].read(params[sent])
		switch {
		case problem != nil:
			problems = append(problems, *problem)
		case v != nil:
			out[name] = v
		}
	}
	return out, problems
}

func known(defined []Parameter) string {
	if len(defined) == 0 {
		return "it has none"
	}
	names := make([]string, len(defined))
	for i, p := range defined {
		names[i] = p.Name
	}
	return "it has " + strings.Join(names, ", ")
}

// snake turns camelCase into snake_case.
func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// defaults reads the defaults of parameters.
func defaults(defined []Parameter) settings {
	out := settings{}
	for _, p := range defined {
		if len(p.Default) == 0 {
			continue
		}
		v, problem := p.read(p.Default)
		if problem != nil {
			panic("default of " + p.Name + " " + problem.Message)
		}
		out[p.Name] = v
	}
	return out
}

// read returns the value of a parameter, or nil if there is none.
func (p Parameter) read(raw jsontext.Value) (any, *Problem) {
	w := work{schema.NewWork()}
	v, err := w.Decode(raw)
	if err != nil {
		return nil, p.wrong("format", err.Error())
	}
	if v == nil && p.Type != Any {
		return nil, nil
	}
	switch p.Type {
	case String:
		text, ok := v.(string)
		if !ok {
			return nil, p.wrong("type", "must be a string")
		}
		return text, p.checkText(text)
	case Strings:
		return p.readTexts(v)
	case Number:
		return p.readNumber(v)
	case Boolean:
		yes, ok := v.(bool)
		if !ok {
			return nil, p.wrong("type", "must be true or false")
		}
		return yes, nil
	}
	return p.readDocument(v, raw)
}

func (p Parameter) wrong(code, message string) *Problem { return &Problem{p.Name, code, message} }

func (p Parameter) checkText(text string) *Problem {
	switch {
	case p.Enum != nil && !slices.Contains(p.Enum, text):
		return p.wrong("enum", "must be one of "+strings.Join(p.Enum, ", "))
	case text == "" && p.Enum == nil && !p.Empty:
		return p.wrong("length", "must not be empty")
	case p.MaxLength > 0 && len(text) > p.MaxLength:
		return p.wrong("length", fmt.Sprintf("must be at most %d bytes long", p.MaxLength))
	}
	return nil
}

func (p Parameter) readTexts(v any) (any, *Problem) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if problem := p.checkCount(len(list)); problem != nil {
		return nil, problem
	}
	texts := make([]string, len(list))
	for i, e := range list {
		if texts[i], ok = e.(string); !ok {
			return nil, p.wrong("type", "must be a string or a list of strings")
		}
		if problem := p.checkText(texts[i]); problem != nil {
			return nil, problem
		}
	}
	return texts, nil
}

func (p Parameter) checkCount(n int) *Problem {
	switch {
	case n == 0 && !p.Empty:
		return p.wrong("length", "must not be empty")
	case p.MaxItems > 0 && n > p.MaxItems:
		return p.wrong("length", fmt.Sprintf("must have at most %d elements", p.MaxItems))
	}
	return nil
}

func (p Parameter) readNumber(v any) (any, *Problem) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, p.wrong("type", "must be a number")
	}
	f, err := n.Float64()
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return nil, p.wrong("format", "must be a finite number")
	case p.Minimum != nil && f < *p.Minimum:
		return nil, p.wrong("min", fmt.Sprintf("must be at least %v", *p.Minimum))
	case p.Maximum != nil && f > *p.Maximum:
		return nil, p.wrong("max", fmt.Sprintf("must be at most %v", *p.Maximum))
	}
	return f, nil
}

func (p Parameter) readDocument(v any, raw jsontext.Value) (any, *Problem) {
	switch list, isList := v.([]any); {
	case p.Type == Object:
		if _, ok := v.(map[string]any); !ok {
			return nil, p.wrong("type", "must be an object")
		}
	case p.Type == List && !isList:
		return nil, p.wrong("type", "must be a list")
	case p.Type == List:
		if problem := p.checkCount(len(list)); problem != nil {
			return nil, problem
		}
	}
	if p.MaxLength > 0 && len(raw) > p.MaxLength {
		return nil, p.wrong("length", fmt.Sprintf("must be at most %d bytes long", p.MaxLength))
	}
	return document{v, string(raw)}, nil
}
