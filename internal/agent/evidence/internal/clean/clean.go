// Package clean removes from reports what an organization does not want to have stored.
package clean

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// Names removes what the organization does not want to have stored from the keys of
// things, by which they are found.
func Names(red *redact.Redactor, d *kind.Draft) {
	for _, name := range []string{d.Kind.KeyField, kind.FieldRuntimeKey, kind.FieldConnectorKey} {
		if v := d.Values[name]; len(v) > 0 {
			if out, changed := red.JSONText(nil, v); changed {
				d.Values[name] = bytes.Clone(out)
			}
		}
	}
}

// Text is a text without what the organization does not want to have stored.
func Text(red *redact.Redactor, text string) string {
	if text == "" {
		return ""
	}
	out, changed := red.JSONText(nil, kind.TextValue(text))
	if !changed {
		return text
	}
	return kind.Values{"": out}.Text("")
}

// strictRule is the rule by which a strict envelope leaves something out.
const strictRule = "strict"

// Draft removes what the organization does not want to have stored, and notes where and by
// which rule. Strict also leaves out what has a digest, which stays.
func Draft(red *redact.Redactor, d *kind.Draft, strict bool) {
	var where []map[string]string
	for name := range d.Values {
		f := d.Kind.Field(name)
		if f != nil && (f.Type == kind.Enum || f.Type == kind.Time || f.Type == kind.Digest) || name == kind.FieldSpanID {
			continue
		}
		if out, changed := red.JSONText(nil, d.Values[name]); changed {
			for _, rule := range rulesOf(d.Values[name], out) {
				where = append(where, map[string]string{kind.FieldPath: "/" + name, kind.FieldRule: rule})
			}
			d.Values[name] = bytes.Clone(out)
		}
		if strict && withhold(d, name) {
			where = append(where, map[string]string{kind.FieldPath: "/" + name, kind.FieldRule: strictRule})
		}
	}
	if len(where) == 0 {
		return
	}
	slices.SortStableFunc(where, func(a, b map[string]string) int { return strings.Compare(a[kind.FieldPath], b[kind.FieldPath]) })
	if text, err := json.Marshal(where, json.Deterministic(true)); err == nil {
		d.Values[kind.FieldRedactions] = text
	}
}

// withhold leaves only the digest of a field, if it can have one. What was sent besides the
// fields of the kind has none, and is left out.
func withhold(d *kind.Draft, name string) bool {
	digest := name + "_digest"
	if d.Kind.Field(digest) != nil {
		if d.Values[digest] == nil {
			d.Values[digest] = kind.TextValue(kind.DigestOf(d.Values[name]))
		}
	} else if name != kind.FieldAttributes && name != kind.FieldRequest {
		return false
	}
	delete(d.Values, name)
	return true
}

// mark is what stands where a rule has removed something.
var mark = regexp.MustCompile(`\[redacted:([^\[\]]*)\]`)

// rulesOf are the rules that have changed a text, by the marks that it did not have before.
// There is one at least.
func rulesOf(before, after []byte) []string {
	had := map[string]int{}
	for _, m := range mark.FindAllSubmatch(before, -1) {
		had[string(m[1])]++
	}
	rules, all := map[string]bool{}, map[string]bool{}
	for _, m := range mark.FindAllSubmatch(after, -1) {
		all[string(m[1])] = true
		if had[string(m[1])]--; had[string(m[1])] < 0 {
			rules[string(m[1])] = true
		}
	}
	if len(rules) == 0 { // the sender's marks were removed with the rest: which rule it was is not certain
		rules = all
	}
	return slices.Sorted(maps.Keys(rules))
}
