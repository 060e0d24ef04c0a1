package rule

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Judges"

var routes = resource.Routes{
	One: "rule", Many: "rules", Tag: tag, Path: "/api/llm-judge/rules", Read: principal.EvalRead, Write: principal.EvalWrite, Also: principal.TracesRead,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, routes.List("listJudgeRules",
		"Returns rules with their counts, newest first. Filters are combined with AND."), s.getRules)
	httpapi.Register(e, routes.Create("createJudgeRule",
		"Has a judge assess a share of the traces that arrive from now on and match the filter. A trace is judged when it has "+
			"ended and has been quiet for about two minutes, by its input and output. A trace is chosen if its place is below "+
			"`sampleRate`: the first eight bytes of the SHA-256 of `samplingKey`, a line feed and the trace id, divided by 2^64. A "+
			"higher rate therefore chooses the same traces and more. The judge has to be active: 409 `judge_not_active`."), s.postRule)
	httpapi.Register(e, routes.Get("getJudgeRule", "Returns the rule with its counts."), s.getRule)
	httpapi.Register(e, routes.Update("updateJudgeRule",
		"Changes apply to traces that are looked at from now on. A rule that is paused begins, when it is activated, with the "+
			"traces that arrive then; start a back-fill for those that arrived in between."), s.patchRule)
	httpapi.Register(e, routes.Delete("deleteJudgeRule",
		"Deletes the rule with its counts and back-fills; results of the judge stay. While a back-fill is running the response is "+
			"409 `in_use`."), s.deleteRule)
	s.registerNouns(e)
}

// Path is the path of a rule.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the rule."`
}

// rule is the number behind the path; any other text is the id of no rule.
func (p Path) rule() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type listInput struct {
	httpapi.CursorPage
	Status   []Status `query:"status,explode" doc:"Only rules with this status. Repeat the parameter to match any of several."`
	Key      string   `query:"key" maxLength:"64" doc:"Only the rule with this key."`
	ConfigID string   `query:"configId" maxLength:"32" doc:"Only rules of this judge."`
}

type createBody struct {
	Key         string          `json:"key" pattern:"^[a-z][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -, beginning with a letter" example:"live-helpfulness" doc:"Name for programs, unique in the organization. It cannot be changed."`
	Name        string          `json:"name,omitempty" maxLength:"200" doc:"Name for people; the key if it is not sent."`
	Description string          `json:"description,omitempty" maxLength:"10000" doc:"What the rule is for."`
	ConfigID    httpapi.IDInput `json:"configId" doc:"The judge."`
	Filter      filterInput     `json:"filter,omitempty" doc:"Which traces are meant; all if it is not sent."`
	SampleRate  float64         `json:"sampleRate" exclusiveMinimum:"0" maximum:"1" example:"0.05" doc:"Share of the matching traces that is judged."`
	SamplingKey string          `json:"samplingKey,omitempty" maxLength:"64" doc:"Text that decides, with the trace id, which traces are chosen; the key if it is not sent. Rules with the same one choose the same traces. It cannot be changed."`
	Status      Status          `json:"status,omitempty" default:"active" doc:"active, or paused to begin later."`
	SpendCapUSD *float64        `json:"spendCapUsd,omitempty" minimum:"0" maximum:"1000000" doc:"What the rule may cost in each period, in US dollars; when it is reached, traces are skipped. Caps of the judge, the provider key and the organization apply as well."`
	CapPeriod   Period          `json:"capPeriod,omitempty" default:"month" doc:"Period of the cap: each calendar month in UTC, or the whole life of the rule."`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Set[string]          `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Description     httpapi.Patch[string]        `json:"description,omitzero" maxLength:"10000" doc:"New description; null removes it."`
	ConfigID        httpapi.Set[httpapi.IDInput] `json:"configId,omitzero" doc:"New judge."`
	Filter          httpapi.Patch[filterInput]   `json:"filter,omitzero" doc:"New filter, replacing the existing one; null removes it."`
	SampleRate      httpapi.Set[float64]         `json:"sampleRate,omitzero" exclusiveMinimum:"0" maximum:"1" doc:"New share of the matching traces."`
	Status          httpapi.Set[Status]          `json:"status,omitzero" doc:"paused stops the rule; active lets it begin with the traces that arrive from now on."`
	SpendCapUSD     httpapi.Patch[float64]       `json:"spendCapUsd,omitzero" minimum:"0" maximum:"1000000" doc:"New limit of what the rule may cost in each period; null removes it."`
	CapPeriod       httpapi.Set[Period]          `json:"capPeriod,omitzero" doc:"New period of the cap."`
	ExpectedVersion int64                        `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type listBody struct {
	Rules []ruleBody `json:"rules" doc:"The rules of this page, newest first."`
	httpapi.CursorPaging
}

func (s *Service) rules() resource.Noun[Rule, ruleBody] {
	return resource.Noun[Rule, ruleBody]{
		Routes: routes, Log: s.log, Missing: ErrNotFound, Cursor: "judge rules",
		ID:   func(r Rule) int64 { return r.ID },
		Show: resource.Each(toRuleBody),
	}
}

func (s *Service) getRules(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	shown, paging, err := s.rules().Page(ctx, in.CursorPage, func(p postgres.Page) ([]Rule, int64, error) {
		l := List{Status: in.Status, Key: in.Key, Page: p}
		if in.ConfigID != "" {
			var possible bool
			if l.Config, possible = httpapi.ParseID(in.ConfigID); !possible {
				return nil, 0, nil
			}
		}
		return s.List(ctx, principal.From(ctx).Org, l)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

func (s *Service) postRule(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[ruleBody], error) {
	return s.rules().Create(ctx, func(tx postgres.Tx) (Rule, error) { return s.CreateTx(ctx, tx, in.Body.rule()) })
}

func (s *Service) getRule(ctx context.Context, in *Path) (*httpapi.Output[ruleBody], error) {
	return s.rules().Get(ctx, in.ID, s.Find)
}

func (s *Service) patchRule(ctx context.Context, in *updateInput) (*httpapi.Output[ruleBody], error) {
	id, expected, err := s.rules().Target(in.ID, in.IfMatch, in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	// Counts are shown and not changed.
	now, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return s.rules().Change(ctx, func(tx postgres.Tx) (Rule, error) {
		r, err := s.UpdateTx(ctx, tx, expected, id, in.Body.apply)
		r.Tally = now.Tally
		return r, err
	})
}

func (s *Service) deleteRule(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	return s.rules().Delete(ctx, in.ID, s.DeleteTx)
}

// Shown is the rule as getJudgeRule shows it.
func (r Rule) Shown() any { return toRuleBody(r) }

// Revision counts changes of the rule.
func (r Rule) Revision() int64 { return r.Changes }
