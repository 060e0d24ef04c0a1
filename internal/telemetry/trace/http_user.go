package trace

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

func (s *Service) registerUsers(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listEndUsers", Method: http.MethodGet, Path: "/api/end-users", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "List end users",
		Description: "Returns the end users of your applications of whom a trace starts within a window of up to 92 days, by their latest activity, newest first. " +
			"Totals cover the traces that start in the window and match the filters. A page may be shorter than its limit and still have a next one.",
	}, s.getUsers)
}

type listUsersInput struct {
	httpapi.CursorPage
	Environment string `query:"environment" maxLength:"1024" doc:"Only traces in this environment."`
	ServiceName string `query:"serviceName" maxLength:"1024" doc:"Only traces of this service."`
	GroupWindow
}

type listUsersBody struct {
	Window windowBody `json:"window" doc:"Window in which traces start."`
	Users  []userBody `json:"end_users" doc:"End users of this page."`
	httpapi.CursorPaging
}

type userBody struct {
	ID             string       `json:"id" doc:"Id of the end user, as the application named it."`
	UserID         string       `json:"user_id" doc:"Same as id, under the name that traces have it by."`
	FirstStartTime httpapi.Time `json:"first_start_time" doc:"Start of the first matching trace in the window."`
	LastStartTime  httpapi.Time `json:"last_start_time" doc:"Start of the latest span of such a trace that names the end user; the list is ordered by it."`
	Totals         userTotals   `json:"totals" doc:"Totals of the matching traces in the window."`
}

type userTotals struct {
	Traces          int           `json:"traces" doc:"Number of traces."`
	FailedTraces    int           `json:"failed_traces" doc:"Number of traces that failed."`
	Conversations   int           `json:"conversations" doc:"Number of conversations that the traces are part of."`
	Spans           int           `json:"spans" doc:"Number of spans."`
	Errors          int           `json:"errors" doc:"Number of spans that ended with an error."`
	Usage           httpapi.Usage `json:"usage" doc:"Tokens used by the traces."`
	CostUSD         *float64      `json:"cost_usd" doc:"Sum of the known costs in US dollars; null if none is known."`
	CostKnownTraces int           `json:"cost_known_traces" doc:"Number of traces whose cost is known."`
}

// userCursor is the cursor of end users.
const userCursor = groupCursor("end_users")

func (s *Service) getUsers(ctx context.Context, in *listUsersInput) (*httpapi.Body[listUsersBody], error) {
	f := GroupFilter{By: spandb.ByUser, Environment: in.Environment, ServiceName: in.ServiceName}
	found, paging, err := s.readGroups(ctx, f, in.GroupWindow, in.CursorPage, userCursor)
	if err != nil {
		return nil, err
	}
	out := listUsersBody{Window: toWindow(found.From, found.To), Users: make([]userBody, len(found.Groups)), CursorPaging: paging}
	for i, g := range found.Groups {
		out.Users[i] = userBody{
			ID: g.ID, UserID: g.ID, FirstStartTime: httpapi.Time(g.First), LastStartTime: httpapi.Time(g.Last), Totals: toUserTotals(g),
		}
	}
	return httpapi.NewBody(out), nil
}

func toUserTotals(g Group) userTotals {
	n := g.Totals
	return userTotals{
		Traces: n.Traces, FailedTraces: n.Failed, Conversations: g.Conversations, Spans: n.Spans, Errors: n.Errors,
		Usage: toUsage(n.Usage), CostUSD: toCost(n.Cost), CostKnownTraces: n.CostKnown,
	}
}
