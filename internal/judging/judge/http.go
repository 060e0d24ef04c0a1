package judge

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
	e.Tag(tag, "Models that judge answers: their rubrics and versions, their verdicts, and how well they agree with people.")
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeConfigs", Method: http.MethodGet, Path: "/api/llm-judge/configs", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List judges",
		Description: "Returns judges with their current version, newest first. Filters are combined with AND.",
	}, s.getConfigs)
	httpapi.Register(e, httpapi.Op{
		ID: "createJudgeConfig", Method: http.MethodPost, Path: "/api/llm-judge/configs", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Create a judge",
		Description: "Creates a judge with its first version. With `starter`, every field that is not sent comes from that entry of the starter library. " +
			"Without `providerKeyId` the judge uses the only active key of the provider; if there is none, or more than one, the response is 409 `precondition_missing`.",
	}, s.postConfig)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeConfig", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a judge",
		Description: "Returns the judge with its current version.",
	}, s.getConfig)
	httpapi.Register(e, httpapi.Op{
		ID: "updateJudgeConfig", Method: http.MethodPatch, Path: "/api/llm-judge/configs/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary: "Update a judge",
		Description: "Changes the fields that are sent and leaves the others as they are. A change that can change a verdict makes a new `config_version`; earlier versions and their results stay as they are. " +
			"Set `status` to `retired` to stop using a judge; a retired judge can be read and restored.",
	}, s.patchConfig)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeConfigVersions", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}/versions", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List versions of a judge",
		Description: "Returns the versions of the judge, newest first. A version never changes.",
	}, s.getVersions)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeStarters", Method: http.MethodGet, Path: "/api/llm-judge/starters", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List starter judges",
		Description: "Returns the library of judges to start from, each with its rubric, the sources it rests on and its known limits.",
	}, s.getStarters)
	s.registerResults(e)
	s.registerAlignment(e)
	s.registerLabels(e)
	s.registerPage(e)
}

// Path is the path of a judge.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the judge."`
}

// Number is the number behind the path; any other text is the id of no judge.
func (p Path) Number() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrNotFound
	}
	return id, nil
}

type listInput struct {
	httpapi.CursorPage
	Status []Status `query:"status,explode" doc:"Only judges with this status. Repeat the parameter to match any of several."`
	Key    string   `query:"key" maxLength:"64" doc:"Only the judge with this key."`
	Search string   `query:"search" maxLength:"200" doc:"Only judges whose name contains this text, ignoring case."`
	httpapi.Created
}

type createInput struct{ Body createBody }

