package evidence

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// What a caller sees of a record that is not there, or is not as expected.
var (
	ErrUnknownResource = fault.New(fault.NotFound, "unknown_resource", "There is no such kind of evidence. GET /api/agent-evidence lists the kinds.")
	ErrNotFound        = fault.New(fault.NotFound, "evidence_not_found", "The record does not exist.")
	ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The record has changed since you read it. Read it again and repeat the change.")
	ErrKeyReused       = fault.New(fault.Conflict, "idempotency_key_reused", "This idempotencyKey was used for a record with other content. Use a new key for a new record.")
	ErrNotWritable     = fault.New(fault.Forbidden, "kind_not_writable", "Records of this kind are made by an action, and cannot be posted.")
	ErrNotChangeable   = fault.New(fault.Forbidden, "kind_not_changeable", "Records of this kind cannot be changed here.")
	ErrTransition      = fault.New(fault.Conflict, "invalid_transition", "The record cannot change to that state from its current one.")
)

// Origin is who says so.
type Origin string

// The origins.
const (
	Platform Origin = "platform" // computed here
	Ingested Origin = "ingested" // normalized from telemetry
	Reported Origin = "reported" // posted by a client
)

// key is what a record is recognized by when it is reported again.
type key [16]byte

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

	key key
}

// State is the value of the lifecycle field.
func (r *Record) State() string { return r.Values.Text(r.Kind.Lifecycle) }

// columns are the fields that are not among the values.
var columns = map[string]bool{
	"id": true, "resource": true, "idempotency_key": true, "origin": true, "occurred_at": true, "created_at": true, "updated_at": true,
	"runtime_id": true, "runtime_key": true, "connector_id": true, "connector_key": true, "trace_id": true, "otel_trace_id": true,
	"evaluation_run_id": true, "raw_event_id": true, "actor": true, "integrity": true, "version": true,
}

// own reports whether a column is a field of the kind itself, as its key is.
func own(k *kind.Kind, name string) bool { return k.KeyField == name }

// body is the values as they are stored.
func (r *Record) body() (jsontext.Value, error) {
	text, err := json.Marshal(map[string]jsontext.Value(r.Values), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Kind.One, err)
	}
	return text, nil
}

// readBody reads what body wrote.
func readBody(text []byte) (kind.Values, error) {
	var v kind.Values
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if v == nil {
		v = kind.Values{}
	}
	return v, nil
}

// digest is what the record can be checked against: the digest of what it says, without
// the times and ids that it was given here.
func (r *Record) digest() string {
	lasting := maps.Clone(r.Values)
	for _, f := range r.Kind.Fields {
		if f.Volatile {
			delete(lasting, f.Name)
		}
	}
	text, err := json.Marshal(map[string]jsontext.Value(lasting), json.Deterministic(true))
	if err != nil {
		return ""
	}
	return kind.DigestOf(text)
}

// common is a field that every record has, as JSON; nil if it has no value.
func (r *Record) common(name string) jsontext.Value {
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
		return jsontext.Value(`{"digest":"` + r.digest() + `"}`)
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

// location is the path of a record.
func location(r *Record) string {
	return "/api/agent-evidence/" + string(r.Kind.Name) + "/" + strconv.FormatInt(r.ID, 10)
}
