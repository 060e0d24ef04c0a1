package evaluation

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

// The pace of a stream of events.
const (
	lookEvery  = time.Second
	heartEvery = 10 * time.Second // proxies close connections that are silent for a minute
	// The stream ends so long before the request would be cut off, so that it
	// ends in order.
	leaveBefore  = 3 * time.Second
	longestWatch = 5 * time.Minute // where requests have no end of their own
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

func (s *Service) getEvents(ctx context.Context, in *RunPath) (*huma.StreamResponse, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	look := func(ctx context.Context) (progressBody, error) {
		p, err := s.Progress(ctx, org, evaluation, id)
		return toProgressBody(p), err
	}
	first, err := look(ctx)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", httpapi.MediaEvents)
		out.SetHeader("X-Accel-Buffering", "no") // a proxy that collects events makes them late
		out.SetStatus(http.StatusOK)
		_, w := humachi.Unwrap(out)
		f := &feed{w: w, control: http.NewResponseController(w)}
		if err := f.watch(ctx, first, look); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "stream of events ends early", "request_id", request.From(ctx).ID, "error", err)
		}
	}}, nil
}

// feed writes a stream of events.
type feed struct {
	w       http.ResponseWriter
	control *http.ResponseController
	last    []byte
}

// watch sends events until the run has ended, the caller or the process goes, or
// time is up.
func (f *feed) watch(ctx context.Context, p progressBody, look func(context.Context) (progressBody, error)) error {
	watching, cancel := context.WithTimeout(ctx, longestWatch)
	if end, ok := ctx.Deadline(); ok {
		cancel()
		watching, cancel = context.WithDeadline(ctx, end.Add(-leaveBefore))
	}
	defer cancel()
	if err := f.write("retry: 1000\n\n"); err != nil {
		return err
	}
	looks, beats := time.NewTicker(lookEvery), time.NewTicker(heartEvery)
	defer looks.Stop()
	defer beats.Stop()
	for {
		if err := f.progress(p); err != nil {
			return err
		}
		if p.ended {
			return f.event("done", encode(p))
		}
		select {
		case <-watching.Done():
			return nil
		case <-httpapi.Closing(ctx):
			return nil
		case <-beats.C:
			if err := f.write(": here\n\n"); err != nil {
				return err
			}
		case <-looks.C:
			next, err := look(watching)
			if err != nil {
				if watching.Err() != nil {
					return nil
				}
				return err
			}
			p = next
		}
	}
}

// progress sends a progress unless it says what the last one said. An estimate
// of the time left alone is no news.
func (f *feed) progress(p progressBody) error {
	news := p
	news.ETASeconds = nil
	text := encode(news)
	if bytes.Equal(text, f.last) {
		return nil
	}
	f.last = text
	return f.event("progress", encode(p))
}

func (f *feed) event(name string, data []byte) error {
	return f.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
}

func (f *feed) write(text string) error {
	if _, err := f.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.control.Flush()
}
