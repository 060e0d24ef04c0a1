package shape

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// What a result lists at most. A body can break as many rules as it has bytes.
const (
	maxViolations = 100
	maxIgnored    = 50
)

// Result is a body in documented form.
type Result struct {
	// Body has documented names only, and defaults for what is absent. It is
	// the slice that was read if nothing had to change.
	Body []byte
	// Sent is what Named makes of the body, if the caller asked for it.
	Sent []byte
	// Violations are in the order of the body; nothing may use a body that has
	// any.
	Violations []fault.Field
	// Ignored are the JSON Pointers of members that are not part of the request.
	Ignored []string
	// Organizations are the values of organizationId at the top level, in
	// either casing, which every write takes as an assertion about its key.
	Organizations []jsontext.Value
}

// Read checks a body. An undocumented member that refuses rejects is a
// violation; with a nil refuses all of them are ignored. The error is a fault:
// the body is not JSON as the interface takes it.
func (s *Shape) Read(body []byte, refuses func(name string) bool) (Result, error) {
	if err := checkBounds(body); err != nil {
		return Result{}, err
	}
	r := newReader(body, refuses)
	if err := r.value(s); err != nil {
		return Result{}, syntaxError(r.dec, err)
	}
	if rest := bytes.TrimLeft(body[r.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return Result{}, notJSON("", "format", "has data after its end", nil)
	}
	r.result.Body = r.edit.finish(body)
	return r.result, nil
}

// Named is a body that Read has taken, with documented names and otherwise as it
// was sent: without defaults, which a later release may change, and with every
// null. It is what tells two requests apart.
func (s *Shape) Named(body []byte) []byte {
	r := newReader(body, nil)
	r.asSent = true
	if err := r.value(s); err != nil {
		return body // cannot be: Read has taken it
	}
	return r.edit.finish(body)
}

func newReader(body []byte, refuses func(name string) bool) *reader {
	return &reader{body: body, dec: jsontext.NewDecoder(bytes.NewBuffer(body)), refuses: refuses}
}

// reader walks one body and its shape side by side.
type reader struct {
	body    []byte
	dec     *jsontext.Decoder
	refuses func(name string) bool
	asSent  bool // keep nulls, and add no defaults
	edit    edit
	path    path
	// seen holds where the values of documented members are, for every object
	// that is open.
	seen   []extent
	buffer []byte
	result Result
}

// extent is where a value is in the body, with the separator before it; its end
// is zero if it was not sent. A null that means absent is remembered as well.
type extent struct {
	start, end int
	absent     bool
}

// value reads the next value. Its error is one of syntax; violations are kept.
func (r *reader) value(s *Shape) error {
	kind := r.dec.PeekKind()
	if s.kinds == 0 {
		switch {
		case kind == '{' && s.fields != nil:
			return r.object(s)
		case kind == '[' && s.elements != nil:
			return r.array(s)
		}
		return r.skip()
	}
	if kind == 'n' {
		if !s.nullable {
			r.refuseType(s)
		}
		return r.dec.SkipValue()
	}
	if s = s.form(kind); s == nil || s.kinds&kindsOf(kind) == 0 {
		r.refuseType(s)
		return r.dec.SkipValue()
	}
	switch kind {
	case '{':
		if s.fields != nil {
			return r.object(s)
		}
		return r.entries(s)
	case '[':
		return r.array(s)
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	switch kind {
	case '"':
		s.checkText(r.unquote(raw), r.refuse)
	case '0':
		s.checkNumber(raw, r.refuse)
	}
	return nil
}

// skip reads a value of which nothing is documented.
func (r *reader) skip() error {
	_, err := r.dec.ReadValue() // in one piece, which takes half as long as token by token
	return err
}

func (r *reader) array(s *Shape) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	n := 0
	entries := map[string]bool(nil)
	for ; r.dec.PeekKind() != ']'; n++ {
		if s.maxItems >= 0 && n >= s.maxItems {
			if err := r.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		from := r.dec.InputOffset()
		r.path.index(n)
		if err := r.value(s.elements); err != nil {
			return err
		}
		r.path.leave()
		if s.unique {
			entry := r.entry(trimValue(r.body[from:r.dec.InputOffset()]))
			if entries[entry] {
				r.refuse("format", "must not repeat an entry", nil)
			}
			if entries == nil {
				entries = map[string]bool{}
			}
			entries[entry] = true
		}
	}
	if n < s.minItems {
		r.refuse("length", "must have no fewer entries than %d", s.minItems)
	}
	if s.maxItems >= 0 && n > s.maxItems {
		r.refuse("length", "must have no more entries than %d", s.maxItems)
	}
	_, err := r.dec.ReadToken()
	return err
}

// entry is what tells an entry of a list from another: the text of a string,
// however it is escaped.
func (r *reader) entry(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		return `"` + string(r.unquote(raw))
	}
	return string(raw)
}

// entries reads an object whose names are the caller's.
func (r *reader) entries(s *Shape) error {
	if s.values == nil {
		if r.path.top() {
			return r.asserted()
		}
		return r.skip()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	n := 0
	for ; r.dec.PeekKind() != '}'; n++ {
		name, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		r.path.quoted(name)
		if bytes.IndexByte(r.unquote(name), 0) >= 0 {
			r.refuse("format", unstorable, nil)
		}
		if err := r.value(s.values); err != nil {
			return err
		}
		r.path.leave()
	}
	if n < s.minMembers {
		r.refuse("length", "must have no fewer members than %d", s.minMembers)
	}
	if s.maxMembers >= 0 && n > s.maxMembers {
		r.refuse("length", "must have no more members than %d", s.maxMembers)
	}
	_, err := r.dec.ReadToken()
	return err
}

// asserted reads a body of which nothing is documented, for the organization that it may
// name.
func (r *reader) asserted() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name := string(r.unquote(raw))
		value, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		if name == "organizationId" || name == "organization_id" {
			r.result.Organizations = append(r.result.Organizations, value)
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// unquote is a string's text, valid until the next call.
func (r *reader) unquote(raw jsontext.Value) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, err := jsontext.AppendUnquote(r.buffer[:0], raw)
	if err != nil {
		return raw // cannot be: the decoder has read it
	}
	r.buffer = text
	return text
}

// refuse notes a violation at the present place.
func (r *reader) refuse(code, message string, limit any) {
	if len(r.result.Violations) < maxViolations {
		r.result.Violations = append(r.result.Violations, violation("body", r.path.pointer(), code, message, limit))
	}
}

func (r *reader) refuseType(s *Shape) {
	r.refuse("type", s.expected(), nil)
}

// form is the shape of a value of this kind, if there are several.
func (s *Shape) form(kind jsontext.Kind) *Shape {
	for _, f := range s.forms {
		if f.kinds&kindsOf(kind) != 0 {
			return f
		}
	}
	return s
}

// kindsOf are the types that a token may begin.
func kindsOf(k jsontext.Kind) kinds {
	switch k {
	case '"':
		return text
	case '0':
		return number | integer
	case 't', 'f':
		return boolean
	case '[':
		return array
	case '{':
		return object
	}
	return ^kinds(0) // not JSON: the decoder refuses it
}

// trimValue is a value without the separators before it.
func trimValue(raw []byte) []byte { return bytes.TrimLeft(raw, ",: \t\r\n") }

func sameJSON(a, b []byte) bool {
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// lower folds a name for comparison with documented ones.
func lower(name []byte) string { return strings.ToLower(string(name)) }
