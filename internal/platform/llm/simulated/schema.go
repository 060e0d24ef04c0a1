package simulated

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chooser decides between the values that a schema allows. The zero value takes
// the least; a judge follows its score.
type chooser struct {
	judges bool
	score  float64
	choice string // an option that the prompt names
	wrong  bool   // the named option is not to be taken
	reason string // what free text says
	check  string // a code that the prompt wants to be repeated
	// abstains is whether the judge says that it cannot judge.
	abstains bool
}

// fill writes a value that a JSON Schema accepts. It follows what schemas for
// models are made of: types, properties, items, enum, const, bounds, common
// formats, anyOf, oneOf, allOf and references within. It does not follow
// pattern, not, if and uniqueItems.
func fill(schema jsontext.Value, c chooser) jsontext.Value {
	left := largest
	root := parsed(schema)
	f := filler{chooser: c, root: root, left: &left}
	out, err := json.Marshal(f.value(root, 0), json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}") // a number that JSON has no word for
	}
	return out
}

// A run sends the same schema with every call, so the last few are kept. They
// are read only.
var (
	schemasMu sync.Mutex
	schemas   = map[string]any{}
)

const maxSchemas = 64

// parsed reads a schema; what is none allows any object.
func parsed(schema jsontext.Value) any {
	schemasMu.Lock()
	defer schemasMu.Unlock()
	root, ok := schemas[string(schema)]
	if ok {
		return root
	}
	if len(schema) == 0 || json.Unmarshal(schema, &root) != nil {
		root = map[string]any{"type": "object"}
	}
	if len(schemas) >= maxSchemas {
		clear(schemas)
	}
	schemas[string(schema)] = root
	return root
}

type filler struct {
	chooser
	root any
	left *int // values that may still be made
}

// A schema that contains itself is followed so far, and filled with so much.
const (
	deepest = 24
	largest = 10_000
)

func (f filler) value(schema any, depth int) any {
	s, _ := schema.(map[string]any) // true allows anything, as {} does
	if *f.left--; depth > deepest || *f.left < 0 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return f.value(f.resolve(ref), depth+1)
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if options, ok := s["enum"].([]any); ok && len(options) > 0 {
		return f.option(options)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if ways, ok := s[word].([]any); ok && len(ways) > 0 {
			return f.value(f.way(ways, depth), depth+1)
		}
	}
	if all, ok := s["allOf"].([]any); ok && len(all) > 0 {
		return f.value(f.merged(s, all), depth+1)
	}
	switch f.kind(s, depth) {
	case "object":
		return f.object(s, depth)
	case "array":
		return f.array(s, depth)
	case "integer":
		return f.number(s, true)
	case "number":
		return f.number(s, false)
	case "boolean":
		return f.judges && f.score >= 0.5
	case "null":
		return nil
	}
	return f.text(s)
}

// kind is the type that a schema names, or shows by its words.
func (f filler) kind(s map[string]any, depth int) string {
	switch t := s["type"].(type) {
	case string:
		return strings.ToLower(t) // Google's own schemas say OBJECT
	case []any:
		names := []string{}
		for _, v := range t {
			if name, ok := v.(string); ok {
				names = append(names, name)
			}
		}
		// Null is for those who have nothing to say, or can go no deeper.
		if i := slices.IndexFunc(names, func(n string) bool { return n != "null" }); i >= 0 && depth < deepest/2 {
			return names[i]
		}
		if len(names) > 0 {
			return names[len(names)-1]
		}
	}
	switch {
	case s["properties"] != nil || s["required"] != nil:
		return "object"
	case s["items"] != nil || s["prefixItems"] != nil:
		return "array"
	case s["minimum"] != nil || s["maximum"] != nil:
		return "number"
	}
	return "string"
}

// way chooses among alternatives: the first, or deep down one that ends.
func (f filler) way(ways []any, depth int) any {
	if depth >= deepest/2 {
		for _, w := range ways {
			if s, ok := w.(map[string]any); ok && s["type"] == "null" {
				return w
			}
		}
		return ways[len(ways)-1]
	}
	return ways[0]
}

// merged is a schema with what all of several demand.
func (f filler) merged(s map[string]any, all []any) map[string]any {
	out, properties, required := map[string]any{}, map[string]any{}, []any{}
	add := func(s map[string]any) {
		for name, v := range s {
			out[name] = v
		}
		if more, ok := s["properties"].(map[string]any); ok {
			for name, v := range more {
				properties[name] = v
			}
		}
		if more, ok := s["required"].([]any); ok {
			required = append(required, more...)
		}
	}
	for _, v := range all {
		part, _ := v.(map[string]any)
		if ref, ok := part["$ref"].(string); ok {
			part, _ = f.resolve(ref).(map[string]any)
		}
		add(part)
	}
	add(s)
	delete(out, "allOf")
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// resolve follows a reference within the schema; another leads nowhere.
func (f filler) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := f.root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		m, _ := at.(map[string]any)
		at = m[step]
	}
	return at
}

