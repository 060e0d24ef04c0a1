package trace

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerPromotion(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "tracesToDataset", Method: http.MethodPost, Path: "/api/traces/to-dataset", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary: "Put traces into a dataset",
		Description: "Each trace becomes an item: its input, and its output as the expected output unless `includeOutput` is false. The item's source names the trace. " +
			"Content that the dataset already has, and traces without an input, are skipped and reported, so the call can be repeated.",
	}, s.postToDataset)
}

type toDatasetInput struct {
	Body toDatasetBody
}

type toDatasetBody struct {
	DatasetID     httpapi.IDInput `json:"datasetId"`
	TraceIDs      traceNames      `json:"traceIds" doc:"Ids or numbers of traces."`
	IncludeOutput *bool           `json:"includeOutput,omitempty" doc:"Whether the output becomes the expected output; true if absent."`
}

type promotedOutput struct {
	Body promotedBody
}

type promotedBody struct {
	Created int               `json:"created"`
	Items   []promotedItem    `json:"items"`
	Skipped []unpromotedTrace `json:"skipped"`
}

type promotedItem struct {
	Index         int        `json:"index" doc:"Position in the request."`
	TraceID       string     `json:"trace_id"`
	ItemID        httpapi.ID `json:"item_id"`
	ContentDigest string     `json:"content_digest"`
}

type unpromotedTrace struct {
	Index   int        `json:"index" doc:"Position in the request."`
	TraceID string     `json:"trace_id"`
	ItemID  httpapi.ID `json:"item_id,omitzero" doc:"The item that has this content already."`
	Reason  string     `json:"reason" enum:"duplicate,no_input"`
}

func (s *Service) postToDataset(ctx context.Context, in *toDatasetInput) (*promotedOutput, error) {
	p := promotion{dataset: int64(in.Body.DatasetID), output: in.Body.IncludeOutput == nil || *in.Body.IncludeOutput}
	if err := s.gather(ctx, principal.From(ctx).Org, in.Body.TraceIDs, &p); err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*promotedOutput, error) {
		if err := s.promoteTx(ctx, tx, &p); err != nil {
			return nil, err
		}
		return toPromotedOutput(p), nil
	})
}

func toPromotedOutput(p promotion) *promotedOutput {
	out := &promotedOutput{Body: promotedBody{Items: []promotedItem{}, Skipped: []unpromotedTrace{}}}
	for i, t := range p.traces {
		switch {
		case t.item == 0:
			out.Body.Skipped = append(out.Body.Skipped, unpromotedTrace{Index: i, TraceID: t.id.String(), Reason: "no_input"})
		case t.duplicate:
			out.Body.Skipped = append(out.Body.Skipped, unpromotedTrace{Index: i, TraceID: t.id.String(), ItemID: httpapi.ID(t.item), Reason: "duplicate"})
		default:
			out.Body.Items = append(out.Body.Items, promotedItem{Index: i, TraceID: t.id.String(), ItemID: httpapi.ID(t.item), ContentDigest: t.digest})
		}
	}
	out.Body.Created = len(out.Body.Items)
	return out
}
