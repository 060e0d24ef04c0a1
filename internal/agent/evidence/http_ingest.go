package evidence

import (
	"bytes"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerIngest(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "ingestEvidence", Method: http.MethodPost, Path: "/api/agent-evidence/ingest", Tag: tag, Scope: principal.TracesWrite, Status: 200,
		BodyLimit: httpapi.LargeBodyLimit, Repeatable: true,
		Summary: "Ingest events",
		Description: "Takes up to 1,000 events with the attributes of CloudEvents 1.0 and turns them into records of evidence: spans of OpenTelemetry and OpenInference, messages of MCP, events of A2A, decision logs of OPA, and native events whose `type` is `agent-evidence.` and a kind. " +
			"`results` has one entry for each event. An event with the same `source` and `id` as an earlier one is a duplicate and has no effect. An event that is not understood is kept; createNormalization reads it again, when a later release understands it. " +
			"In mode `partial` an invalid event leaves the others alone; in mode `atomic` it is 400 and nothing is stored.",
	}, s.postIngest)
}

type ingestInput struct {
	ResultDetail string `query:"resultDetail" enum:"all,errors" default:"all" doc:"errors limits results to events that were rejected or not understood."`
	Body         envelopeBody
}

type envelopeBody struct {
	SpecVersion    string       `json:"specVersion,omitempty" enum:"1.0" default:"1.0" doc:"Version of the envelope."`
	BatchID        string       `json:"batchId,omitempty" maxLength:"256" doc:"Name of the batch, returned in the response."`
	IdempotencyKey string       `json:"idempotencyKey,omitempty" maxLength:"255" doc:"Accepted for completeness: events are recognized one by one, by source and id."`
	Producer       producerBody `json:"producer" doc:"Who sends the events."`
	Defaults       defaultsBody `json:"defaults,omitzero" doc:"Links of events that do not have their own."`
	Options        optionsBody  `json:"options,omitzero" doc:"How the events are taken."`
	Events         []eventValue `json:"events" minItems:"1" maxItems:"1000" doc:"The events."`
}

type producerBody struct {
	RuntimeKey  string `json:"runtimeKey" minLength:"1" maxLength:"256" example:"refund-agent" doc:"Key of the runtime that sends the events; one that is not known is added."`
	Name        string `json:"name,omitempty" maxLength:"256" doc:"Name of the runtime."`
	Version     string `json:"version,omitempty" maxLength:"256" doc:"Version of the runtime."`
	Environment string `json:"environment,omitempty" maxLength:"64" doc:"Deployment environment."`
}

type defaultsBody struct {
	TraceID         string          `json:"traceId,omitempty" maxLength:"32" doc:"Trace, by its number or its 32 hexadecimal digits."`
	ConversationID  string          `json:"conversationId,omitempty" maxLength:"256" doc:"Conversation."`
	EvaluationRunID httpapi.IDInput `json:"evaluationRunId,omitzero" doc:"Evaluation run."`
	ReleaseID       string          `json:"releaseId,omitempty" maxLength:"64" doc:"Release."`
}

type optionsBody struct {
	Mode         string            `json:"mode,omitempty" enum:"partial,atomic" default:"partial" doc:"Whether an invalid event keeps the others from being stored."`
	DryRun       bool              `json:"dryRun,omitzero" doc:"Says what would become of the events, and stores nothing."`
	StorePayload httpapi.Set[bool] `json:"storePayload,omitzero" doc:"Whether the events themselves are stored, besides what is made of them; true by default."`
	Redaction    string            `json:"redaction,omitempty" enum:"default,strict" default:"default" doc:"strict also leaves out what went in and came out of steps, calls and decisions, and the events themselves: their digests are stored."`
}

// eventValue is an event of an envelope. Events are judged one by one, so the edge keeps
// them as they are.
type eventValue jsontext.Value

// UnmarshalJSON keeps the value as it is.
func (v *eventValue) UnmarshalJSON(b []byte) error {
	*v = bytes.Clone(b)
	return nil
}

// MarshalJSON writes the value as it is.
func (v eventValue) MarshalJSON() ([]byte, error) { return v, nil }

// Schema documents an event.
func (eventValue) Schema(r huma.Registry) *huma.Schema {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	s := &huma.Schema{
		Type: huma.TypeObject, Description: "An event with the attributes of CloudEvents 1.0, at most 256 KiB.", AdditionalProperties: true,
		Properties: map[string]*huma.Schema{
			"id": text("Id of the event at its source."), "source": text("Where the event comes from, a URI reference."), "type": text("Type of the event."),
			"time": {Type: huma.TypeString, Format: "date-time", Description: "When it happened."}, "subject": text("What it is about, for example a session."),
			"dataschema": text("Schema of the data."), "traceparent": text("Trace and span, as W3C Trace Context has them."),
			"format": text("Format of the data: otel.span, otel.log, openinference.span, mcp.message, a2a.event, opa.decision or native; inferred if absent."),
			"data":   {Description: "The event itself, any JSON."},
		},
	}
	s.Extensions = map[string]any{"required": []string{"id", "source", "type", "data"}}
	return httpapi.Named(r, "EvidenceEvent", s)
}

