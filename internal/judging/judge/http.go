package judge

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

var routes = resource.Routes{
	One: "judge", Many: "judges", Tag: tag, Path: "/api/llm-judge/configs", Read: principal.EvalRead, Write: principal.EvalWrite,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "Models that judge answers: their rubrics and versions, their verdicts, and how well they agree with people.")
	httpapi.Register(e, routes.List("listJudgeConfigs",
		"Returns judges with their current version, newest first. Filters are combined with AND."), s.getConfigs)
	httpapi.Register(e, routes.Create("createJudgeConfig",
		"Creates a judge with its first version. With `starter`, every field that is not sent comes from that entry of the starter "+
			"library. Without `providerKeyId` the judge uses the only active key of the provider; if there is none, or more than one, "+
			"the response is 409 `precondition_missing`."), s.postConfig)
	httpapi.Register(e, routes.Get("getJudgeConfig", "Returns the judge with its current version."), s.getConfig)
	httpapi.Register(e, routes.Update("updateJudgeConfig",
		"Changes the fields that are sent and leaves the others as they are. A change that can change a verdict makes a new "+
			"`config_version`; earlier versions and their results stay as they are. Set `status` to `retired` to stop using a judge; a "+
			"retired judge can be read and restored."), s.patchConfig)
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
	s.registerNouns(e)
}

type listInput struct {
	httpapi.CursorPage
	Status []Status `query:"status,explode" doc:"Only judges with this status. Repeat the parameter to match any of several."`
	Key    string   `query:"key" maxLength:"64" doc:"Only the judge with this key."`
	Search string   `query:"search" maxLength:"200" doc:"Only judges whose name contains this text, ignoring case."`
	httpapi.Created
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type listBody struct {
	Configs []configBody `json:"configs" doc:"The judges of this page, newest first."`
	httpapi.CursorPaging
}

// configs are the judges of organizations.
func configs(log *change.Log) resource.Noun[Config, configBody] {
	return resource.Noun[Config, configBody]{
		Routes: routes, Log: log, Missing: ErrNotFound, Cursor: "judges",
		ID:   func(c Config) int64 { return c.ID },
		Show: resource.Each(toConfigBody),
	}
}

func (s *Service) getConfigs(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	f := Filter{Status: in.Status, Key: in.Key, Search: in.Search}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	shown, paging, err := configs(s.log).Page(ctx, in.CursorPage, func(p postgres.Page) ([]Config, int64, error) {
		f.Page = p
		return s.List(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

func (s *Service) postConfig(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[configBody], error) {
	c, err := in.Body.config()
	if err != nil {
		return nil, err
	}
	prepared, err := s.PrepareNew(ctx, principal.From(ctx).Org, c)
	if err != nil {
		return nil, err
	}
	return configs(s.log).Create(ctx, func(tx postgres.Tx) (Config, error) { return s.CreateTx(ctx, tx, prepared) })
}

func (s *Service) getConfig(ctx context.Context, in *Path) (*httpapi.Output[configBody], error) {
	return configs(s.log).Get(ctx, in.ID, s.Find)
}

func (s *Service) patchConfig(ctx context.Context, in *updateInput) (*httpapi.Output[configBody], error) {
	id, expected, err := configs(s.log).Target(in.ID, in.IfMatch, in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	prepared, err := s.PrepareEdit(ctx, principal.From(ctx).Org, id, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return configs(s.log).Change(ctx, func(tx postgres.Tx) (Config, error) {
		return s.UpdateTx(ctx, tx, expected, prepared, in.Body.apply)
	})
}

// Shown is the judge as getJudgeConfig shows it.
func (c Config) Shown() any { return toConfigBody(c) }

// Revision counts changes of the judge.
func (c Config) Revision() int64 { return c.Changes }
