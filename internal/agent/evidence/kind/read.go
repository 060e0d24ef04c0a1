package kind

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// Draft is a report about one record, checked against its kind.
type Draft struct {
	Kind *Kind
	// Values are the fields by name, in JSON. What the kind does not have is in
	// attributes.
	Values Values
	// Ignored are the names of fields that only the platform sets.
	Ignored []string
	// Partial says that fields may come with another report of the same record.
	Partial bool
}

// MaxBody is the size of a record that is reported, and MaxDepth how deep it may be nested:
// deeper than anything that is meant to be read, and flat enough to be written as a part of
// other JSON by every program.
const (
	MaxBody  = 256 << 10
	MaxDepth = 256
)

// Read checks a report against the kind that it is of. Names may be in snake case or
// camel case; null is the same as absent. A partial report may lack required fields. The
// body is not kept.
//
// The whole body is checked to be JSON once, and taken apart afterwards without
// checking it again.
func Read(k *Kind, body jsontext.Value, partial bool) (Draft, []fault.Field) {
	if len(body) <= MaxBody && body.Kind() == '{' && !body.IsValid() {
		r := reader{}
		r.add("format", "cannot be read as JSON: a name may occur once, and text must be UTF-8")
		return Draft{Kind: k, Partial: partial}, r.fields
	}
	return ReadChecked(k, body.Clone(), partial)
}

// ReadChecked is Read for a body that is known to be JSON. The values are parts of the body,
// which must not be changed afterwards.
func ReadChecked(k *Kind, body jsontext.Value, partial bool) (Draft, []fault.Field) {
	r := reader{}
	d := Draft{Kind: k, Partial: partial}
	switch {
	case len(body) > MaxBody:
		r.limit("length", "must have at most 262144 bytes", MaxBody)
		return d, r.fields
	case body.Kind() != '{':
		r.add("type", "must be an object")
		return d, r.fields
	case r.deeper(body, MaxDepth):
		return d, r.fields
	case k.Class != Stream && HasNUL(body):
		r.add("pattern", "must not contain the character U+0000")
		return d, r.fields
	}
	d.Values = make(Values, 24) // about what a report has
	rest := Values{}
	eachMember(body, func(name, value jsontext.Value) bool {
		if value.Kind() == 'n' {
			return true
		}
		if f := k.spelled(name); f != nil {
			r.field(&d, f, name, value)
		} else if s := unquote(name); s != "organizationId" && s != "organization_id" { // whose a record is follows from the key
			r.enter(place{name: name})
			if !r.deeper(value, MaxDepth-2) { // below attributes, below the record
				rest[s] = value
			}
			r.leave()
		}
		return true
	})
	slices.Sort(d.Ignored)
	d.rest(rest)
	if !partial {
		r.required(&d)
	}
	if f := k.Field(k.Lifecycle); f != nil && len(k.Born) > 0 {
		if s := d.Values.Text(f.Name); s != "" && !slices.Contains(k.Born, s) {
			r.about(f.Name, "enum", "a new record cannot be "+s+"; it is one of "+strings.Join(k.Born, ", "))
		}
	}
	slices.SortStableFunc(r.fields, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	return d, r.fields
}

// field puts a field that was sent.
func (r *reader) field(d *Draft, f *Field, name, value jsontext.Value) {
	if f.Server || f.Name == d.Kind.Lifecycle && len(d.Kind.Born) == 0 {
		d.Ignored = append(d.Ignored, unquote(name))
		return
	}
	r.enter(place{name: name})
	defer r.leave()
	if d.Values[f.Name] != nil {
		r.add("ambiguous_field", "is given twice, as "+f.Name+" and as "+Camel(f.Name))
	} else if v := r.value(f, value); v != nil {
		d.Values[f.Name] = v
	}
}

// rest puts what the kind does not have where it can be found. What was sent as an
// attribute goes before what became one.
func (d *Draft) rest(rest Values) {
	if len(rest) == 0 {
		return
	}
	eachMember(d.Values["attributes"], func(name, value jsontext.Value) bool {
		rest[unquote(name)] = value
		return true
	})
	for name, value := range rest {
		rest[name] = plainly(value)
	}
	d.Values["attributes"] = rest.JSON()
}

// required notes which fields are missing.
func (r *reader) required(d *Draft) {
	for i := range d.Kind.Fields {
		f := &d.Kind.Fields[i]
		if !f.Required || f.Server {
			continue
		}
		if _, sent := d.Values[f.Name]; !sent && !r.knows(f.Name) {
			r.about(f.Name, "required", "is required")
		}
	}
}

// reader remembers what is wrong, and which part of the report is being read.
type reader struct {
	at     []place
	fields []fault.Field
}

// place is a member of an object, by its quoted name, or an element of a list.
type place struct {
	name  jsontext.Value
	index int
}

// enter begins to read a part of what is being read, and leave ends it.
func (r *reader) enter(p place) { r.at = append(r.at, p) }

func (r *reader) leave() { r.at = r.at[:len(r.at)-1] }

// path is the JSON pointer to what is being read.
func (r *reader) path() string {
	var b strings.Builder
	for _, p := range r.at {
		b.WriteByte('/')
		if p.name == nil {
			b.WriteString(strconv.Itoa(p.index))
		} else {
			b.WriteString(pointer(unquote(p.name)))
		}
	}
	return b.String()
}

// add notes what is wrong with the part that is being read.
func (r *reader) add(code, message string) { r.limit(code, message, nil) }

func (r *reader) limit(code, message string, limit any) {
	r.fields = append(r.fields, fault.Field{In: "body", Path: r.path(), Code: code, Message: message, Limit: limit})
}

// deeper refuses what is nested deeper than it may be. A short text cannot be.
func (r *reader) deeper(v jsontext.Value, most int) bool {
	if len(v) <= 2*most || Depth(v) <= most {
		return false
	}
	r.limit("length", "must be nested at most "+strconv.Itoa(most)+" levels deep", most)
	return true
}

// about notes what is wrong with a member of that part.
func (r *reader) about(name, code, message string) {
	r.fields = append(r.fields, fault.Field{In: "body", Path: r.path() + "/" + name, Code: code, Message: message})
}

// knows reports whether something is wrong with a field already.
func (r *reader) knows(name string) bool {
	return slices.ContainsFunc(r.fields, func(f fault.Field) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		return first == name || first == Camel(name)
	})
}

// plainly is a value as the platform writes it: without spaces between values, and
// without escapes that text does not need.
func plainly(v jsontext.Value) jsontext.Value {
	if tight(v) && bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return text
}

// pointer is a name as part of a JSON pointer.
func pointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
