package app_test

import (
	"encoding/json"
	"slices"
	"strings"
)

// fields walks the documented fields of a body and sends each of them wrong.
// The path leads to the schema from the top of the body.
func (g *generator) fields(s map[string]any, path []any, depth int) {
	if depth > 3 {
		return
	}
	props, _ := s["properties"].(map[string]any)
	names := make([]string, 0, len(props))
	for name := range props {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		field := g.doc.resolve(props[name].(map[string]any))
		at := append(slices.Clone(path), name)
		for _, v := range g.badValues(field) {
			g.put("wrong value of "+name, at, v)
			if other := snakeOf(name); other != name {
				g.put("wrong value of "+other, append(slices.Clone(path), other), v)
			}
		}
		for _, twin := range []string{strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
			if twin != name {
				g.put("name in a casing of its own", append(slices.Clone(path), twin), g.doc.sample(field))
			}
		}
		if other := snakeOf(name); other != name {
			g.put("name in both casings", at, g.doc.sample(field), append(slices.Clone(path), other), differs(g.doc.sample(field)))
		}
		g.fields(field, at, depth+1)
		if items, ok := field["items"].(map[string]any); ok {
			inner := g.doc.resolve(items)
			for _, v := range g.badValues(inner) {
				g.put("wrong element of "+name, at, []any{v})
			}
			g.fields(inner, append(at, 0), depth+1)
		}
	}
}

// differs is a value of the same type that is not equal.
func differs(v any) any {
	switch v := v.(type) {
	case string:
		return v + "2"
	case map[string]any:
		return map[string]any{"another": 1}
	case bool:
		return !v
	}
	return 7
}

// badValues are values that a field must refuse.
func (g *generator) badValues(s map[string]any) []any {
	allowed := types(s)
	if slices.Contains(allowed, "any") {
		return nil
	}
	byType := map[string][]any{
		"string":  {canary},
		"number":  {1.5, -7.25},
		"integer": {12345},
		"boolean": {true},
		"array":   {[]any{canary}, []any{}},
		"object":  {map[string]any{"deep": canary}, map[string]any{}},
	}
	var out []any
	for _, t := range []string{"string", "number", "integer", "boolean", "array", "object"} {
		if !slices.Contains(allowed, t) && (t != "integer" || !slices.Contains(allowed, "number")) {
			out = append(out, byType[t]...)
		}
	}
	if _, ok := s["enum"]; ok {
		return append(out, canary, "", "\x00", strings.Repeat("x", 5000))
	}
	switch allowed[0] {
	case "string":
		if high, ok := number(s["maxLength"]); ok {
			out = append(out, strings.Repeat("x", int(high)+1), strings.Repeat("é", int(high)+1), strings.Repeat("x", 500_000))
		}
		if low, ok := number(s["minLength"]); ok && low > 0 {
			out = append(out, "")
		}
		if s["format"] != nil {
			out = append(out, canary, "", "2026-13-01T00:00:00Z")
		}
		out = append(out, "a\x00"+canary, "\x00")
	case "integer", "number":
		if low, ok := number(s["minimum"]); ok {
			out = append(out, low-1, -9007199254740991)
		}
		if high, ok := number(s["maximum"]); ok {
			out = append(out, high+1, 9007199254740993)
		}
		if allowed[0] == "number" {
			if _, ok := s["maximum"]; ok {
				out = append(out, json.Number("1e308"))
			}
		}
	case "array":
		if high, ok := number(s["maxItems"]); ok {
			long := make([]any, int(high)+1)
			for i := range long {
				long[i] = i
			}
			out = append(out, long)
		}
		if s["uniqueItems"] == true {
			out = append(out, []any{canary, canary})
		}
	}
	return out
}

// put sends the accepted body with one or two values put into it. What the
// path leads through and the body does not have is made.
func (g *generator) put(kind string, path []any, value any, more ...any) {
	var body any
	if err := json.Unmarshal(g.op.body, &body); err != nil {
		panic(err)
	}
	body = place(body, path, value)
	if len(more) == 2 {
		body = place(body, more[0].([]any), more[1])
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	b := g.request(kind, 400)
	b.body = text
	g.add(b)
}

func place(into any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	if _, ok := path[0].(int); ok {
		list, _ := into.([]any)
		if len(list) == 0 {
			list = []any{map[string]any{}}
		}
		list[0] = place(list[0], path[1:], value)
		return list
	}
	object, _ := into.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	name := path[0].(string)
	object[name] = place(object[name], path[1:], value)
	return object
}
