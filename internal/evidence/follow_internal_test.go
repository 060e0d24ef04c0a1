package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// ReadTraces makes evidence of traces now.
func (s *Service) ReadTraces(ctx context.Context, org principal.OrgID, ids ...string) error {
	var all []span.TraceID
	for _, text := range ids {
		id, _ := span.ParseTraceID(text)
		all = append(all, id)
	}
	return s.readTraces(ctx, org, all)
}

// Look makes evidence of all that came until now, as the workflow of a period does.
func (s *Service) Look(ctx context.Context, in Follow) (Followed, error) {
	return s.follow(ctx, in, 1)
}
