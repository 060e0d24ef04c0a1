package evidence

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

const (
	// MaxEvents is how many events an envelope may carry.
	MaxEvents = 1_000
	// MaxReports is how many records they may report.
	MaxReports = 5_000
)

// Producer is who sends an envelope.
type Producer struct{ RuntimeKey, Name, Version, Environment string }

// Defaults are links of events that do not have their own.
type Defaults struct {
	TraceID, ConversationID, ReleaseID string
	EvaluationRunID                    int64
}

// Envelope is events that are sent together.
type Envelope struct {
	Producer Producer
	Defaults Defaults
	// Atomic stores all events or none.
	Atomic bool
	// DryRun says what would become of the events, and stores nothing.
	DryRun bool
	// WithoutPayload stores what was made of an event, and not the event.
	WithoutPayload bool
	// Strict stores only the digests of what went in and came out, and of the events.
	Strict bool
	Events []jsontext.Value
}

// Fate is what became of an event.
type Fate string

// The fates.
const (
	Accepted  Fate = "accepted"
	Duplicate Fate = "duplicate" // the event was received before
	Unmapped  Fate = "unmapped"  // it is kept, and read again when a normalizer understands it
	Rejected  Fate = "rejected"
)

// Ref names a record.
type Ref struct {
	Resource kind.Name `json:"resource"`
	ID       int64     `json:"id"`
}

// Outcome is what became of one event.
type Outcome struct {
	Index    int
	ID       string
	Fate     Fate
	RawEvent int64
	Records  []Ref
	Errors   []fault.Field
	Warnings []string
}

// event is an event of an envelope on its way to the store.
type event struct {
	Outcome
	normal.Event
	untimed bool // its sender does not say when it happened
	result  normal.Result
	reports []*report
	raw     *report
	// first is the same event earlier in the envelope.
	first *event
}

// readEvent reads an event of an envelope.
func readEvent(index int, text jsontext.Value) *event {
	read, fields := normal.Read(text)
	e := &event{Outcome: Outcome{Index: index, ID: read.ID, Fate: Accepted}, Event: read}
	e.refuse("", fields)
	return e
}

func (e *event) reject(path, code, message string) {
	e.Fate = Rejected
	e.Errors = append(e.Errors, fault.Field{In: "body", Path: path, Code: code, Message: message})
}

// normalize turns an event into reports.
func (e *event) normalize(p Producer, d Defaults) {
	if e.Fate != Accepted {
		return
	}
	result, fields := normal.Normalize(e.Event, p.RuntimeKey)
	e.result, e.Warnings = result, append(e.Warnings, result.Warnings...)
	if len(fields) > 0 {
		e.refuse("", fields)
		return
	}
	for _, r := range result.Reports {
		if fields := demands(r.Draft); len(fields) > 0 {
			e.refuse("/data", fields)
			return
		}
		e.defaults(&r.Draft, p, d)
		one := &report{draft: r.Draft, origin: record.Ingested, index: e.Index, adds: r.Adds, untimed: e.untimed && bytes.Equal(r.Values["occurred_at"], kind.TimeValue(e.Time))}
		if r.Draft.Kind.Name == "raw-events" {
			one.origin = record.Reported // a sender says that it received it, and nobody reads it
		}
		e.reports = append(e.reports, one)
	}
	if len(e.reports) == 0 {
		e.Fate = Unmapped
	}
}

// refuse rejects the event for faults of a part of it.
func (e *event) refuse(part string, fields []fault.Field) {
	for _, f := range fields {
		e.reject(part+f.Path, f.Code, f.Message)
	}
}

