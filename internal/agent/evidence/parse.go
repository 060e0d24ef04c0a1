package evidence

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

// parseEvents reads the events of an envelope, and what they say. Out gets what becomes of
// each; those that are not valid are not among the events.
func parseEvents(in *Envelope, out []Outcome, now func() time.Time, pause func() error) (events []event[parsed], err error) {
	reports := 0
	for i, text := range in.Events {
		read, faults := normal.Read(text)
		out[i] = Outcome{Index: i, ID: read.ID, Status: Accepted}
		a := &arrival{Outcome: &out[i], Event: read}
		a.refuse("", faults)
		untimed := a.Time.IsZero()
		if untimed {
			a.Time = now()
		}
		e := event[parsed]{arrival: a, reports: a.parse(in.Producer, in.Defaults, untimed)}
		if reports += len(e.reports); reports > MaxReports {
			a.reject("", "length", "the envelope reports too many records; send fewer events at once")
			reports -= len(e.reports)
		}
		if a.Status != Rejected {
			e.self = parseReceived(e, in, untimed)
			events = append(events, e)
		}
		if err := pause(); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// parse reads what an event says.
func (a *arrival) parse(p Producer, d Defaults, untimed bool) (out []parsed) {
	if a.Status != Accepted {
		return nil
	}
	result, faults := normal.Normalize(a.Event, p.RuntimeKey)
	a.result, a.Warnings = result, append(a.Warnings, result.Warnings...)
	if len(faults) > 0 {
		a.refuse("", faults)
		return nil
	}
	for _, r := range result.Reports {
		if faults := demands(r.Draft); len(faults) > 0 {
			a.refuse("/data", faults)
			return out
		}
		a.setDefaults(r.Values, r.Kind, p, d)
		one := parseReport(r, record.Ingested)
		one.format = result.Format
		if r.Kind.Name == kind.RawEvents {
			one.origin = record.Reported // a sender says that it received it, and nobody reads it
		}
		if untimed && bytes.Equal(r.Values[kind.FieldOccurredAt], kind.TimeValue(a.Time)) {
			delete(r.Values, kind.FieldOccurredAt) // it is noted, and is not part of what was sent
		}
		out = append(out, one)
	}
	if len(out) == 0 {
		a.Status = Unmapped
	}
	return out
}

// parseReport is a report as a normalizer reads it.
func parseReport(r normal.Report, origin record.Origin) parsed {
	p := parsed{draft: r.Draft, origin: origin, policy: create, occurred: r.Values.OccurredAt()}
	if r.Adds {
		p.policy = addOnly
	}
	return p
}

// setDefaults fills in the links of a report that it does not have itself.
func (a *arrival) setDefaults(v kind.Values, k *kind.Kind, p Producer, d Defaults) {
	set := func(name, text string) {
		if v[name] == nil && text != "" {
			v[name] = kind.TextValue(text)
		}
	}
	if k.Name != kind.Connectors {
		set(kind.FieldRuntimeKey, p.RuntimeKey)
	}
	if v[kind.FieldOtelTraceID] == nil && v[kind.FieldTraceID] == nil {
		if trace, _ := normal.Traceparent(a.Traceparent); trace != "" {
			set(kind.FieldOtelTraceID, trace)
		} else {
			set(kind.FieldTraceID, d.TraceID)
		}
	}
	set(kind.FieldConversationID, d.ConversationID)
	if k.Field(kind.FieldReleaseID) != nil {
		set(kind.FieldReleaseID, d.ReleaseID)
	}
	if v[kind.FieldEvaluationRunID] == nil && d.EvaluationRunID != 0 {
		v[kind.FieldEvaluationRunID] = kind.IntegerValue(d.EvaluationRunID)
	}
	if v[kind.FieldOccurredAt] == nil && !a.Time.IsZero() {
		v[kind.FieldOccurredAt] = kind.TimeValue(a.Time)
	}
}

// parseReceived is the report of the event itself, with all that is needed to read it again.
func parseReceived(e event[parsed], in *Envelope, untimed bool) parsed {
	v := kind.Values{
		kind.FieldEventID: kind.TextValue(e.Event.ID), kind.FieldSource: kind.TextValue(e.Source), kind.FieldType: kind.TextValue(e.Type),
		kind.FieldFormat: kind.TextValue(string(e.result.Format)), kind.FieldNormalizerVersion: kind.TextValue(e.result.Version), kind.FieldRuntimeKey: kind.TextValue(in.Producer.RuntimeKey),
	}
	if !in.WithoutPayload {
		v[kind.FieldPayload] = e.Data
	}
	for _, r := range e.reports { // the first link to a trace is the event's
		for _, name := range []string{kind.FieldOtelTraceID, kind.FieldTraceID} {
			if value := r.draft.Values[name]; value != nil && v[kind.FieldOtelTraceID] == nil && v[kind.FieldTraceID] == nil {
				v[name] = value
			}
		}
	}
	if !e.Time.IsZero() {
		v[kind.FieldOccurredAt] = kind.TimeValue(e.Time)
	}
	d := in.Defaults
	c := setting{e.Schema, d.ConversationID, d.EvaluationRunID, d.ReleaseID, d.TraceID, e.Subject, e.Traceparent, untimed}
	if c != (setting{}) {
		v[kind.FieldAttributes], _ = json.Marshal(c) // its texts were read as JSON
	}
	return parsed{
		draft: kind.Draft{Kind: kind.Must(kind.RawEvents), Values: v}, origin: record.Ingested, event: record.Received(e.Source, e.Event.ID),
		occurred: v.OccurredAt(),
	}
}

// setting is what an event and its envelope say that has no field of its own, in the order of
// the names. With it, the event can be read again.
type setting struct {
	Schema          string `json:"dataschema,omitzero"`
	ConversationID  string `json:"default_conversation_id,omitzero"`
	EvaluationRunID int64  `json:"default_evaluation_run_id,omitzero"`
	ReleaseID       string `json:"default_release_id,omitzero"`
	TraceID         string `json:"default_trace_id,omitzero"`
	Subject         string `json:"subject,omitzero"`
	Traceparent     string `json:"traceparent,omitzero"`
	Untimed         bool   `json:"untimed,omitzero"`
}

// demands are what a report lacks by the rules of its kind.
func demands(d kind.Draft) (fields []fault.Field) {
	if check := hooked[d.Kind.Name].check; check != nil {
		check(d, func(path, code, message string) {
			fields = append(fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
		})
	}
	return fields
}
