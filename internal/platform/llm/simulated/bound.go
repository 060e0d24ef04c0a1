package simulated

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// refusedBounds are keywords that Anthropic's structured output does not take.
var refusedBounds = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems"}

// unheeded finds a keyword of a schema that Anthropic refuses.
func unheeded(schema any) string {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			if word := unheeded(v); word != "" {
				return word
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s)) {
			named, _ := s[name].(map[string]any)
			switch {
			case slices.Contains(refusedBounds, name):
				return name
			case name == "properties" || name == "$defs":
				if word := unheededIn(named); word != "" {
					return word
				}
			case name != "enum" && name != "const" && name != "default":
				if word := unheeded(s[name]); word != "" {
					return word
				}
			}
		}
	}
	return ""
}

// unheededIn looks into schemas by name, where a name may be that of a keyword.
func unheededIn(named map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if word := unheeded(named[name]); word != "" {
			return word
		}
	}
	return ""
}

// worded is a schema with the bounds that its description ends with. Clients write
// them there where a provider refuses the keywords, as {"minimum":1} or, Anthropic's
// own, as {minimum: 1}, and models heed them.
func worded(s map[string]any) map[string]any {
	words, _ := s["description"].(string)
	i := strings.LastIndex(words, "{")
	if i < 0 || !strings.HasSuffix(words, "}") {
		return s
	}
	out := map[string]any{}
	for bound := range strings.SplitSeq(words[i+1:len(words)-1], ",") {
		name, value, _ := strings.Cut(bound, ":")
		if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			out[strings.Trim(name, " \"")] = n
		}
	}
	maps.Copy(out, s)
	return out
}
