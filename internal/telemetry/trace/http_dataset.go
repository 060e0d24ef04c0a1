package trace

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

func (s *Service) registerPromotion(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "addTracesToDataset", Method: http.MethodPost, Path: "/api/traces/to-dataset", Tag: tag, Scope: principal.EvalWrite, Also: principal.TracesRead, Status: 200,
		Summary: "Add traces to a dataset",
		Description: "Makes an item of each trace, or of each span, with its input and, unless `includeOutput` is false, its output as the expected output. The item's source names the trace or span. " +
			"Send either `traceIds` or `spans`. What has no input, and content that the dataset already has, are skipped and listed in `skipped`. " +
			"The key needs both eval:write and traces:read, because payloads of traces are copied.",
	}, s.postToDataset)
}

type toDatasetBody struct {
	DatasetID     httpapi.IDInput `json:"datasetId" doc:"Id of the dataset."`
	TraceIDs      traceNames      `json:"traceIds,omitempty" doc:"Traces to add, by id or trace_ref; at most 100."`
	Spans         []spanNameBody  `json:"spans,omitempty" minItems:"1" maxItems:"100" doc:"Spans to add, instead of whole traces: a model call within an agent, for example; at most 100."`
	IncludeOutput *bool           `json:"includeOutput,omitempty" doc:"Whether the output becomes the expected output; true by default."`
}

type spanNameBody struct {
	TraceID string `json:"traceId" pattern:"^[0-9a-fA-F]{32}$" doc:"Id of the trace."`
	SpanID  string `json:"spanId" pattern:"^[0-9a-fA-F]{16}$" doc:"Id of the span."`
}

// names are what the request names, and the member that does.
func (b toDatasetBody) names() (names []spanName, list string, err error) {
	switch {
	case len(b.TraceIDs) > 0 && len(b.Spans) > 0:
		return nil, "", fault.Invalid("body", "/spans", "mutually_exclusive", "cannot be sent together with traceIds: send one request for each")
	case len(b.Spans) == 0 && len(b.TraceIDs) == 0:
		return nil, "", fault.Invalid("body", "/traceIds", "one_of_required", "is required, unless spans is sent")
	case len(b.TraceIDs) > 0:
		for _, name := range b.TraceIDs {
			names = append(names, spanName{trace: name})
		}
		return names, "traceIds", nil
	}
	for i, s := range b.Spans {
		id, ok := span.ParseID(s.SpanID)
		if !ok {
			return nil, "", fault.Invalid("body", "/spans/"+strconv.Itoa(i)+"/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
		names = append(names, spanName{trace: s.TraceID, span: id})
	}
	return names, "spans", nil
}

type promotedBody struct {
	Created int               `json:"created" doc:"Number of items that were created."`
	Items   []promotedItem    `json:"items" doc:"Traces and spans that became items."`
	Skipped []unpromotedTrace `json:"skipped" doc:"Traces and spans that did not."`
}

type promotedItem struct {
	Index         int        `json:"index" doc:"Position in the request."`
	TraceID       string     `json:"trace_id" doc:"Id of the trace."`
	SpanID        *string    `json:"span_id" doc:"Id of the span; null for a whole trace."`
	ItemID        httpapi.ID `json:"item_id" doc:"Id of the new dataset item."`
	ContentDigest string     `json:"content_digest" doc:"Digest of the item's content."`
}

type unpromotedTrace struct {
	Index   int                      `json:"index" doc:"Position in the request."`
	TraceID string                   `json:"trace_id" doc:"Id of the trace."`
	SpanID  *string                  `json:"span_id" doc:"Id of the span; null for a whole trace."`
	ItemID  httpapi.Null[httpapi.ID] `json:"item_id" doc:"Id of the item that already has this content; null if the trace or span has no input."`
	Reason  string                   `json:"reason" enum:"duplicate,no_input" doc:"Why it was skipped."`
}

func (s *Service) postToDataset(ctx context.Context, in *httpapi.Body[toDatasetBody]) (*httpapi.Body[promotedBody], error) {
	names, list, err := in.Body.names()
	if err != nil {
		return nil, err
	}
	p := promotion{dataset: int64(in.Body.DatasetID), output: in.Body.IncludeOutput == nil || *in.Body.IncludeOutput, list: list}
	org := principal.From(ctx).Org
	if err := s.gather(ctx, org, names, &p); err != nil {
		return nil, err
	}
	prepare, from := s.preparing(ctx, org, &p)
	return dataset.Retry(prepare, func(ready dataset.Prepared) (*httpapi.Body[promotedBody], error) {
		return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[promotedBody], error) {
			if err := s.promoteTx(ctx, tx, &p, ready, from); err != nil {
				return nil, err
			}
			return toPromotedOutput(p), nil
		})
	})
}

func toPromotedOutput(p promotion) *httpapi.Body[promotedBody] {
	out := &httpapi.Body[promotedBody]{Body: promotedBody{Items: []promotedItem{}, Skipped: []unpromotedTrace{}}}
	for i, t := range p.traces {
		of := httpapi.OrNull(t.span.String())
		switch {
		case t.item == 0:
			out.Body.Skipped = append(out.Body.Skipped, unpromotedTrace{Index: i, TraceID: t.id.String(), SpanID: of, Reason: "no_input"})
		case t.duplicate:
			item := httpapi.ID(t.item)
			out.Body.Skipped = append(out.Body.Skipped, unpromotedTrace{Index: i, TraceID: t.id.String(), SpanID: of, ItemID: httpapi.NullOf(&item), Reason: "duplicate"})
		default:
			out.Body.Items = append(out.Body.Items, promotedItem{Index: i, TraceID: t.id.String(), SpanID: of, ItemID: httpapi.ID(t.item), ContentDigest: t.digest})
		}
	}
	out.Body.Created = len(out.Body.Items)
	return out
}
