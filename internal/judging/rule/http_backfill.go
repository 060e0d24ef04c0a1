package rule

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

func (s *Service) registerBackfills(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeBackfills", Method: http.MethodGet, Path: "/api/llm-judge/rules/{id}/backfills", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the back-fills of a rule",
		Description: "Returns back-fills with their progress, newest first.",
	}, s.getBackfills)
	httpapi.Register(e, httpapi.Op{
		ID: "startJudgeBackfill", Method: http.MethodPost, Path: "/api/llm-judge/rules/{id}/backfills", Tag: tag, Scope: principal.EvalWrite, Also: principal.TracesRead, Status: 202,
		Summary: "Start a back-fill",
		Description: "Applies the rule to the traces that started in a time of the past, from the newest to the oldest, with its filter and the version of its judge as they are now. " +
			"A trace that this version has judged already, or is judging at the moment, is skipped and costs nothing. Once this returns, the back-fill takes place even if the workflow engine " +
			"is unavailable at the moment. An organization has at most 20 running back-fills: 409 `backfill_limit`.",
	}, s.postBackfill)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeBackfill", Method: http.MethodGet, Path: "/api/llm-judge/rules/{id}/backfills/{backfillId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a back-fill",
		Description: "Returns the back-fill with its progress.",
	}, s.getBackfill)
	httpapi.Register(e, httpapi.Op{
		ID: "cancelJudgeBackfill", Method: http.MethodPost, Path: "/api/llm-judge/rules/{id}/backfills/{backfillId}/cancel", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Cancel a back-fill",
		Description: "Results so far stay. Calls that are under way are finished and counted. A back-fill that has ended cannot be cancelled: 409.",
	}, s.postCancel)
}

// BackfillPath is the path of a back-fill.
type BackfillPath struct {
	Path
	BackfillID string `path:"backfillId" maxLength:"32" doc:"The id of the back-fill."`
}

// ids are the numbers behind the path.
func (p BackfillPath) ids() (rule, backfill int64, err error) {
	rule, known := httpapi.ParseID(p.ID)
	backfill, ok := httpapi.ParseID(p.BackfillID)
	if !known || !ok {
		return 0, 0, ErrBackfillNotFound
	}
	return rule, backfill, nil
}

type listBackfillsInput struct {
	Path
	httpapi.CursorPage
	Status []BackfillStatus `query:"status,explode" doc:"Only back-fills with this status. Repeat the parameter to match any of several."`
}

type startInput struct {
	Path
	Body startBody
}

type startBody struct {
	From        time.Time  `json:"from" doc:"Start of the earliest traces."`
	To          *time.Time `json:"to,omitempty" doc:"Time before which traces start; now if it is not sent."`
	SampleRate  *float64   `json:"sampleRate,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Share of the matching traces that is judged; that of the rule if it is not sent. A higher rate adds traces to those that the rule chooses."`
	MaxTraces   *int32     `json:"maxTraces,omitempty" minimum:"1" maximum:"10000000" doc:"How many traces are judged at most."`
	SpendCapUSD *float64   `json:"spendCapUsd,omitempty" minimum:"0" maximum:"1000000" doc:"What the back-fill may cost, in US dollars. Caps of the judge, the provider key and the organization apply as well; that of the rule does not."`
}

type startedOutput struct {
	Location string `header:"Location" doc:"Path of the back-fill."`
	Body     backfillBody
}

type listBackfillsBody struct {
	Backfills []backfillBody `json:"backfills" doc:"The back-fills of this page, newest first."`
	httpapi.CursorPaging
}

// backfillBody is a back-fill on the wire.
type backfillBody struct {
	ID            httpapi.ID                 `json:"id" doc:"Id of the back-fill."`
	RuleID        httpapi.ID                 `json:"rule_id" doc:"The rule."`
	ConfigID      httpapi.ID                 `json:"config_id" doc:"The judge."`
	ConfigVersion int                        `json:"config_version" doc:"Version of the judge that is asked."`
	Filter        filterBody                 `json:"filter" doc:"The rule's filter at the start."`
	SampleRate    float64                    `json:"sample_rate" doc:"Share of the matching traces that is judged."`
	SamplingKey   string                     `json:"sampling_key" doc:"Text that decides, with the trace id, which traces are chosen."`
	From          httpapi.Time               `json:"from" doc:"Start of the earliest traces."`
	To            httpapi.Time               `json:"to" doc:"Time before which traces start."`
	MaxTraces     *int32                     `json:"max_traces" doc:"How many traces are judged at most; null without a limit."`
	SpendCapUSD   *float64                   `json:"spend_cap_usd" doc:"What the back-fill may cost, in US dollars; null without a limit."`
	Status        BackfillStatus             `json:"status" doc:"running, completed, cancelled, or stopped by a cap or because the judge could not be asked."`
	Reason        httpapi.Null[blockedBody]  `json:"reason" doc:"Why the back-fill was stopped; null unless it was."`
	Total         *int64                     `json:"total" volatile:"true" doc:"Traces that matched at the start; null until they are counted."`
	Matched       int64                      `json:"matched" volatile:"true" doc:"Matching traces that were looked at so far."`
	Sampled       int64                      `json:"sampled" volatile:"true" doc:"Those of them that were chosen."`
	Remaining     *int64                     `json:"remaining" volatile:"true" doc:"Matching traces that were not looked at; null until they are counted."`
	Counts        countsBody                 `json:"counts" volatile:"true" doc:"What became of the chosen traces."`
	CreatedAt     httpapi.Time               `json:"created_at" doc:"When the back-fill was started."`
	UpdatedAt     httpapi.Time               `json:"updated_at" volatile:"true" doc:"When the back-fill last moved on."`
	EndedAt       httpapi.Null[httpapi.Time] `json:"ended_at" doc:"When the back-fill ended; null while it is running."`
}