type createBody struct {
	Key     string `json:"key" pattern:"^[a-z][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -, beginning with a letter" example:"helpfulness" doc:"Name for programs, unique in the organization; the judge's metric is judge:<key>. It cannot be changed."`
	Starter string `json:"starter,omitempty" maxLength:"64" doc:"Entry of the starter library that supplies every field that is not sent."`

	Name        string         `json:"name,omitempty" maxLength:"200" doc:"Name for people; the key if it is not sent."`
	Description string         `json:"description,omitempty" maxLength:"10000" doc:"What the judge is for."`
	Status      Status         `json:"status,omitempty" default:"active" enum:"draft,active" doc:"active, or draft to try the judge first."`
	Provider    string         `json:"provider" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" example:"openai" doc:"Provider of the model, as provider keys name it; simulated needs no key."`
	KeyID       int64          `json:"providerKeyId,omitempty" minimum:"1" maximum:"9007199254740991" doc:"Provider key to use; the only active one of the provider if it is not sent."`
	Model       string         `json:"model" minLength:"1" maxLength:"200" example:"gpt-4.1-mini" doc:"Model that judges."`
	Params      httpapi.Object `json:"params,omitempty" doc:"Parameters of the model: temperature, top_p, max_tokens, seed, stop."`

	Template      string           `json:"promptTemplate,omitempty" maxLength:"20000" doc:"Instructions to the judge. {{input}}, {{output}}, {{expected}}, {{context}} and {{criteria}} name parts of the material; the material itself is sent as data and never becomes part of the instructions. Required without a starter."`
	Criteria      []criterionInput `json:"criteria,omitempty" maxItems:"20" doc:"What is rated, each on the scale; the score is their weighted mean. Without criteria the answer is rated as a whole."`
	Scale         *scaleInput      `json:"scale,omitempty" doc:"Scale of ratings; binary if it is not sent."`
	Pairwise      bool             `json:"pairwise,omitempty" doc:"Compares the output with the expected output, once in each order; a verdict that depends on the order is an abstention."`
	PassThreshold *float64         `json:"passThreshold,omitempty" minimum:"0" maximum:"1" doc:"Score from which an answer passes; 0.5 if it is not sent, or 1 on a binary scale with criteria."`
	AllowAbstain  *bool            `json:"allowAbstain,omitempty" doc:"Whether the judge may say that the material does not allow a rating; true if it is not sent."`
	FewShot       []exampleInput   `json:"fewShot,omitempty" maxItems:"20" doc:"Labelled items to show to the judge. Only items of calibration datasets in the split train are accepted; they are never used to measure the judge."`
	Repeats       int              `json:"repeats,omitempty" minimum:"1" maximum:"9" doc:"Opinions per verdict: the majority of labels, the median of numbers. 1 if it is not sent."`

	SpendCapUSD *float64 `json:"spendCapUsd,omitempty" minimum:"0" maximum:"1000000" doc:"What the judge may cost in all, in US dollars; when it is reached, no more calls are made."`

	LabelKey      string   `json:"labelKey,omitempty" maxLength:"64" doc:"Label of dataset items that holds what people say; the key if it is not sent."`
	LabelSampling Sampling `json:"labelSampling,omitempty" default:"unknown" doc:"How the items that people labelled were chosen. random allows conclusions about the items without a label."`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Set[string]             `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Description     httpapi.Patch[string]           `json:"description,omitzero" maxLength:"10000" doc:"New description; null removes it."`
	Status          httpapi.Set[Status]             `json:"status,omitzero" doc:"active puts a draft to use or restores a retired judge; retired stops its use."`
	Provider        httpapi.Set[string]             `json:"provider,omitzero" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" doc:"New provider; without providerKeyId its only active key is used."`
	KeyID           httpapi.Set[int64]              `json:"providerKeyId,omitzero" minimum:"1" maximum:"9007199254740991" doc:"New provider key."`
	Model           httpapi.Set[string]             `json:"model,omitzero" minLength:"1" maxLength:"200" doc:"New model."`
	Params          httpapi.Patch[httpapi.Object]   `json:"params,omitzero" doc:"New parameters of the model; null removes them."`
	Template        httpapi.Set[string]             `json:"promptTemplate,omitzero" minLength:"1" maxLength:"20000" doc:"New instructions."`
	Criteria        httpapi.Patch[[]criterionInput] `json:"criteria,omitzero" maxItems:"20" doc:"New criteria, replacing all existing ones; null removes them."`
	Scale           httpapi.Set[scaleInput]         `json:"scale,omitzero" doc:"New scale."`
	PassThreshold   httpapi.Set[float64]            `json:"passThreshold,omitzero" minimum:"0" maximum:"1" doc:"New score from which an answer passes."`
	AllowAbstain    httpapi.Set[bool]               `json:"allowAbstain,omitzero" doc:"Whether the judge may abstain."`
	FewShot         httpapi.Patch[[]exampleInput]   `json:"fewShot,omitzero" maxItems:"20" doc:"New examples, replacing all existing ones, with their labels as they are now; null removes them."`
	Repeats         httpapi.Set[int]                `json:"repeats,omitzero" minimum:"1" maximum:"9" doc:"New number of opinions per verdict."`
	SpendCapUSD     httpapi.Patch[float64]          `json:"spendCapUsd,omitzero" minimum:"0" maximum:"1000000" doc:"New limit of what the judge may cost in all; null removes it."`
	LabelKey        httpapi.Set[string]             `json:"labelKey,omitzero" minLength:"1" maxLength:"64" doc:"New label that holds what people say."`
	LabelSampling   httpapi.Set[Sampling]           `json:"labelSampling,omitzero" doc:"How the items that people labelled were chosen."`
	ExpectedVersion int64                           `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type configOutput struct {
	ETag string `header:"ETag" doc:"The judge's version, to be sent as If-Match."`
	Body configBody
}

type createdOutput struct {
	ETag     string `header:"ETag" doc:"The judge's version, to be sent as If-Match."`
	Location string `header:"Location" doc:"Path of the judge."`
	Body     configBody
}

type listOutput struct{ Body listBody }

type listBody struct {
	Configs []configBody `json:"configs" doc:"The judges of this page, newest first."`
	httpapi.CursorPaging
}

const configCursor = httpapi.IDCursor("judges")

func (s *Service) getConfigs(ctx context.Context, in *listInput) (*listOutput, error) {
	below, err := configCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	f := Filter{Status: in.Status, Key: in.Key, Search: in.Search, Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	configs, total, err := s.List(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	var out listOutput
	configs, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, configs, total, func(c Config) string { return configCursor.Text(c.ID) })
	out.Body.Configs = make([]configBody, len(configs))
	for i, c := range configs {
		out.Body.Configs[i] = toConfigBody(c)
	}
	return &out, nil
}

func (s *Service) postConfig(ctx context.Context, in *createInput) (*createdOutput, error) {
	c, err := in.Body.config()
	if err != nil {
		return nil, err
	}
	prepared, err := s.PrepareNew(ctx, principal.From(ctx).Org, c)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		c, err := s.CreateTx(ctx, tx, prepared)
		if err != nil {
			return nil, err
		}
		return &createdOutput{ETag: httpapi.ETag(c.Changes), Location: location(c.ID), Body: toConfigBody(c)}, nil
	})
}

func (s *Service) getConfig(ctx context.Context, in *Path) (*configOutput, error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	c, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return toConfigOutput(c), nil
}

func (s *Service) patchConfig(ctx context.Context, in *updateInput) (*configOutput, error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	prepared, err := s.PrepareEdit(ctx, principal.From(ctx).Org, id, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*configOutput, error) {
		c, err := s.UpdateTx(ctx, tx, expected, prepared, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return toConfigOutput(c), nil
	})
}

// location is the path of a judge.
func location(id int64) string { return "/api/llm-judge/configs/" + strconv.FormatInt(id, 10) }

func toConfigOutput(c Config) *configOutput {
	return &configOutput{ETag: httpapi.ETag(c.Changes), Body: toConfigBody(c)}
}

// Shown is the judge as getJudgeConfig shows it.
func (c Config) Shown() any { return toConfigBody(c) }

// Revision counts changes of the judge.
func (c Config) Revision() int64 { return c.Changes }