// defaults fills in the links of a report that it does not have itself.
func (e *event) defaults(d *kind.Draft, p Producer, defaults Defaults) {
	set := func(name, text string) {
		if d.Values[name] == nil && text != "" {
			d.Values[name] = kind.TextValue(text)
		}
	}
	if d.Kind.Name != "connectors" {
		set("runtime_key", p.RuntimeKey)
	}
	if d.Values["otel_trace_id"] == nil && d.Values["trace_id"] == nil {
		if trace, _ := normal.Traceparent(e.Traceparent); trace != "" {
			set("otel_trace_id", trace)
		} else {
			set("trace_id", defaults.TraceID)
		}
	}
	set("conversation_id", defaults.ConversationID)
	if d.Kind.Field("release_id") != nil {
		set("release_id", defaults.ReleaseID)
	}
	if d.Values["evaluation_run_id"] == nil && defaults.EvaluationRunID != 0 {
		d.Values["evaluation_run_id"] = kind.IntegerValue(defaults.EvaluationRunID)
	}
	if d.Values["occurred_at"] == nil && !e.Time.IsZero() {
		d.Values["occurred_at"] = kind.TimeValue(e.Time)
	}
}

// received is the report of the event itself, with all that is needed to read it again.
func (e *event) received(p Producer, d Defaults, withPayload bool) *report {
	v := kind.Values{
		"event_id": kind.TextValue(e.Event.ID), "source": kind.TextValue(e.Source), "type": kind.TextValue(e.Type), "format": kind.TextValue(string(e.result.Format)),
		"normalizer_version": kind.TextValue(e.result.Version), "runtime_key": kind.TextValue(p.RuntimeKey),
	}
	if withPayload {
		v["payload"] = e.Data
	}
	for i := 0; i < len(e.reports); i++ { // the first link to a trace is the event's
		for _, name := range []string{"otel_trace_id", "trace_id"} {
			if value := e.reports[i].draft.Values[name]; value != nil && v["otel_trace_id"] == nil && v["trace_id"] == nil {
				v[name] = value
			}
		}
	}
	if !e.Time.IsZero() {
		v["occurred_at"] = kind.TimeValue(e.Time)
	}
	if context := e.context(d); len(context) > 0 {
		v["attributes"] = context.JSON()
	}
	r := &report{draft: kind.Draft{Kind: kind.Must("raw-events"), Values: v}, origin: record.Ingested, index: e.Index}
	r.Key = record.Received(e.Source, e.Event.ID)
	return r
}

// note sets on the record of the event how far it was mapped, and what of it is in no
// record.
func (e *event) note(v kind.Values) error {
	left := slices.Clone(e.result.Left)
	if slices.ContainsFunc(e.reports, func(r *report) bool { return r.dropped }) {
		left = append(left, "what it adds to a record is left out: the record is not there")
	}
	state := "normalized"
	switch {
	case e.Fate == Unmapped:
		state = "unmapped"
	case len(left) > 0:
		state = "partially_normalized"
	}
	v["status"], v["format"], v["normalizer_version"] = kind.TextValue(state), kind.TextValue(string(e.result.Format)), kind.TextValue(e.result.Version)
	delete(v, "errors")
	if len(left) == 0 {
		return nil
	}
	errors := make([]kind.Values, len(left))
	for i, text := range left {
		errors[i] = kind.Values{"code": kind.TextValue("left_out"), "message": kind.TextValue(text)}
	}
	text, err := json.Marshal(errors, json.Deterministic(true))
	v["errors"] = text
	return err
}

// context are the attributes of an event, and the defaults of its envelope, that have no
// field of their own.
func (e *event) context(d Defaults) kind.Values {
	out := kind.Values{}
	for name, text := range map[string]string{
		"subject": e.Subject, "traceparent": e.Traceparent, "dataschema": e.Schema,
		"default_trace_id": d.TraceID, "default_conversation_id": d.ConversationID, "default_release_id": d.ReleaseID,
	} {
		if text != "" {
			out[name] = kind.TextValue(text)
		}
	}
	if e.untimed {
		out["untimed"] = jsontext.Value("true")
	}
	if d.EvaluationRunID != 0 {
		out["default_evaluation_run_id"] = kind.IntegerValue(d.EvaluationRunID)
	}
	return out
}