// object has what is required; a judge, where nothing is, fills everything.
func (f filler) object(s map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, v := range required {
		if name, ok := v.(string); ok {
			out[name] = f.member(name, properties[name], depth)
		}
	}
	if f.judges && len(required) == 0 {
		for name, schema := range properties {
			out[name] = f.member(name, schema, depth)
		}
	}
	return out
}

// member is the value of a property. A judge repeats the code that it is given, and
// does not take the question whether it abstains for one about quality.
func (f filler) member(name string, schema any, depth int) any {
	v := f.value(schema, depth+1)
	switch v.(type) {
	case string:
		if name == "check" && f.check != "" {
			return f.check
		}
	case bool:
		if name == "abstain" {
			return f.abstains
		}
	}
	return v
}

func (f filler) array(s map[string]any, depth int) any {
	s = worded(s)
	out := []any{}
	least, _ := s["minItems"].(float64)
	places, _ := s["prefixItems"].([]any)
	for i := 0; i < int(min(least, 1000)); i++ {
		if i < len(places) {
			out = append(out, f.value(places[i], depth+1))
			continue
		}
		out = append(out, f.value(s["items"], depth+1))
	}
	return out
}

// number is the one nearest to zero that the bounds allow, or for a judge the
// one as far between them as its score.
func (f filler) number(s map[string]any, whole bool) any {
	s = worded(s)
	lowest, highest := math.Inf(-1), math.Inf(1)
	step, _ := s["multipleOf"].(float64)
	if step <= 0 && whole {
		step = 1
	}
	bound := func(name string) (float64, bool) { v, ok := s[name].(float64); return v, ok }
	if v, ok := bound("minimum"); ok {
		lowest = v
	}
	if v, ok := bound("maximum"); ok {
		highest = v
	}
	if v, ok := bound("exclusiveMinimum"); ok {
		lowest = max(lowest, above(v, step))
	}
	if v, ok := bound("exclusiveMaximum"); ok {
		highest = min(highest, -above(-v, step))
	}
	v := min(max(0, lowest), highest)
	if f.judges {
		from, to := lowest, highest
		if math.IsInf(from, -1) {
			from = min(0, to)
		}
		if math.IsInf(to, 1) {
			to = max(from+1, 1)
		}
		v = min(max(math.Round((from+(to-from)*f.score)*1e6)/1e6, from), to)
	}
	if step > 0 {
		v = math.Round(v/step) * step
		if v < lowest {
			v += step
		}
		if v > highest {
			v -= step
		}
	}
	return v + 0 // never -0
}

// above is the next number after v: a step, or a millionth where there is none.
func above(v, step float64) float64 {
	if step > 0 {
		return v + step
	}
	return v + 1e-6*max(1, math.Abs(v))
}

// good and bad are words by which schemas name verdicts.
var (
	good = []string{"pass", "passed", "yes", "true", "correct", "good", "accept", "accepted", "safe", "aligned", "relevant", "faithful"}
	bad  = []string{"fail", "failed", "no", "false", "incorrect", "bad", "reject", "rejected", "unsafe", "misaligned", "irrelevant", "unfaithful"}
)

// option chooses from an enum. For a judge that is the option that the prompt
// names, the verdict that its score means, or, if the options are no verdicts,
// the one as far down the list as its score.
func (f filler) option(options []any) any {
	if !f.judges {
		return options[0]
	}
	index := func(known func(string) bool) int {
		return slices.IndexFunc(options, func(v any) bool { s, ok := v.(string); return ok && known(strings.ToLower(s)) })
	}
	if f.choice != "" {
		if i := index(func(s string) bool { return s == strings.ToLower(f.choice) }); i >= 0 {
			if f.wrong {
				i = (i + 1) % len(options)
			}
			return options[i]
		}
	}
	verdicts := bad
	if f.score >= 0.5 {
		verdicts = good
	}
	if i := index(func(s string) bool { return slices.Contains(verdicts, s) }); i >= 0 {
		return options[i]
	}
	return options[int(math.Round(f.score*float64(len(options)-1)))]
}

var formats = map[string]string{
	"date-time": "2000-01-01T00:00:00Z", "date": "2000-01-01", "time": "00:00:00Z", "duration": "PT0S",
	"email": "nobody@example.com", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.com/", "uuid": "00000000-0000-4000-8000-000000000000",
}

func (f filler) text(s map[string]any) any {
	s = worded(s)
	if format, ok := s["format"].(string); ok && formats[format] != "" {
		return formats[format]
	}
	text := f.reason // plain ASCII, so that bytes are characters
	if least, ok := s["minLength"].(float64); ok && len(text) < int(min(least, 1e6)) {
		text += strings.Repeat("a", int(min(least, 1e6))-len(text))
	}
	if most, ok := s["maxLength"].(float64); ok && most >= 0 && len(text) > int(most) {
		text = text[:int(most)]
	}
	return text
}
