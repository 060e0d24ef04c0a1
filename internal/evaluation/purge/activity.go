package purge

import (
	"context"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// Activities remove deleted evaluations from every store.
type Activities struct {
	Postgres  *postgres.DB
	Results   *result.Service
	Scores    *score.Service
	Artifacts *artifact.Service
}

func (a *Activities) store() store { return store{a.Postgres} }

// PurgeEvaluation removes a deleted evaluation and everything of it. A second
// attempt removes what the first left; what is not deleted is left alone.
func (a *Activities) PurgeEvaluation(ctx context.Context, p Purge) error {
	defer temporal.KeepBeating(ctx)()
	for removed := 0; ; {
		runs, err := a.purgeRuns(ctx, p)
		if err != nil {
			return err
		}
		if runs == 0 {
			return a.store().purge(ctx, p)
		}
		removed += runs
		activity.RecordHeartbeat(ctx, removed)
	}
}

// purgeBatch is how many runs are removed at once: the store of results
// rewrites its parts once for all of them.
const purgeBatch = 100

// purgeRuns removes some runs of a deleted evaluation and returns how many. Their
// rows go last: they are where the rest is found.
func (a *Activities) purgeRuns(ctx context.Context, p Purge) (int, error) {
	runs, err := a.store().purgeable(ctx, p, purgeBatch)
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	if err := a.Results.Erase(ctx, p.Org, runs); err != nil {
		return 0, err
	}
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = strconv.FormatInt(run, 10)
	}
	if err := a.Scores.Hide(ctx, p.Org, score.Filter{Kinds: []score.Kind{score.KindRunItem}, IDs: ids}, time.Time{}); err != nil {
		return 0, err
	}
	for _, run := range runs {
		if err := a.Artifacts.EraseRun(ctx, p.Org, run); err != nil {
			return 0, err
		}
		if err := a.store().purgeRun(ctx, p.Org, run); err != nil {
			return 0, err
		}
	}
	return len(runs), nil
}
