package engine

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Obligation is what a caller must do with an action that it may take.
type Obligation struct {
	ID   string // unique in a verdict
	Type string
	Ext  jsontext.Value // its parameters, an object
}

// ObligationTypes are the types of obligations.
var ObligationTypes = []string{
	"redact_arguments", "mask_result", "require_idempotency_key", "record_side_effect", "verify_side_effect", "sandbox", "limit", "notify", "log_full",
}

// The obligation that the platform watches over, and its only parameter.
const (
	verifySideEffect = "verify_side_effect"
	withinSeconds    = "within_seconds"
)

var obligation = regexp.MustCompile(`^([a-z_]+)(?:\(([^()]*)\))?$`)

// obliges reads a list such as "log_full, verify_side_effect(within_seconds=3600)".
func (n *notes) obliges(list string) []Obligation {
	var out []Obligation
	for _, one := range outsideBrackets(list, ',') {
		m := obligation.FindStringSubmatch(one)
		if m == nil || !slices.Contains(ObligationTypes, m[1]) {
			n.refuse("obligations", "%q is none of %s", one, strings.Join(ObligationTypes, ", "))
			continue
		}
		out = append(out, Obligation{Type: m[1], Ext: n.parameters(m[1], m[2])})
	}
	return out
}

// parameters reads a list such as "within_seconds=3600, channel=ops".
func (n *notes) parameters(of, list string) jsontext.Value {
	ext := map[string]any{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(list) == "" {
			break
		}
		name, value, ok := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !factName.MatchString(name) || value == "" {
			n.refuse("obligations", "%s: %q is not a parameter of the form name=value", of, strings.TrimSpace(pair))
			continue
		}
		if _, twice := ext[name]; twice {
			n.refuse("obligations", "%s has the parameter %s twice", of, name)
		}
		ext[name] = scalar(value)
	}
	raw, err := json.Marshal(ext, json.Deterministic(true))
	if err != nil {
		n.refuse("obligations", "%s: its parameters cannot be written: %v", of, err)
	}
	return raw
}

// parameters refuses those of an obligation that the platform would not understand: it would
// expect the effect to be verified within a day, whatever the author meant. What other
// obligations say is for the caller to understand.
func (r *reviewer) parameters(obligations []Obligation) {
	at := r.passage.annotation("obligations")
	for _, o := range obligations {
		var ext map[string]any
		if o.Type != verifySideEffect || json.Unmarshal(o.Ext, &ext) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(ext)) {
			if name != withinSeconds {
				r.remark(at, UnknownAttribute, o.Type+"."+name, true, "@obligations: %s has no parameter %q; its only one is %s", o.Type, name, withinSeconds)
			} else if n, ok := ext[name].(float64); !ok || n < 1 {
				r.remark(at, WrongType, o.Type+"."+name, true, "@obligations: %s of %s is a whole number of seconds, at least 1, and not %v", name, o.Type, ext[name])
			}
		}
	}
}

func scalar(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// outsideBrackets splits a list at a separator that is not inside brackets, and trims
// the parts. An empty list has no parts.
func outsideBrackets(list string, separator rune) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case separator:
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	if rest := strings.TrimSpace(list[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
