package evidence

import (
	"context"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerNormalizations(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "createNormalization", Method: http.MethodPost, Path: "/api/agent-evidence/normalizations", Tag: tag, Scope: principal.AdminOrg, Status: 201, OptionalBody: true,
		Summary: "Read stored events again",
		Description: "Reads stored events again with the mappings of this release, and adds what they say to what is known. Nothing that a record says is replaced, and nothing is counted twice. " +
			"Use it after an upgrade whose notes name a mapping. The work goes on in the background; get the normalization to see how far it is. While one is running, it is returned and no other is made.",
	}, s.postNormalization)
	httpapi.Register(e, httpapi.Op{
		ID: "getNormalization", Method: http.MethodGet, Path: "/api/agent-evidence/normalizations/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Get a normalization",
		Description: "Returns how far reading stored events again is.",
	}, s.getNormalization)
}

type normalizationRequest struct {
	Events Again `json:"events,omitempty" default:"outdated" doc:"Which events are read: those that no mapping of this release has read, or all."`
}

type normalizationPath struct {
	ID string `path:"id" maxLength:"32" doc:"Id of the normalization."`
}

type newNormalizationOutput struct {
	Location string `header:"Location" doc:"Path of the normalization."`
	Body     normalizationBody
}

type normalizationBody struct {
	ID          int64                      `json:"id" doc:"Id of the normalization."`
	Events      Again                      `json:"events" doc:"Which events are read."`
	State       string                     `json:"state" enum:"running,completed" doc:"Whether all events were read."`
	Read        int64                      `json:"read" doc:"Number of events that were read so far."`
	Changed     int64                      `json:"changed" doc:"Number of events that are understood differently now."`
	Refused     int64                      `json:"refused" doc:"Number of events that their format refuses now; they stay as they are."`
	CreatedAt   httpapi.Time               `json:"created_at" doc:"When it was asked for."`
	UpdatedAt   httpapi.Time               `json:"updated_at" doc:"When it last went on."`
	CompletedAt httpapi.Null[httpapi.Time] `json:"completed_at" doc:"When the last event was read; null while it is running."`
}

func (s *Service) postNormalization(ctx context.Context, in *httpapi.Body[normalizationRequest]) (*newNormalizationOutput, error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*newNormalizationOutput, error) {
		events := in.Body.Events
		if events == "" {
			events = Outdated
		}
		n, err := s.normalizeTx(ctx, tx, events)
		if err != nil {
			return nil, err
		}
		return &newNormalizationOutput{Location: fmt.Sprintf("/api/agent-evidence/normalizations/%d", n.ID), Body: toNormalizationBody(n)}, nil
	})
}

func (s *Service) getNormalization(ctx context.Context, in *normalizationPath) (*httpapi.Body[normalizationBody], error) {
	id, ok := httpapi.ParseID(in.ID)
	if !ok {
		return nil, ErrNoNormalization
	}
	n, err := s.Normalization(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toNormalizationBody(n)), nil
}

// Shown implements change.Resource.
func (b normalizationBody) Shown() any { return b }

func toNormalizationBody(n Normalization) normalizationBody {
	return normalizationBody{
		ID: n.ID, Events: Again(n.Events), State: n.State, Read: n.Read, Changed: n.Changed, Refused: n.Refused,
		CreatedAt: httpapi.Time(n.CreatedAt), UpdatedAt: httpapi.Time(n.UpdatedAt), CompletedAt: httpapi.NullTime(n.CompletedAt),
	}
}
