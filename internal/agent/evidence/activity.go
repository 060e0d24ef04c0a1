package evidence

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/platform/temporal"
)

// Activities are the side effects of the domain's workflows. Each may run again after a
// failure.
type Activities struct{ service *Service }

// pagesAtOnce is how many pages of events one activity reads.
const pagesAtOnce = 20

// Normalize reads some events again, and reports whether they were the last. A second run
// continues where the first stopped, and what was read twice changes nothing.
func (a *Activities) Normalize(ctx context.Context, in Renormalize) (done bool, err error) {
	for page := range pagesAtOnce {
		if done, err = a.service.advance(ctx, in.Org, in.ID); done || err != nil {
			return done, err
		}
		activity.RecordHeartbeat(ctx, page)
	}
	return false, nil
}

// FollowSpans makes evidence of some traces to which spans came.
func (a *Activities) FollowSpans(ctx context.Context, in Follow) (Followed, error) {
	defer temporal.KeepBeating(ctx)()
	return a.service.Look(ctx, in, int(activity.GetInfo(ctx).Attempt))
}
