package scoring_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
)

// TestWhatScoringCosts has three scorers score an answer: one whose price is known,
// one that fails after it was paid, and one that costs nothing.
func TestWhatScoringCosts(t *testing.T) {
	t.Parallel()
	scorer := func(s metric.Score, nano uint64, err error) scoring.Scorer {
		return func(context.Context, int64, dataset.Item, int, provider.Answer) (metric.Score, uint64, error) {
			return s, nano, err
		}
	}
	good, bad := metric.Scored(1, "It is right."), metric.Missing(metric.ReasonServiceFailed, "It is down.")
	down := errors.New("down")
	all := scoring.Scorers{"paid": scorer(good, 30, nil), "failed": scorer(bad, 7, down), "free": scorer(good, 0, nil)}

	scores, cost, err := all.Score(t.Context(), 1, dataset.Item{}, 0, provider.Answer{})

	require.ErrorIs(t, err, down)
	require.Equal(t, map[string]metric.Score{"paid": good, "failed": bad, "free": good}, scores, "whatever happens, every metric says something")
	require.EqualValues(t, 37, cost)
}
