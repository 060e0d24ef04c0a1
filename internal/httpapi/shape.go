package httpapi

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// shape is the part of a schema that the edge needs to read a body in either
// casing: which names are documented at each level. A nil shape is free-form:
// nothing below it is looked at or rewritten.
type shape struct {
	fields   map[string]*shape // by documented (camelCase) name
	aliases  map[string]string // snake_case name → documented name
	elements *shape            // of an array
	values   *shape            // of a map, whose own names are the caller's
	text     bool              // a documented string, which a database must be able to hold
}

// newShape reads the documented names out of a schema.
func newShape(r huma.Registry, s *huma.Schema) *shape {
	return buildShape(r, s, map[string]*shape{})
}

func buildShape(r huma.Registry, s *huma.Schema, seen map[string]*shape) *shape {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		if known, ok := seen[s.Ref]; ok {
			return known
		}
		out := &shape{}
		seen[s.Ref] = out
		if built := buildShape(r, r.SchemaFromRef(s.Ref), seen); built != nil {
			*out = *built
		}
		return out
	}
	switch {
	case s.Type == huma.TypeString:
		return &shape{text: true}
	case s.Items != nil:
		return &shape{elements: buildShape(r, s.Items, seen)}
	case len(s.Properties) > 0:
		out := &shape{fields: map[string]*shape{}, aliases: map[string]string{}}
		for name, p := range s.Properties {
			out.fields[name] = buildShape(r, p, seen)
			if snake := snakeCase(name); snake != name {
				out.aliases[snake] = name
			}
		}
		return out
	}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		if values := buildShape(r, of, seen); values != nil && values.fields != nil {
			return &shape{values: values}
		}
	}
	return nil
}

// normalized is a body in the documented casing.
type normalized struct {
	body []byte
	// ignored are the JSON Pointers of fields that are not part of the request.
	ignored []string
	// ambiguous are the pointers of fields sent in both casings with different
	// values, or in a casing of their own; they are left in the body so that
	// validation refuses them together with everything else.
	ambiguous map[string]bool
	// unstorable are the pointers of documented strings with U+0000 in them.
	unstorable []string
	// organizations are the values of organizationId at the top level, in
	// either casing, which every write takes as an assertion about the key.
	organizations []jsontext.Value
}

func (n *normalized) refuse(pointer string) {
	if n.ambiguous == nil {
		n.ambiguous = map[string]bool{}
	}
	n.ambiguous[pointer] = true
}

// caseTwin reports whether a name differs from a documented one only in case:
// reading it as that field, or dropping it, would both be guesses.
func (s *shape) caseTwin(name string) bool {
	for documented := range s.fields {
		if strings.EqualFold(documented, name) || strings.EqualFold(snakeCase(documented), name) {
			return true
		}
	}
	return false
}

// normalize rewrites documented names to camelCase. Undocumented fields that
// drop accepts are dropped and listed; the others stay for validation to
// judge. The body has passed checkJSON.
func (s *shape) normalize(body []byte, drop func(name string) bool) (normalized, error) {
	var out bytes.Buffer
	out.Grow(len(body))
	n := &normalizer{
		dec:  jsontext.NewDecoder(bytes.NewReader(body)),
		enc:  jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true)),
		drop: drop,
	}
	if err := n.value(s, ""); err != nil {
		return normalized{}, err
	}
	n.result.body = out.Bytes()
	return n.result, nil
}

type normalizer struct {
	dec    *jsontext.Decoder
	enc    *jsontext.Encoder
	drop   func(name string) bool
	result normalized
}

