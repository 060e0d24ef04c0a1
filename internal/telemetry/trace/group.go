package trace

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
)

// ListGroups returns conversations or end users of which a trace starts in some
// time, those with the newest activity first.
func (s *Service) ListGroups(ctx context.Context, org principal.OrgID, f GroupFilter, p GroupPage) (Groups, error) {
	return s.store.TraceGroups(ctx, org, f, p, s.now())
}

// CountGroups returns how many conversations or end users were active.
func (s *Service) CountGroups(ctx context.Context, org principal.OrgID, f GroupFilter) (int64, error) {
	return s.store.CountTraceGroups(ctx, org, f, s.now())
}
