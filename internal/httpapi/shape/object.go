package shape

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// open is an object with documented names while it is read.
type open struct {
	shape *Shape
	// seen is where its part of the reader's list begins.
	seen int
	// start is the place after its brace, last the end of its last member that
	// stays, or -1.
	start, last int
	// cut tells that members before the first that stays were dropped.
	cut bool
}

func (r *reader) object(s *Shape) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	o := open{shape: s, seen: len(r.seen), start: int(r.dec.InputOffset()), last: -1}
	for range s.fields {
		r.seen = append(r.seen, extent{})
	}
	for r.dec.PeekKind() != '}' {
		if err := r.member(&o); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	r.close(&o, int(r.dec.InputOffset())-1)
	r.seen = r.seen[:o.seen]
	return nil
}

// member reads one member of an object.
func (r *reader) member(o *open) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	end := int(r.dec.InputOffset())
	start := end - len(raw)
	name := r.unquote(raw)
	i, documented := o.shape.byName[string(name)]
	if !documented {
		return r.undocumented(o, raw, name)
	}
	f := &o.shape.fields[i]
	if before := r.seen[o.seen+i]; before.end > 0 {
		value, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		if !sameJSON(trimValue(r.body[before.start:before.end]), value) {
			r.path.name(SnakeCase(f.name))
			r.refuse("ambiguous_field", twoCasings, nil)
			r.path.leave()
		}
		r.drop(o)
		return nil
	}
	r.path.name(f.name)
	if r.dec.PeekKind() == 'n' && (f.notNull || !f.required && !f.shape.nullable && f.shape.kinds != 0) {
		if f.notNull {
			r.refuse("type", "must not be null: leave the field out to keep its value", nil)
		}
		if !r.asSent {
			r.path.leave()
			if err := r.dec.SkipValue(); err != nil {
				return err
			}
			r.seen[o.seen+i] = extent{start: end, end: int(r.dec.InputOffset()), absent: true}
			r.drop(o) // null means the same as absent
			return nil
		}
	}
	if o.cut && o.last < 0 {
		r.edit.replace(r.body, o.start, start, nil)
	}
	if !bytes.Equal(name, f.quoted[1:len(f.quoted)-1]) {
		r.edit.replace(r.body, start, end, f.quoted)
	}
	if err := r.value(f.shape); err != nil {
		return err
	}
	r.path.leave()
	o.last = int(r.dec.InputOffset())
	r.seen[o.seen+i] = extent{start: end, end: o.last}
	return nil
}

// undocumented deals with a member whose name the schema does not have.
func (r *reader) undocumented(o *open, raw jsontext.Value, name []byte) error {
	twin := len(name) <= 100 && o.shape.folded[lower(name)]
	refused := !twin && r.refuses != nil && r.refuses(string(name))
	asserts := r.path.top() && (string(name) == "organizationId" || string(name) == "organization_id")
	r.path.quoted(raw)
	switch {
	case asserts:
	case twin:
		r.refuse("ambiguous_field", twoCasings, nil)
	case refused:
		r.refuse("unknown_field", "is not a field of this request", nil)
	case len(r.result.Ignored) < maxIgnored:
		r.result.Ignored = append(r.result.Ignored, r.path.pointer())
	}
	r.path.leave()
	value, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	if asserts {
		r.result.Organizations = append(r.result.Organizations, value)
	}
	r.drop(o)
	return nil
}

// drop leaves the member that was just read out of the result.
func (r *reader) drop(o *open) {
	if o.last < 0 {
		o.cut = true
		return
	}
	r.edit.replace(r.body, o.last, int(r.dec.InputOffset()), nil)
}

// close looks for members that are missing and adds defaults. end is the place
// of the closing brace.
func (r *reader) close(o *open, end int) {
	if o.cut && o.last < 0 {
		r.edit.replace(r.body, o.start, end, nil)
	}
	empty := o.last < 0
	for i := range o.shape.fields {
		f := &o.shape.fields[i]
		if seen := r.seen[o.seen+i]; seen.end > 0 && !seen.absent {
			continue
		}
		if f.required {
			r.path.name(f.name)
			r.refuse("required", "is required", nil)
			r.path.leave()
		}
		if f.absent != nil && !r.asSent {
			if !empty {
				r.edit.replace(r.body, end, end, []byte(","))
			}
			r.edit.replace(r.body, end, end, f.quoted)
			r.edit.replace(r.body, end, end, []byte(":"))
			r.edit.replace(r.body, end, end, f.absent)
			empty = false
		}
	}
}