type ingestBody struct {
	BatchID        *string        `json:"batch_id" doc:"Name of the batch, as sent."`
	Received       int            `json:"received" doc:"Number of events."`
	Accepted       int            `json:"accepted" doc:"Number of events that were stored with what they say."`
	Duplicates     int            `json:"duplicates" doc:"Number of events that were received before."`
	Unmapped       int            `json:"unmapped" doc:"Number of events that were kept and not understood."`
	Rejected       int            `json:"rejected" doc:"Number of events that are not valid."`
	DryRun         bool           `json:"dry_run" doc:"Whether nothing was stored."`
	RecordsCreated map[string]int `json:"records_created" doc:"Number of records that the events are about, by kind."`
	Results        []outcomeBody  `json:"results" doc:"What became of each event."`
}

type outcomeBody struct {
	Index      int           `json:"index" doc:"Position of the event in the envelope."`
	ID         *string       `json:"id" doc:"Id of the event."`
	Status     Status        `json:"status" doc:"What became of the event."`
	RawEventID *int64        `json:"raw_event_id" doc:"Id of the raw event."`
	Records    []refBody     `json:"records" doc:"Records that the event is about."`
	Errors     []fault.Field `json:"errors" doc:"What is wrong with the event; paths are relative to it."`
	Warnings   []string      `json:"warnings" doc:"What was read with reservations."`
}

type refBody struct {
	Resource string `json:"resource" doc:"Kind of the record."`
	ID       int64  `json:"id" doc:"Id of the record."`
}

func (s *Service) postIngest(ctx context.Context, in *ingestInput) (*httpapi.Body[ingestBody], error) {
	b := in.Body
	e := Envelope{
		Producer: Producer{b.Producer.RuntimeKey, b.Producer.Name, b.Producer.Version, b.Producer.Environment},
		Defaults: Defaults{TraceID: b.Defaults.TraceID, ConversationID: b.Defaults.ConversationID, ReleaseID: b.Defaults.ReleaseID, EvaluationRunID: int64(b.Defaults.EvaluationRunID)},
		Atomic:   b.Options.Mode == "atomic", DryRun: b.Options.DryRun, WithoutPayload: b.Options.StorePayload.Sent && !b.Options.StorePayload.Value,
		Strict: b.Options.Redaction == "strict",
		Events: make([]jsontext.Value, len(b.Events)),
	}
	for i, v := range b.Events {
		e.Events[i] = jsontext.Value(v)
	}
	outcomes, err := s.intake.Ingest(ctx, principal.From(ctx).Org, e)
	if err != nil {
		return nil, err
	}
	out := ingestBody{BatchID: httpapi.OrNull(b.BatchID), Received: len(outcomes), DryRun: e.DryRun, RecordsCreated: map[string]int{}, Results: []outcomeBody{}}
	seen := map[int64]bool{}
	for _, o := range outcomes {
		out.count(o, seen)
		if in.ResultDetail != "errors" || o.Status == Rejected || o.Status == Unmapped {
			out.Results = append(out.Results, toOutcomeBody(o))
		}
	}
	return httpapi.NewBody(out), nil
}

// count adds an outcome. A record that several events are about counts once.
func (b *ingestBody) count(o Outcome, seen map[int64]bool) {
	switch o.Status {
	case Accepted:
		b.Accepted++
	case Duplicate:
		b.Duplicates++
	case Unmapped:
		b.Unmapped++
	case Rejected:
		b.Rejected++
	}
	if o.Status == Duplicate {
		return
	}
	for _, r := range o.Records {
		if !seen[r.ID] {
			seen[r.ID] = true
			b.RecordsCreated[string(r.Resource)]++
		}
	}
}

func toOutcomeBody(o Outcome) outcomeBody {
	b := outcomeBody{
		Index: o.Index, ID: httpapi.OrNull(o.ID), Status: o.Status, RawEventID: httpapi.OrNull(o.RawEvent), Records: make([]refBody, len(o.Records)),
		Errors: o.Errors, Warnings: httpapi.OrEmpty(o.Warnings),
	}
	if b.Errors == nil {
		b.Errors = []fault.Field{}
	}
	for i, r := range o.Records {
		b.Records[i] = refBody{string(r.Resource), r.ID}
	}
	return b
}
