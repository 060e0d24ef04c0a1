package kind

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
)

// Draft is what somebody reports about one record, checked against its kind.
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

// Values are fields of a record by name, in JSON.
type Values map[string]jsontext.Value

// MaxBody is the size of a record that is reported.
const MaxBody = 256 << 10

// Read checks a report against the kind that it is of. Names may be in snake case or
// camel case; null is the same as absent. A partial report may lack required fields.
func Read(k *Kind, body jsontext.Value, partial bool) (Draft, []fault.Field) {
	r := reader{}
	d := Draft{Kind: k, Partial: partial}
	if len(body) > MaxBody {
		r.limit("", "length", "must have at most 262144 bytes", MaxBody)
		return d, r.fields
	}
	members, ok := r.members("", body)
	if !ok {
		return d, r.fields
	}
	d.Values = make(Values, len(members))
	rest := map[string]jsontext.Value{}
	for name, value := range members {
		if value.Kind() == 'n' || name == "organizationId" || name == "organization_id" {
			continue // whose a record is follows from the key
		}
		f := k.Field(name)
		if f == nil {
			f = k.Field(Snake(name))
		}
		switch {
		case f == nil:
			rest[name] = value
		case f.Server || f.Name == k.Lifecycle && len(k.Born) == 0:
			d.Ignored = append(d.Ignored, name)
		case d.Values[f.Name] != nil:
			r.add("/"+pointer(name), "ambiguous_field", "is given twice, as "+f.Name+" and as "+Camel(f.Name))
		default:
			if v := r.value("/"+pointer(name), f, value); v != nil {
				d.Values[f.Name] = v
			}
		}
	}
	slices.Sort(d.Ignored)
	r.attributes(&d, rest)
	if !partial {
		for _, f := range k.Fields {
			if _, sent := d.Values[f.Name]; f.Required && !f.Server && !sent && !r.about(f.Name) {
				r.add("/"+f.Name, "required", "is required")
			}
		}
	}
	if f := k.Field(k.Lifecycle); f != nil && len(k.Born) > 0 {
		if s := d.Values.Text(f.Name); s != "" && !slices.Contains(k.Born, s) {
			r.add("/"+f.Name, "enum", "a new record cannot be "+s+"; it is one of "+strings.Join(k.Born, ", "))
		}
	}
	slices.SortFunc(r.fields, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	return d, r.fields
}

// reader remembers what is wrong.
type reader struct{ fields []fault.Field }

func (r *reader) add(path, code, message string) { r.limit(path, code, message, nil) }

func (r *reader) limit(path, code, message string, limit any) {
	r.fields = append(r.fields, fault.Field{In: "body", Path: path, Code: code, Message: message, Limit: limit})
}

// about reports whether something is wrong with a field already.
func (r *reader) about(name string) bool {
	return slices.ContainsFunc(r.fields, func(f fault.Field) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		return first == name || first == Camel(name)
	})
}

func (r *reader) members(path string, v jsontext.Value) (map[string]jsontext.Value, bool) {
	if v.Kind() != '{' {
		r.add(path, "type", "must be an object")
		return nil, false
	}
	var m map[string]jsontext.Value
	if err := json.Unmarshal(v, &m); err != nil {
		r.add(path, "format", "cannot be read as JSON: a name may occur once, and text must be UTF-8")
		return nil, false
	}
	return m, true
}

// attributes puts what the kind does not have where it can be found.
func (r *reader) attributes(d *Draft, rest map[string]jsontext.Value) {
	if len(rest) == 0 {
		return
	}
	if sent := d.Values["attributes"]; sent != nil {
		given, ok := r.members("/attributes", sent)
		if !ok {
			return
		}
		for name, value := range given {
			rest[name] = value
		}
	}
	text, err := json.Marshal(rest, json.Deterministic(true))
	if err != nil {
		r.add("", "format", "cannot be read as JSON")
		return
	}
	d.Values["attributes"] = text
}

// value checks a value, and returns it as it is stored; nil if it is refused.
func (r *reader) value(path string, f *Field, v jsontext.Value) jsontext.Value {
	switch f.Type {
	case Text, Enum, Time, Digest:
		return r.text(path, f, v)
	case Integer, Ref:
		return r.integer(path, f, v)
	case Number:
		if n, err := strconv.ParseFloat(string(v), 64); v.Kind() != '0' || err != nil || math.IsInf(n, 0) {
			r.add(path, "type", "must be a number")
			return nil
		}
	case Boolean:
		if v.Kind() != 't' && v.Kind() != 'f' {
			r.add(path, "type", "must be true or false")
			return nil
		}
	case Texts, Objects:
		return r.list(path, f, v)
	case Object:
		return r.object(path, f, v)
	case Any:
	}
	return compact(v)
}

