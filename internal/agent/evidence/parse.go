package evidence

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
		if r.Kind.Name == "raw-events" {
			one.origin = record.Reported // a sender says that it received it, and nobody reads it
		}
		if untimed && bytes.Equal(r.Values["occurred_at"], kind.TimeValue(a.Time)) {
			delete(r.Values, "occurred_at") // it is noted, and is not part of what was sent
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
	p := parsed{draft: r.Draft, origin: origin, policy: create, occurred: r.Values.Time("occurred_at")}
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
	if k.Name != "connectors" {
		set("runtime_key", p.RuntimeKey)
	}
	if v["otel_trace_id"] == nil && v["trace_id"] == nil {
		if trace, _ := normal.Traceparent(a.Traceparent); trace != "" {
			set("otel_trace_id", trace)
		} else {
			set("trace_id", d.TraceID)
		}
	}
	set("conversation_id", d.ConversationID)
	if k.Field("release_id") != nil {
		set("release_id", d.ReleaseID)
	}
	if v["evaluation_run_id"] == nil && d.EvaluationRunID != 0 {
		v["evaluation_run_id"] = kind.IntegerValue(d.EvaluationRunID)
	}
	if v["occurred_at"] == nil && !a.Time.IsZero() {
		v["occurred_at"] = kind.TimeValue(a.Time)
	}
}

// parseReceived is the report of the event itself, with all that is needed to read it again.
func parseReceived(e event[parsed], in *Envelope, untimed bool) parsed {
	v := kind.Values{
		"event_id": kind.TextValue(e.Event.ID), "source": kind.TextValue(e.Source), "type": kind.TextValue(e.Type), "format": kind.TextValue(string(e.result.Format)),
		"normalizer_version": kind.TextValue(e.result.Version), "runtime_key": kind.TextValue(in.Producer.RuntimeKey),
	}
	if !in.WithoutPayload {
		v["payload"] = e.Data
	}
	for _, r := range e.reports { // the first link to a trace is the event's
		for _, name := range []string{"otel_trace_id", "trace_id"} {
			if value := r.draft.Values[name]; value != nil && v["otel_trace_id"] == nil && v["trace_id"] == nil {
				v[name] = value
			}
		}
	}
	if !e.Time.IsZero() {
		v["occurred_at"] = kind.TimeValue(e.Time)
	}
	if context := e.context(in.Defaults, untimed); len(context) > 0 {
		v["attributes"] = context.JSON()
	}
	return parsed{
		draft: kind.Draft{Kind: kind.Must("raw-events"), Values: v}, origin: record.Ingested, event: record.Received(e.Source, e.Event.ID),
		occurred: v.Time("occurred_at"),
	}
}

// context are the attributes of an event, and the defaults of its envelope, that have no
// field of their own.
func (a *arrival) context(d Defaults, untimed bool) kind.Values {
	out := kind.Values{}
	for name, text := range map[string]string{
		"subject": a.Subject, "traceparent": a.Traceparent, "dataschema": a.Schema,
		"default_trace_id": d.TraceID, "default_conversation_id": d.ConversationID, "default_release_id": d.ReleaseID,
	} {
		if text != "" {
			out[name] = kind.TextValue(text)
		}
	}
	if untimed {
		out["untimed"] = jsontext.Value("true")
	}
	if d.EvaluationRunID != 0 {
		out["default_evaluation_run_id"] = kind.IntegerValue(d.EvaluationRunID)
	}
	return out
}

// demands are rules of a kind that one field alone cannot state.
func demands(d kind.Draft) (fields []fault.Field) {
	v := d.Values
	need := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
	}
	switch d.Kind.Name {
	case "failures":
		for _, prefix := range []string{fingerprintPrefix, driftPrefix} {
			if strings.HasPrefix(v.Text("failure_key"), prefix) {
				need("/failure_key", "pattern", "must not begin with "+prefix+": such keys are given by the platform. Leave it out to have one")
			}
		}
	case "approvals":
		if v["input_digest"] == nil && v["policy_decision_id"] == nil {
			need("/input_digest", "one_of_required", "give the digest of the action, or policy_decision_id")
		}
		if n := v.Integer("min_approvals"); v["min_approvals"] != nil && (n < 1 || n > 5) {
			need("/min_approvals", "max", "must be from 1 to 5")
		}
		if n := v.Integer("max_uses"); v["max_uses"] != nil && (n < 1 || n > maxUses) {
			need("/max_uses", "max", "must be from 1 to 1000")
		}
	case "side-effect-ledger":
		if c := v.Text("side_effect_class"); v["effect_key"] == nil && c != "" && c != "none" && c != "read" && !d.Partial {
			need("/effect_key", "required", "is required, because the effect is more than reading")
		}
	}
	return fields
}
