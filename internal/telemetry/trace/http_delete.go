package trace

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerDelete(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "deleteTrace", Method: http.MethodDelete, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesWrite, Status: 200,
		Summary: "Delete a trace",
		Description: "The trace, its spans and its feedback cannot be read any more once this responds, and their bytes are removed from the disks within two hours. " +
			"Spans that arrive later under the same id make a new trace. Dataset items that were made from the trace stay.",
	}, s.deleteTrace)
}

func (s *Service) deleteTrace(ctx context.Context, in *TracePath) (*httpapi.DeletedOutput[string], error) {
	// A trace that the first request deleted is not there for its repetition. That
	// one hides nothing: what has come since is a new trace.
	if out, err := change.Recall[httpapi.DeletedOutput[string]](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	org := principal.From(ctx).Org
	id, err := s.Resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	out, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		d, err := s.DeleteTx(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(d.Trace), nil
	})
	if err != nil {
		return nil, err
	}
	s.hide(ctx, org, id)
	return out, nil
}

// Shown is the trace as getTrace shows it, without what is volatile.
func (d Deletion) Shown() any { return TraceBody{ID: d.Trace} }
