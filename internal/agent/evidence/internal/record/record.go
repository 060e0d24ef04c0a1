package record

import (
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Origin is who says so.
type Origin string

// The origins.
const (
	Platform Origin = "platform" // computed here
	Ingested Origin = "ingested" // normalized from telemetry
	Reported Origin = "reported" // posted by a client
)

// Key is what a record is recognized by when it is reported again.
type Key [16]byte

// Links are what a record belongs to.
type Links struct {
	RuntimeID       int64
	RuntimeKey      string
	ConnectorID     int64
	ConnectorKey    string
	Trace           span.TraceID
	EvaluationRunID int64
	RawEventID      int64
}

// Record is a record of evidence.
type Record struct {
	Kind *kind.Kind
	ID   int64
	Links
	// Number is the trace's, if the record belongs to one.
	Number         int64
	IdempotencyKey string
	Origin         Origin
	Actor          principal.Actor
	// Values are all other fields that have a value, by name.
	Values     kind.Values
	OccurredAt time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64

	Key Key
}

// State is the value of the lifecycle field.
func (r *Record) State() string { return r.Values.Text(r.Kind.Lifecycle) }

// Columns are the fields that are not among the values.
var Columns = map[string]bool{
	"id": true, "resource": true, "idempotency_key": true, "origin": true, "occurred_at": true, "created_at": true, "updated_at": true,
	"runtime_id": true, "runtime_key": true, "connector_id": true, "connector_key": true, "trace_id": true, "otel_trace_id": true,
	"evaluation_run_id": true, "raw_event_id": true, "actor": true, "integrity": true, "version": true,
}

// Own reports whether a column is a field of the kind itself, as its key is.
func Own(k *kind.Kind, name string) bool { return k.KeyField == name }

// Digest is what the record can be checked against: the digest of what it says, without
// the times and ids that it was given here.
func (r *Record) Digest() string {
	lasting := maps.Clone(r.Values)
	for _, f := range r.Kind.Fields {
		if f.Volatile {
			delete(lasting, f.Name)
		}
	}
	return kind.DigestOf(lasting.JSON())
}

// Common is a field that every record has, as JSON; nil if it has no value.
func (r *Record) Common(name string) jsontext.Value {
	switch name {
	case "id":
		return kind.IntegerValue(r.ID)
	case "resource":
		return kind.TextValue(string(r.Kind.Name))
	case "origin":
		return kind.TextValue(string(r.Origin))
	case "occurred_at":
		return kind.TimeValue(r.OccurredAt)
	case "created_at":
		return kind.TimeValue(r.CreatedAt)
	case "updated_at":
		return kind.TimeValue(r.UpdatedAt)
	case "version":
		return kind.IntegerValue(r.Version)
	case "integrity":
		return jsontext.Value(`{"digest":"` + r.Digest() + `"}`)
	case "otel_trace_id":
		if r.Trace == (span.TraceID{}) {
			return nil
		}
		return kind.TextValue(r.Trace.String())
	case "idempotency_key":
		return textOrNil(r.IdempotencyKey)
	}
	return r.link(name)
}

// link is a field that says what the record belongs to.
func (r *Record) link(name string) jsontext.Value {
	switch name {
	case "runtime_id":
		return numberOrNil(r.RuntimeID)
	case "runtime_key":
		return textOrNil(r.RuntimeKey)
	case "connector_id":
		return numberOrNil(r.ConnectorID)
	case "connector_key":
		return textOrNil(r.ConnectorKey)
	case "trace_id":
		return numberOrNil(r.Number)
	case "evaluation_run_id":
		return numberOrNil(r.EvaluationRunID)
	case "raw_event_id":
		return numberOrNil(r.RawEventID)
	}
	return nil
}

func textOrNil(s string) jsontext.Value {
	if s == "" {
		return nil
	}
	return kind.TextValue(s)
}

func numberOrNil(n int64) jsontext.Value {
	if n == 0 {
		return nil
	}
	return kind.IntegerValue(n)
}
