package evidence

import (
	"context"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
)

func (s *Service) registerTimeline(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getEvidenceTimeline", Method: http.MethodGet, Path: "/api/agent-evidence/timeline", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get the timeline of a trace",
		Description: "Returns everything that is known about one trace in causal order. Steps that only the trace's spans show are read from them and have no id. For each action it says how far it got (requested, authorized, dispatched, acknowledged, verified) and what is missing. " +
			"A tool's reply is an acknowledgement, not proof.",
	}, s.getTimeline)
}

type timelineInput struct {
	TraceID string `query:"traceId" required:"true" minLength:"1" maxLength:"32" doc:"The trace, by its number or its 32 hexadecimal digits."`
}

type timelineBody struct {
	OtelTraceID string                     `json:"otel_trace_id" doc:"W3C id of the trace."`
	Start       httpapi.Null[httpapi.Time] `json:"start" doc:"Earliest time that is recorded."`
	End         httpapi.Null[httpapi.Time] `json:"end" doc:"Latest time that is recorded."`
	Entries     []entryBody                `json:"entries" doc:"What is known, in causal order."`
	Missing     []string                   `json:"missing" doc:"What the trace as a whole lacks; what an action lacks is with the action."`
	Truncated   bool                       `json:"truncated" doc:"Whether the trace has more than is shown."`
}

type entryBody struct {
	Resource string                     `json:"resource" doc:"Kind of the record."`
	ID       *int64                     `json:"id" doc:"Id of the record; null if only a span shows it."`
	Origin   *string                    `json:"origin" doc:"Who says so: platform, ingested or reported; null if only a span shows it."`
	SpanID   *string                    `json:"span_id" doc:"Span that it belongs to."`
	At       httpapi.Time               `json:"at" doc:"When it happened."`
	EndedAt  httpapi.Null[httpapi.Time] `json:"ended_at" doc:"When it ended."`
	Depth    int                        `json:"depth" doc:"How deep it lies below what caused it."`
	Parent   *int                       `json:"parent" doc:"Position of the entry that it lies below."`
	Title    string                     `json:"title" doc:"What it is."`
	State    *string                    `json:"state" doc:"Its state, status or decision."`
	Summary  *string                    `json:"summary" doc:"What it says, in short."`
	Action   httpapi.Null[actionBody]   `json:"action" doc:"How far the action got; null if the entry is not the call of a tool or a side effect."`
}

type actionBody struct {
	InvocationID    *string               `json:"invocation_id" doc:"Id of the call, as the runtime names it."`
	Tool            *string               `json:"tool" doc:"Name of the tool."`
	Connector       *string               `json:"connector" doc:"Key of the connector."`
	SideEffectClass string                `json:"side_effect_class" doc:"What the action does to the world."`
	Marks           []markBody            `json:"marks" doc:"The five stages, in order."`
	Missing         []string              `json:"missing" doc:"What would be expected and is not there."`
	Decision        httpapi.Null[refBody] `json:"decision" doc:"Policy decision about the action."`
	Approval        httpapi.Null[refBody] `json:"approval" doc:"Approval of the action."`
	Ledger          []refBody             `json:"ledger" doc:"Side effects of the action."`
	Failures        []refBody             `json:"failures" doc:"Failures of the action."`
}

type markBody struct {
	Stage string                     `json:"stage" enum:"requested,authorized,dispatched,acknowledged,verified" doc:"The stage."`
	State string                     `json:"state" enum:"done,denied,failed,missing,waiting,not_needed" doc:"How it stands."`
	At    httpapi.Null[httpapi.Time] `json:"at" doc:"When it was reached."`
	By    httpapi.Null[refBody]      `json:"by" doc:"Record that says so."`
	Note  *string                    `json:"note" doc:"What there is to say about it."`
}

// entryBytes is about what an entry takes.
const entryBytes = 1 << 10

func (s *Service) getTimeline(ctx context.Context, in *timelineInput) (*httpapi.Body[timelineBody], error) {
	var t timeline.Timeline
	var id span.TraceID
	var truncated bool
	err := admission.From(ctx).Read(ctx, 2*record.PageBytes, func() (_ int, err error) {
		t, id, truncated, err = s.Timeline(ctx, principal.From(ctx).Org, in.TraceID)
		return len(t.Entries) * entryBytes, err
	})
	if err != nil {
		return nil, err
	}
	b := timelineBody{OtelTraceID: id.String(), Start: nullTime(t.Start), End: nullTime(t.End), Entries: make([]entryBody, len(t.Entries)), Missing: httpapi.OrEmpty(t.Missing), Truncated: truncated}
	for i, e := range t.Entries {
		b.Entries[i] = toEntryBody(e)
	}
	return httpapi.NewBody(b), nil
}

func nullTime(t time.Time) httpapi.Null[httpapi.Time] {
	if t.IsZero() {
		return httpapi.Null[httpapi.Time]{}
	}
	return httpapi.NullTime(&t)
}

func toEntryBody(e timeline.Entry) entryBody {
	b := entryBody{
		Resource: string(e.Resource), ID: httpapi.OrNull(e.ID), Origin: httpapi.OrNull(e.Origin), SpanID: httpapi.OrNull(e.Span), At: httpapi.Time(e.At), EndedAt: httpapi.NullTime(e.EndedAt), Depth: e.Depth,
		Title: e.Title, State: httpapi.OrNull(e.Status), Summary: httpapi.OrNull(e.Summary),
	}
	if e.Parent >= 0 {
		b.Parent = &e.Parent
	}
	if e.Action != nil {
		a := toActionBody(e.Action)
		b.Action = httpapi.NullOf(&a)
	}
	return b
}

func toActionBody(a *timeline.Action) actionBody {
	b := actionBody{
		InvocationID: httpapi.OrNull(a.InvocationID), Tool: httpapi.OrNull(a.Tool), Connector: httpapi.OrNull(a.Connector), SideEffectClass: a.SideEffectClass,
		Marks: make([]markBody, len(a.Marks)), Missing: httpapi.OrEmpty(a.Missing), Decision: toNullRef(a.Decision), Approval: toNullRef(a.Approval),
		Ledger: toRefs(a.Ledger), Failures: toRefs(a.Failures),
	}
	for i, m := range a.Marks {
		b.Marks[i] = markBody{Stage: string(m.Stage), State: m.State, At: httpapi.NullTime(m.At), By: toNullRef(m.By), Note: httpapi.OrNull(m.Note)}
	}
	return b
}

func toNullRef(r *timeline.Ref) httpapi.Null[refBody] {
	if r == nil {
		return httpapi.Null[refBody]{}
	}
	return httpapi.NullOf(&refBody{string(r.Resource), r.ID})
}

func toRefs(list []timeline.Ref) []refBody {
	out := make([]refBody, len(list))
	for i, r := range list {
		out[i] = refBody{string(r.Resource), r.ID}
	}
	return out
}
