package rule

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const tag = "Judges"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeRules", Method: http.MethodGet, Path: "/api/llm-judge/rules", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List rules",
		Description: "Returns rules with their counts, newest first. Filters are combined with AND.",
	}, s.getRules)
	httpapi.Register(e, httpapi.Op{
		ID: "createJudgeRule", Method: http.MethodPost, Path: "/api/llm-judge/rules", Tag: tag, Scope: principal.EvalWrite, Also: principal.TracesRead, Status: 201,
		Summary: "Create a rule",
		Description: "Has a judge assess a share of the traces that arrive from now on and match the filter. A trace is judged when it has ended and has been quiet for about two minutes, " +
			"by its input and output. A trace is chosen if its place is below `sampleRate`: the first eight bytes of the SHA-256 of `samplingKey`, a line feed and the trace id, divided by 2^64. " +
			"A higher rate therefore chooses the same traces and more. The judge has to be active: 409 `judge_not_active`.",
	}, s.postRule)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeRule", Method: http.MethodGet, Path: "/api/llm-judge/rules/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a rule",
		Description: "Returns the rule with its counts.",
	}, s.getRule)
	httpapi.Register(e, httpapi.Op{
		ID: "updateJudgeRule", Method: http.MethodPatch, Path: "/api/llm-judge/rules/{id}", Tag: tag, Scope: principal.EvalWrite, Also: principal.TracesRead, Status: 200, OptionalBody: true,
		Summary: "Update a rule",
		Description: "Changes apply to traces that are looked at from now on. A rule that is paused begins, when it is activated, with the traces that arrive then; " +
			"start a back-fill for those that arrived in between.",
	}, s.patchRule)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteJudgeRule", Method: http.MethodDelete, Path: "/api/llm-judge/rules/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete a rule",
		Description: "Deletes the rule with its counts and back-fills; results of the judge stay. While a back-fill is running the response is 409 `in_use`.",
	}, s.deleteRule)
	s.registerPreview(e)
	s.registerBackfills(e)
}

// Path is the path of a rule.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the rule."`
}

// rule is the number behind the path; any other text is the id of no rule.
func (p Path) rule() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrNotFound
	}
	return id, nil
}

type listInput struct {
	httpapi.CursorPage
	Status   []Status `query:"status,explode" doc:"Only rules with this status. Repeat the parameter to match any of several."`
	Key      string   `query:"key" maxLength:"64" doc:"Only the rule with this key."`
	ConfigID string   `query:"configId" maxLength:"32" doc:"Only rules of this judge."`
}

type createInput struct{ Body createBody }

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

type ruleOutput struct {
	ETag string `header:"ETag" doc:"The rule's version, to be sent as If-Match."`
	Body ruleBody
}

type createdOutput struct {
	ETag     string `header:"ETag" doc:"The rule's version, to be sent as If-Match."`
	Location string `header:"Location" doc:"Path of the rule."`
	Body     ruleBody
}

type listOutput struct{ Body listBody }

type listBody struct {
	Rules []ruleBody `json:"rules" doc:"The rules of this page, newest first."`
	httpapi.CursorPaging
}

const ruleCursor = httpapi.IDCursor("judge rules")

func (s *Service) getRules(ctx context.Context, in *listInput) (*listOutput, error) {
	below, err := ruleCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	l := List{Status: in.Status, Key: in.Key, Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal}
	possible := true
	if in.ConfigID != "" {
		l.Config, possible = httpapi.ParseID(in.ConfigID)
	}
	var rules []Rule
	var total int64
	if possible {
		if rules, total, err = s.List(ctx, principal.From(ctx).Org, l); err != nil {
			return nil, err
		}
	}
	var out listOutput
	rules, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, rules, total, func(r Rule) string { return ruleCursor.Text(r.ID) })
	out.Body.Rules = make([]ruleBody, len(rules))
	for i, r := range rules {
		out.Body.Rules[i] = toRuleBody(r)
	}
	return &out, nil
}

func (s *Service) postRule(ctx context.Context, in *createInput) (*createdOutput, error) {
	r := in.Body.rule()
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		r, err := s.CreateTx(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		return &createdOutput{ETag: httpapi.ETag(r.Changes), Location: location(r.ID), Body: toRuleBody(r)}, nil
	})
}

func (s *Service) getRule(ctx context.Context, in *Path) (*ruleOutput, error) {
	id, err := in.rule()
	if err != nil {
		return nil, err
	}
	r, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return toRuleOutput(r), nil
}

func (s *Service) patchRule(ctx context.Context, in *updateInput) (*ruleOutput, error) {
	id, err := in.rule()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	// Counts are shown and not changed.
	now, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*ruleOutput, error) {
		r, err := s.UpdateTx(ctx, tx, expected, id, in.Body.apply)
		if err != nil {
			return nil, err
		}
		r.Tally = now.Tally
		return toRuleOutput(r), nil
	})
}

func (s *Service) deleteRule(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	id, err := in.rule()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteTx(ctx, tx, id); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(httpapi.ID(id).String()), nil
	})
}

// location is the path of a rule.
func location(id int64) string { return "/api/llm-judge/rules/" + strconv.FormatInt(id, 10) }

func toRuleOutput(r Rule) *ruleOutput {
	return &ruleOutput{ETag: httpapi.ETag(r.Changes), Body: toRuleBody(r)}
}

// Shown is the rule as getJudgeRule shows it.
func (r Rule) Shown() any { return toRuleBody(r) }

// Revision counts changes of the rule.
func (r Rule) Revision() int64 { return r.Changes }
