package trace

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerDelete(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "deleteTrace", Method: http.MethodDelete, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesWrite, Status: 200,
		Summary: "Delete a trace for good",
		Description: "The trace, its spans and its feedback can no longer be read when this answers; their bytes are removed from the disks by `purge_by`. " +
			"Spans that are sent later under the same id make a new trace. Copies that were put into datasets stay.",
	}, s.deleteTrace)
}

type deleteTraceOutput struct {
	Body deletedTraceBody
}

type deletedTraceBody struct {
	ID      string       `json:"id"`
	Deleted bool         `json:"deleted"`
	Purged  bool         `json:"purged" doc:"Whether nothing of the trace is on the disks any more."`
	PurgeBy httpapi.Time `json:"purge_by" doc:"When nothing of the trace will be on the disks any more: within an hour."`
}

func (s *Service) deleteTrace(ctx context.Context, in *TracePath) (*deleteTraceOutput, error) {
	org := principal.From(ctx).Org
	id, err := s.existing(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	out, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*deleteTraceOutput, error) {
		d, err := s.DeleteTx(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return &deleteTraceOutput{Body: deletedTraceBody{ID: d.Trace, Deleted: true, PurgeBy: httpapi.Time(d.Requested.Add(purgeWithin))}}, nil
	})
	if err != nil {
		return nil, err
	}
	s.hide(ctx, org, id)
	return out, nil
}