var backfills = resource.List[Backfill, backfillBody]{
	Cursor: "judge back-fills",
	ID:     func(b Backfill) int64 { return b.ID },
	Show:   resource.Each(toBackfillBody),
}

func (s *Service) getBackfills(ctx context.Context, in *listBackfillsInput) (*httpapi.Body[listBackfillsBody], error) {
	id, err := in.rule()
	if err != nil {
		return nil, err
	}
	shown, paging, err := backfills.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Backfill, int64, error) {
		return s.Backfills(ctx, principal.From(ctx).Org, id, BackfillList{Status: in.Status, Page: p})
	})
	return httpapi.NewBody(listBackfillsBody{shown, paging}), err
}

func (s *Service) postBackfill(ctx context.Context, in *startInput) (*startedOutput, error) {
	id, err := in.rule()
	if err != nil {
		return nil, err
	}
	b := Backfill{From: in.Body.From, MaxTraces: in.Body.MaxTraces, CapNanoUSD: nano(in.Body.SpendCapUSD)}
	if in.Body.To != nil {
		b.To = *in.Body.To
	}
	if in.Body.SampleRate != nil {
		b.SampleRate = *in.Body.SampleRate
	}
	if end := b.To; !end.IsZero() && !b.From.Before(end) || end.IsZero() && b.From.After(s.now()) {
		return nil, fault.Invalid("body", "/from", "max", "must be before to")
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*startedOutput, error) {
		b, err := s.StartBackfillTx(ctx, tx, id, b)
		if err != nil {
			return nil, err
		}
		return &startedOutput{Location: fmt.Sprintf("%s/backfills/%d", routes.At(id), b.ID), Body: toBackfillBody(b)}, nil
	})
}

func (s *Service) getBackfill(ctx context.Context, in *BackfillPath) (*httpapi.Body[backfillBody], error) {
	rule, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	b, err := s.FindBackfill(ctx, principal.From(ctx).Org, rule, id)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toBackfillBody(b)), nil
}

func (s *Service) postCancel(ctx context.Context, in *BackfillPath) (*httpapi.Body[backfillBody], error) {
	rule, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	now, err := s.FindBackfill(ctx, principal.From(ctx).Org, rule, id)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[backfillBody], error) {
		b, err := s.CancelBackfillTx(ctx, tx, rule, id)
		if err != nil {
			return nil, err
		}
		b.Tally = now.Tally
		return httpapi.NewBody(toBackfillBody(b)), nil
	})
}

func toBackfillBody(b Backfill) backfillBody {
	out := backfillBody{
		ID: httpapi.ID(b.ID), RuleID: httpapi.ID(b.Rule), ConfigID: httpapi.ID(b.Config), ConfigVersion: b.Version, Filter: toFilterBody(b.Filter), SampleRate: b.SampleRate,
		SamplingKey: b.SamplingKey, From: httpapi.Time(b.From), To: httpapi.Time(b.To), MaxTraces: b.MaxTraces, SpendCapUSD: dollars(b.CapNanoUSD), Status: b.Status,
		Reason: toBlocked(b.Reason), Total: b.Total, Matched: b.Matched, Sampled: b.Sampled, Counts: toCounts(b.Tally), CreatedAt: httpapi.Time(b.CreatedAt),
		UpdatedAt: httpapi.Time(b.UpdatedAt), EndedAt: httpapi.NullTime(b.EndedAt),
	}
	if b.Total != nil {
		left := max(0, *b.Total-b.Matched)
		out.Remaining = &left
	}
	return out
}

// Shown is the back-fill as getJudgeBackfill shows it.
func (b Backfill) Shown() any { return toBackfillBody(b) }
