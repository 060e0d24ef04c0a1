package evidence

import (
	"bytes"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	catalogue "github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// policy says what a report may do to its record. Without any, it makes the record, or
// replaces what it speaks of.
type policy uint8

const (
	create   policy = 0
	addOnly  policy = 1 << (iota - 1) // makes no record: it adds to one that another report makes
	fillOnly                          // replaces nothing that is known
	mention                           // only names a thing: it adds nothing to one that is known
)

// fate is what became of a report.
type fate uint8

const (
	recordMade    fate = iota
	recordKnown        // its record was there before
	recordMissing      // it only adds to a record, and there is none: it is dropped
	nameReused         // its name was used for other content: it is not stored
)

// parsed is what a sender says about one record, read and checked against its kind.
type parsed struct {
	draft  kind.Draft
	origin record.Origin
	policy policy
	// format is what it was read from.
	format normal.Format
	// sender is who sent it, if it is not the caller.
	sender *principal.Caller
	// event is the key of the event that it is, if it is one that was received.
	event    key
	occurred time.Time
}

// linked is a report of which it is known what it belongs to, as far as that is there, and
// what names its record. It has lost what the organization does not want to have stored.
type linked struct {
	parsed
	links Links
	identity
	// name is the one that the sender gave the record.
	name string
	// sent is what tells a side effect apart, before it is cleaned.
	sent kind.Values
	// faults are what is wrong with it: one that has any goes no further.
	faults []fault.Field
}

// report is what is stored: all that it names is there, and its trace has a number.
type report struct {
	linked
	number int64
}

// stored is a record as a report leaves it.
type stored struct {
	Record
	fate fate
}

// refreshed is a thing after a report, how the report changed it, and the failures that this
// shows. What is only noted is no change: a failure has occurred again, or a runtime was heard
// of.
type refreshed struct {
	after Record
	did   catalogue.Type
	noted bool
	found []*report
}

// newReport is a report that no sender names.
func newReport(k kind.Name, v kind.Values, origin record.Origin, l Links) *report {
	r := &report{linked: linked{parsed: parsed{draft: kind.Draft{Kind: kind.Must(k), Values: v}, origin: origin}, links: l}}
	r.identity = record.Identify(r.draft, l, "")
	return r
}

// mentionOf is a report of a thing of which nothing is known but its key.
func mentionOf(k *kind.Kind, name string) *report {
	v := kind.Values{k.KeyField: kind.TextValue(name)}
	if k.Name == kind.Connectors {
		v[kind.FieldType] = kind.TextValue("custom")
	}
	r := newReport(k.Name, v, record.Ingested, Links{})
	r.policy = mention
	return r
}

func (r *linked) refuse(path, code, message string) {
	r.faults = append(r.faults, fault.Field{In: "body", Path: path, Code: code, Message: message})
}

// reuses reports whether its name was used for other content. What spans said before under
// the same name is not content: they may be sent again and say more.
func (r *linked) reuses(claims map[key]claim) bool {
	other := func(mine, theirs []byte) bool { return mine != nil && len(theirs) > 0 && !bytes.Equal(mine, theirs) }
	return other(r.Content, claims[r.Key].Content) || other(r.Said, claims[r.Once].Content)
}

// reusedName is what is wrong with a report whose name was used for other content.
const reusedName = "was used for a record with other content; use a new key for a new record"