func (n *normalizer) value(s *shape, at string) error {
	kind := n.dec.PeekKind()
	switch {
	case s != nil && kind == '{' && s.fields != nil:
		return n.object(s, at)
	case s != nil && kind == '[' && s.elements != nil:
		return n.array(s, at)
	case s != nil && kind == '{' && s.values != nil:
		return n.entries(s, at)
	}
	v, err := n.dec.ReadValue()
	if err != nil {
		return err
	}
	if s != nil && s.text && kind == '"' && bytes.Contains(v, []byte(`\u0000`)) {
		if text, err := jsontext.AppendUnquote(nil, v); err != nil || bytes.IndexByte(text, 0) >= 0 {
			n.result.unstorable = append(n.result.unstorable, at)
		}
	}
	return n.enc.WriteValue(v)
}

func (n *normalizer) array(s *shape, at string) error {
	if err := n.copyToken(); err != nil {
		return err
	}
	for i := 0; n.dec.PeekKind() != ']'; i++ {
		if err := n.value(s.elements, at+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return n.copyToken()
}

// entries keeps the names of a map and reads the fields of its values.
func (n *normalizer) entries(s *shape, at string) error {
	if err := n.copyToken(); err != nil {
		return err
	}
	for n.dec.PeekKind() != '}' {
		name, err := n.dec.ReadToken()
		if err != nil {
			return err
		}
		sent := name.String()
		if err := n.enc.WriteToken(jsontext.String(sent)); err != nil {
			return err
		}
		if err := n.value(s.values, at+"/"+escapePointer(sent)); err != nil {
			return err
		}
	}
	return n.copyToken()
}

func (n *normalizer) object(s *shape, at string) error {
	if err := n.copyToken(); err != nil {
		return err
	}
	// Values of fields seen so far, to compare a field sent in both casings.
	seen := map[string]jsontext.Value{}
	for n.dec.PeekKind() != '}' {
		tok, err := n.dec.ReadToken()
		if err != nil {
			return err
		}
		sent := tok.String()
		name, aliased := s.aliases[sent]
		if !aliased {
			name = sent
		}
		field, documented := s.fields[name]
		here := at + "/" + escapePointer(sent)
		if !documented && at == "" && (sent == "organizationId" || sent == "organization_id") {
			raw, err := n.dec.ReadValue()
			if err != nil {
				return err
			}
			n.result.organizations = append(n.result.organizations, raw.Clone())
			continue
		}
		if !documented {
			if s.caseTwin(sent) {
				n.result.refuse(here)
			} else if n.drop(sent) {
				n.result.ignored = append(n.result.ignored, here)
				if _, err := n.dec.ReadValue(); err != nil {
					return err
				}
				continue
			}
			if err := n.enc.WriteToken(jsontext.String(sent)); err != nil {
				return err
			}
			if err := n.value(nil, here); err != nil {
				return err
			}
			continue
		}
		raw, err := n.dec.ReadValue()
		if err != nil {
			return err
		}
		raw = raw.Clone()
		if before, twice := seen[name]; twice {
			if sameJSON(before, raw) {
				continue
			}
			// Left under a name that validation refuses.
			snake := snakeCase(name)
			n.result.refuse(at + "/" + snake)
			if err := n.enc.WriteToken(jsontext.String(snake)); err != nil {
				return err
			}
			if err := n.enc.WriteValue(raw); err != nil {
				return err
			}
			continue
		}
		seen[name] = raw
		if err := n.enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := n.nested(field, raw, at+"/"+name); err != nil {
			return err
		}
	}
	return n.copyToken()
}

// nested normalizes a value that has been read already.
func (n *normalizer) nested(s *shape, raw jsontext.Value, at string) error {
	if s == nil {
		return n.enc.WriteValue(raw)
	}
	outer := n.dec
	n.dec = jsontext.NewDecoder(bytes.NewReader(raw))
	defer func() { n.dec = outer }()
	return n.value(s, at)
}

func (n *normalizer) copyToken() error {
	tok, err := n.dec.ReadToken()
	if err != nil {
		return err
	}
	return n.enc.WriteToken(tok)
}

func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	if a.Canonicalize() != nil || b.Canonicalize() != nil {
		return false
	}
	return bytes.Equal(a, b)
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// snakeCase is the response form of a documented name.
func snakeCase(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
