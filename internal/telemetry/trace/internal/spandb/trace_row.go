package spandb

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// TraceRow is what a caller has set on a trace as a whole. It is stored as a span
// whose id is zero.
type TraceRow struct {
	TraceID        span.TraceID
	Name           string
	Status         Status
	Start          time.Time
	End            time.Time // the zero time while the trace is running
	ConversationID string
	UserID         string
	Environment    string
	ServiceName    string
	AgentName      string
	ReleaseID      string
	Input, Output  jsontext.Value // nil if there is none
	Tags           []string
	Metadata       jsontext.Value // an object, nil if there is none
}

// keyMetadata is the attribute that holds a trace's metadata.
var keyMetadata = []byte("assay.metadata")

// Fill makes the row that is stored.
func (o *TraceRow) Fill(r *span.Record) {
	r.TraceID, r.Start = o.TraceID, o.Start.UnixMicro()
	switch o.Status {
	case StatusCompleted:
		r.Status = span.StatusOK
	case StatusFailed:
		r.Status = span.StatusError
	}
	if o.Status != StatusRunning {
		r.End = max(o.End.UnixMicro(), r.Start)
	}
	r.Name = []byte(o.Name)
	r.Conversation, r.User = []byte(o.ConversationID), []byte(o.UserID)
	r.Environment, r.Service, r.Agent, r.Release = []byte(o.Environment), []byte(o.ServiceName), []byte(o.AgentName), []byte(o.ReleaseID)
	r.Input, r.Output = o.Input, o.Output
	for _, tag := range o.Tags {
		r.Tags = append(r.Tags, []byte(tag))
	}
	if len(o.Metadata) > 0 {
		r.Attributes = append(r.Attributes, span.Attribute{Key: keyMetadata, Value: o.Metadata, JSON: true})
	}
	// A payload is written in any case: it replaces one that an earlier version
	// of the row had.
	r.Events = []byte("[]")
}

// Keep takes over what storing changed: secrets that were removed, a start
// that was in the future. clean is what texts go through that many rows share.
func (o *TraceRow) Keep(r *span.Record, clean func([]byte) []byte) {
	for _, text := range []*string{&o.Name, &o.Environment, &o.ServiceName, &o.AgentName, &o.ReleaseID} {
		*text = string(clean([]byte(*text)))
	}
	o.Tags = slices.Clone(o.Tags)
	for i, tag := range o.Tags {
		o.Tags[i] = string(clean([]byte(tag)))
	}
	o.ConversationID, o.UserID = string(r.Conversation), string(r.User)
	o.Input, o.Output = bytes.Clone(r.Input), bytes.Clone(r.Output)
	o.Start = time.UnixMicro(r.Start).UTC()
	if r.End > 0 {
		o.End = time.UnixMicro(r.End).UTC()
	}
	for _, a := range r.Attributes {
		if bytes.Equal(a.Key, keyMetadata) {
			o.Metadata = bytes.Clone(a.Value)
		}
	}
}

// AsTrace is the trace as far as its trace row shows it.
func (o *TraceRow) AsTrace(number int64, at time.Time) Trace {
	return Trace{
		ID: o.TraceID, Ref: number, Name: o.Name, Status: o.Status, Start: o.Start, End: o.End,
		ConversationID: o.ConversationID, UserID: o.UserID, Environment: o.Environment, ServiceName: o.ServiceName,
		AgentName: o.AgentName, ReleaseID: o.ReleaseID, Input: o.Input, Output: o.Output,
		Tags: slices.Clone(o.Tags), Metadata: o.Metadata, CreatedAt: at, UpdatedAt: at,
	}
}

// Same reports whether an edit changed nothing.
func (o *TraceRow) Same(was TraceRow) bool {
	return o.Name == was.Name && o.Status == was.Status && o.End.Equal(was.End) &&
		o.ConversationID == was.ConversationID && o.UserID == was.UserID && o.Environment == was.Environment &&
		o.AgentName == was.AgentName && o.ReleaseID == was.ReleaseID &&
		bytes.Equal(o.Input, was.Input) && bytes.Equal(o.Output, was.Output) &&
		slices.Equal(o.Tags, was.Tags) && bytes.Equal(o.Metadata, was.Metadata)
}
