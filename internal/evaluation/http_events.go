package evaluation

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerEvents(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "streamEvaluationRunEvents", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/events", Tag: tag, Scope: principal.EvalRead, Status: 200,
		ContentType: httpapi.MediaEvents,
		Summary:     "Stream the progress of a run",
		Description: "Server-Sent Events. `progress` has the body of the run's progress, at most once a second and only when something changed. `done` has it once more " +
			"when the run has ended and is the last event: close the stream then. A stream also ends shortly before the time limit of requests; " +
			"EventSource reconnects by itself, and every stream begins with the current progress.",
	}, s.getEvents)
}

func (s *Service) getEvents(ctx context.Context, in *RunPath) (*httpapi.Stream, error) {
	evaluation, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	return httpapi.Events[progressBody]{
		Name: "progress", Last: "done", News: progressNews,
		Look: func(ctx context.Context) (progressBody, bool, error) {
			p, err := s.Progress(ctx, org, evaluation, id)
			return toProgressBody(p), p.Run.Outcome != nil, err
		},
	}.Stream(ctx)
}

// progressNews leaves out the estimate of the time left, which changes with
// every second.
func progressNews(p progressBody) progressBody {
	p.ETASeconds = nil
	return p
}
