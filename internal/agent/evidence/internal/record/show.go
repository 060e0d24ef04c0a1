package record

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// Each goes through the fields of a record in their order, as they are shown.
func (r *Record) Each(do func(name string, value jsontext.Value, volatile bool)) {
	for _, f := range kind.Common {
		if r.Kind.KeyField == f.Name {
			continue // it is one of the kind's own
		}
		value := r.Common(f.Name)
		switch {
		case f.Name == kind.FieldActor:
			value = actorValue(r.Actor)
		case value == nil && !Columns[f.Name]:
			value = r.Values[f.Name]
		}
		if value == nil && f.Type == kind.Objects {
			value = jsontext.Value("[]")
		}
		do(f.Name, orNull(value), false)
	}
	for _, f := range r.Kind.Fields {
		do(f.Name, orNull(r.Values[f.Name]), f.Volatile)
	}
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

// Shown is the record as getEvidence shows it, without what changes all the time.
func (r Record) Shown() any {
	out := map[string]jsontext.Value{}
	r.Each(func(name string, value jsontext.Value, volatile bool) {
		if !volatile {
			out[name] = value
		}
	})
	return out
}

// Revision counts changes of the record.
func (r Record) Revision() int64 { return r.Version }

// actorValue is who sent a record.
func actorValue(a principal.Actor) jsontext.Value {
	const asserted = "asserted" // an actor is the only object that has it
	return kind.Values{
		kind.FieldType: kind.TextValue(string(a.Type)), kind.FieldID: textOrNil(a.ID), kind.FieldName: nil,
		asserted: kind.BooleanValue(a.Asserted),
	}.JSON()
}
