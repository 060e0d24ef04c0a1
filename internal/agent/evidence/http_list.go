package evidence

import (
	"context"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
)

type listInput struct {
	ResourcePath
	httpapi.CursorPage
	httpapi.Created
	IdempotencyKey             []string `query:"idempotencyKey,explode" doc:"Only records with this idempotency key."`
	RuntimeID                  int64    `query:"runtimeId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this runtime."`
	RuntimeKey                 []string `query:"runtimeKey,explode" doc:"Only records of the runtime with this key."`
	ConnectorID                int64    `query:"connectorId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this connector."`
	ConnectorKey               []string `query:"connectorKey,explode" doc:"Only records of the connector with this key."`
	TraceID                    string   `query:"traceId" maxLength:"32" doc:"Only records of this trace, by its number or its 32 hexadecimal digits."`
	EvaluationRunID            int64    `query:"evaluationRunId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this evaluation run."`
	RawEventID                 int64    `query:"rawEventId" minimum:"1" maximum:"9007199254740991" doc:"Only records that were made from this event."`
	PrimitiveStepRunID         int64    `query:"primitiveStepRunId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this step; among steps, itself and its children."`
	ToolInvocationEvidenceID   int64    `query:"toolInvocationEvidenceId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this tool invocation."`
	InvocationID               []string `query:"invocationId,explode" doc:"Only records of the tool call that the runtime names so."`
	PolicyDecisionID           int64    `query:"policyDecisionId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this policy decision."`
	SideEffectLedgerID         int64    `query:"sideEffectLedgerId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this side effect; among side effects, itself and what compensates it."`
	EvalExplanationID          int64    `query:"evalExplanationId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this explanation."`
	ConnectorReadinessReportID int64    `query:"connectorReadinessReportId" minimum:"1" maximum:"9007199254740991" doc:"Only records of this readiness report."`
	FailureKey                 []string `query:"failureKey,explode" doc:"Only records of the failure with this key."`
	BenchmarkKey               []string `query:"benchmarkKey,explode" doc:"Only results of the benchmark with this key."`
	ReportKey                  []string `query:"reportKey,explode" doc:"Only records of the report with this key."`
	CaseKey                    []string `query:"caseKey,explode" doc:"Only the quality case with this key."`
	Status                     []string `query:"status,explode" doc:"Only records with this status."`
	State                      []string `query:"state,explode" doc:"Only records in this state."`
	Decision                   []string `query:"decision,explode" doc:"Only records with this decision."`
	FailureMode                []string `query:"failureMode,explode" doc:"Only records with this failure mode."`
	PrimitiveType              []string `query:"primitiveType,explode" doc:"Only steps of this type."`
	SideEffectClass            []string `query:"sideEffectClass,explode" doc:"Only records with this class of side effect."`
}

// list is what the parameters select.
func (in *listInput) list(k *kind.Kind) List {
	l := List{Kind: k, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal}
	l.CreatedAfter, l.CreatedBefore = in.Bounds()
	texts := func(name string, values []string) {
		if len(values) > 0 {
			slices.Sort(values)
			l.Restrict(name, slices.Compact(values))
		}
	}
	texts("idempotencyKey", in.IdempotencyKey)
	texts("runtimeKey", in.RuntimeKey)
	texts("connectorKey", in.ConnectorKey)
	texts("invocationId", in.InvocationID)
	texts("failureKey", in.FailureKey)
	texts("benchmarkKey", in.BenchmarkKey)
	texts("reportKey", in.ReportKey)
	texts("caseKey", in.CaseKey)
	several := func(name string, values []string) { // a choice has no comma
		if len(values) > 0 {
			texts(name, strings.Split(strings.Join(values, ","), ","))
		}
	}
	several("status", in.Status)
	several("state", in.State)
	several("decision", in.Decision)
	several("failureMode", in.FailureMode)
	several("primitiveType", in.PrimitiveType)
	several("sideEffectClass", in.SideEffectClass)
	id := func(name string, id int64) {
		if id != 0 {
			l.Restrict(name, []int64{id})
		}
	}
	id("runtimeId", in.RuntimeID)
	id("connectorId", in.ConnectorID)
	id("evaluationRunId", in.EvaluationRunID)
	id("rawEventId", in.RawEventID)
	id("primitiveStepRunId", in.PrimitiveStepRunID)
	id("toolInvocationEvidenceId", in.ToolInvocationEvidenceID)
	id("policyDecisionId", in.PolicyDecisionID)
	id("sideEffectLedgerId", in.SideEffectLedgerID)
	id("evalExplanationId", in.EvalExplanationID)
	id("connectorReadinessReportId", in.ConnectorReadinessReportID)
	return l
}

type listOutput struct {
	Inapplicable string `header:"X-Inapplicable-Filters" doc:"Filters on fields that the kind does not have; absent if there are none."`
	Body         listBody
}

type listBody struct {
	Resource string       `json:"resource" doc:"Kind of the records."`
	Records  []recordBody `json:"records" doc:"The records of this page, newest first."`
	httpapi.CursorPaging
}

func (s *Service) getRecords(ctx context.Context, in *listInput) (*listOutput, error) {
	k, err := in.kind()
	if err != nil {
		return nil, err
	}
	cursor := httpapi.IDCursor("evidence/" + k.Name)
	below, err := cursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	l := in.list(k)
	if l.Below = below; in.Cursor == "" {
		l.Below = 0
	}
	if in.TraceID != "" {
		id, err := s.traceOf(ctx, org, in.TraceID)
		if l.Nothing = fault.IsNotFound(err); err != nil && !l.Nothing {
			return nil, err
		}
		l.Restrict("traceId", [][]byte{id[:]})
	}
	var page []Record
	var more bool
	var total int64
	err = admission.From(ctx).Read(ctx, record.PageBytes, func() (n int, err error) {
		page, more, total, err = s.List(ctx, org, l)
		return bytesOf(page), err
	})
	if err != nil {
		return nil, err
	}
	out := listOutput{Inapplicable: strings.Join(l.Inapplicable, ", ")}
	out.Body.Resource = string(k.Name)
	out.Body.Records = make([]recordBody, len(page))
	next := ""
	for i := range page {
		out.Body.Records[i] = toRecordBody(&page[i])
		if more {
			next = cursor.Text(page[i].ID)
		}
	}
	out.Body.CursorPaging = in.Paging(next, total)
	return &out, nil
}

// bytesOf is what the values of records take.
func bytesOf(records []Record) (n int) {
	for i := range records {
		for _, v := range records[i].Values {
			n += len(v)
		}
	}
	return n
}