func (r *reader) text(path string, f *Field, v jsontext.Value) jsontext.Value {
	if v.Kind() != '"' {
		r.add(path, "type", "must be a string")
		return nil
	}
	raw, err := jsontext.AppendUnquote(nil, v)
	if err != nil || bytes.IndexByte(raw, 0) >= 0 {
		r.add(path, "format", "is not UTF-8 text without U+0000")
		return nil
	}
	s := string(raw)
	switch f.Type {
	case Enum:
		if !slices.Contains(f.Enum, s) {
			r.add(path, "enum", "must be one of "+strings.Join(f.Enum, ", "))
			return nil
		}
	case Time:
		at, err := time.Parse(time.RFC3339, s)
		if err != nil || at.Year() < 2000 || at.Year() > 9999 {
			r.add(path, "format", "must be a time such as 2026-01-31T12:00:00Z, not before 2000")
			return nil
		}
		return TimeValue(at)
	case Digest:
		if sum, ok := strings.CutPrefix(s, "sha256:"); !ok || !isHex(sum, 64) {
			r.add(path, "pattern", "must be sha256: and 64 hexadecimal digits")
			return nil
		}
		s = strings.ToLower(s)
	default:
		most := f.Max
		if most == 0 {
			most = maxText
		}
		if n := utf8.RuneCountInString(s); n > most {
			r.limit(path, "length", "must have at most "+strconv.Itoa(most)+" characters", most)
			return nil
		}
		if f.Required && s == "" {
			r.limit(path, "length", "must have a length of at least 1", 1)
			return nil
		}
	}
	return TextValue(s)
}

// maxInteger is what every JSON reader can hold.
const maxInteger = 1<<53 - 1

func (r *reader) integer(path string, f *Field, v jsontext.Value) jsontext.Value {
	text := string(v)
	if v.Kind() == '"' && f.Type == Ref { // ids may be text
		text = strings.Trim(text, `"`)
	} else if v.Kind() != '0' {
		r.add(path, "type", "must be an integer")
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	low := int64(0)
	if f.Type == Ref {
		low = 1
	}
	if err != nil || n < low || n > maxInteger {
		r.add(path, "type", "must be an integer from "+strconv.FormatInt(low, 10))
		return nil
	}
	return IntegerValue(n)
}

func (r *reader) list(path string, f *Field, v jsontext.Value) jsontext.Value {
	var list []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &list) != nil {
		r.add(path, "type", "must be a list")
		return nil
	}
	if len(list) > maxList {
		r.limit(path, "length", "must have at most 1000 entries", maxList)
		return nil
	}
	item := &Field{Type: Text, Max: 1024}
	if f.Type == Objects {
		item = &Field{Type: Object, Members: f.Members}
	}
	out := []byte{'['}
	for i, one := range list {
		got := r.value(path+"/"+strconv.Itoa(i), item, one)
		if got == nil {
			return nil
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, got...)
	}
	return append(out, ']')
}

func (r *reader) object(path string, f *Field, v jsontext.Value) jsontext.Value {
	members, ok := r.members(path, v)
	if !ok {
		return nil
	}
	if len(f.Members) == 0 {
		return compact(v)
	}
	out := make(map[string]jsontext.Value, len(members))
	whole := true
	for name, value := range members {
		if value.Kind() == 'n' {
			continue
		}
		i := slices.IndexFunc(f.Members, func(m Field) bool { return m.Name == name || m.Name == Snake(name) })
		if i < 0 {
			out[name] = value
			continue
		}
		at := path + "/" + pointer(name)
		if out[f.Members[i].Name] != nil {
			r.add(at, "ambiguous_field", "is given twice")
			whole = false
			continue
		}
		if got := r.value(at, &f.Members[i], value); got != nil {
			out[f.Members[i].Name] = got
		} else {
			whole = false
		}
	}
	for _, m := range f.Members {
		if m.Required && out[m.Name] == nil && whole {
			r.add(path+"/"+m.Name, "required", "is required")
			whole = false
		}
	}
	if !whole {
		return nil
	}
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		r.add(path, "format", "cannot be read as JSON")
		return nil
	}
	return text
}

func compact(v jsontext.Value) jsontext.Value {
	out := v.Clone()
	if err := out.Compact(); err != nil {
		return nil
	}
	return out
}

func isHex(s string, size int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == size
}

// pointer is a name as part of a JSON pointer.
func pointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
