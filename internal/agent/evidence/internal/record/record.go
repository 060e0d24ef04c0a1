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
	kind.FieldID: true, kind.FieldResource: true, kind.FieldIdempotencyKey: true, kind.FieldOrigin: true, kind.FieldOccurredAt: true,
	kind.FieldCreatedAt: true, kind.FieldUpdatedAt: true, kind.FieldRuntimeID: true, kind.FieldRuntimeKey: true,
	kind.FieldConnectorID: true, kind.FieldConnectorKey: true, kind.FieldTraceID: true, kind.FieldOtelTraceID: true,
	kind.FieldEvaluationRunID: true, kind.FieldRawEventID: true, kind.FieldActor: true, kind.FieldIntegrity: true, kind.FieldVersion: true,
}

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
	case kind.FieldID:
		return kind.IntegerValue(r.ID)
	case kind.FieldResource:
		return kind.TextValue(string(r.Kind.Name))
	case kind.FieldOrigin:
		return kind.TextValue(string(r.Origin))
	case kind.FieldOccurredAt:
		return kind.TimeValue(r.OccurredAt)
	case kind.FieldCreatedAt:
		return kind.TimeValue(r.CreatedAt)
	case kind.FieldUpdatedAt:
		return kind.TimeValue(r.UpdatedAt)
	case kind.FieldVersion:
		return kind.IntegerValue(r.Version)
	case kind.FieldIntegrity:
		return jsontext.Value(`{"digest":"` + r.Digest() + `"}`)
	case kind.FieldOtelTraceID:
		if r.Trace == (span.TraceID{}) {
			return nil
		}
		return kind.TextValue(r.Trace.String())
	case kind.FieldIdempotencyKey:
		return textOrNil(r.IdempotencyKey)
	}
	return r.link(name)
}

// link is a field that says what the record belongs to.
func (r *Record) link(name string) jsontext.Value {
	switch name {
	case kind.FieldRuntimeID:
		return numberOrNil(r.RuntimeID)
	case kind.FieldRuntimeKey:
		return textOrNil(r.RuntimeKey)
	case kind.FieldConnectorID:
		return numberOrNil(r.ConnectorID)
	case kind.FieldConnectorKey:
		return textOrNil(r.ConnectorKey)
	case kind.FieldTraceID:
		return numberOrNil(r.Number)
	case kind.FieldEvaluationRunID:
		return numberOrNil(r.EvaluationRunID)
	case kind.FieldRawEventID:
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
