package annotation

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/review/annotation/internal/gather"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

const sourceDescription = "`source` makes items, up to 1,000, of the answers of a run, of a dataset or of traces: all of them, those that failed, those about which a judge was not sure, or the most informative; and of these a random sample, if `sample` is sent. " +
	"Content is copied, so the key also needs eval:read, or traces:read for traces."

type sourceInput struct {
	EvaluationRunID string             `json:"evaluationRunId,omitempty" maxLength:"32" doc:"Run whose answers become items."`
	DatasetID       string             `json:"datasetId,omitempty" maxLength:"32" doc:"Dataset whose items become items."`
	TraceFilter     *trace.FilterInput `json:"traceFilter,omitempty" doc:"Traces that become items: the newest 1,000 that match, in the words of the list of traces."`
	Sample          int                `json:"sample,omitempty" minimum:"1" maximum:"1000" doc:"How many to choose, at random unless only is most_informative; all if it is not sent."`
	Only            gather.Only        `json:"only,omitempty" default:"all" enum:"all,failed,low_confidence,most_informative" doc:"all; failed: what failed or errored; low_confidence: answers of a run about which a judge was less sure than 0.6, or would not decide; most_informative: answers of a run about which judges disagree most or are least sure; as many as sample says."`
}

// Check asks for one source.
func (b *createTaskBody) Check(context.Context) error {
	in := b.Source
	if in == nil {
		return nil
	}
	named := 0
	for _, is := range []bool{in.EvaluationRunID != "", in.DatasetID != "", in.TraceFilter != nil} {
		if is {
			named++
		}
	}
	if named != 1 {
		return fault.Invalid("body", "/source/evaluationRunId", "one_of_required", "is required, or datasetId, or traceFilter: exactly one of them")
	}
	return nil
}

// fromSource makes the items of a new task and notes in it what they were made from.
func (s *Service) fromSource(ctx context.Context, org principal.OrgID, t *Task, in *sourceInput) ([]NewItem, error) {
	if in == nil {
		return nil, nil
	}
	from := gather.Source{Run: in.EvaluationRunID, Dataset: in.DatasetID, Sample: in.Sample, Only: in.Only}
	if in.TraceFilter != nil {
		meant := in.TraceFilter.Filter()
		from.Traces, from.Filter = &meant, in.TraceFilter
	}
	if err := httpapi.Require(ctx, from.Scope()); err != nil {
		return nil, err
	}
	found, err := s.sources().Items(ctx, org, &from)
	if err != nil {
		return nil, err
	}
	if t.Source, err = json.Marshal(from, json.Deterministic(true)); err != nil {
		return nil, fmt.Errorf("encode source: %w", err)
	}
	items := make([]NewItem, len(found))
	for n, i := range found {
		items[n] = NewItem{Subject: Subject{Run: i.Run, TestCase: i.TestCase, Trace: i.Trace}, Content: i.Content, Probability: i.Probability}
	}
	return items, nil
}
