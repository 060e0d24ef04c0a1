package runstat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/stat"
)

// A run that was stopped is judged by the first items of its order alone.
func TestTheBeginningOfARun(t *testing.T) {
	t.Parallel()
	var there []result.Brief
	order := make([]int64, 200)
	for i := range order {
		order[i] = int64(200 - i) // the last item comes first
	}
	for id := int64(1); id <= 200; id++ {
		switch {
		case id == 100: // unanswered: what comes after it is no fair sample
		case id > 100:
			there = append(there, brief(id, result.StatusPassed, scored(1)))
		default:
			there = append(there, brief(id, result.StatusFailed, scored(0)))
		}
	}
	rows := runstat.NewRows(there)
	rows.AddMissing(there, order, 1, map[int64]runstat.Facts{})

	e, err := rows.Begun(order, true).Estimate(runstat.Overall(), rows.Overall)
	require.NoError(t, err)
	require.Equal(t, 100, e.N)
	require.InDelta(t, 1, *e.Value, 0)
	require.Equal(t, stat.KindSequence, e.CI.Kind, "it holds whenever the run was stopped")
	require.Contains(t, e.Warnings[0], "stopped before its end")

	e, err = rows.Begun(order, false).Estimate(runstat.Overall(), rows.Overall)
	require.NoError(t, err)
	require.Equal(t, 199, e.N)
	require.Nil(t, e.CI, "whoever answers chooses the order")
}

func TestWeightsCount(t *testing.T) {
	t.Parallel()
	light, heavy := brief(1, result.StatusPassed, scored(1)), brief(2, result.StatusFailed, scored(0))
	light.Weight, heavy.Weight = 1, 3
	e, err := runstat.Gate(runstat.Overall(), runstat.NewRows([]result.Brief{light, heavy}).Overall, 0.95, runstat.At{})
	require.NoError(t, err)
	require.InDelta(t, 0.25, *e.Value, 1e-12)
}

func TestTrials(t *testing.T) {
	t.Parallel()
	var there []result.Brief
	for id := int64(1); id <= 20; id++ {
		for epoch := range 3 {
			b := brief(id, result.StatusPassed, scored(1))
			if b.Epoch = epoch; epoch == 0 {
				b.Status, b.Overall = result.StatusFailed, scored(0)
			}
			there = append(there, b)
		}
	}
	s := runstat.Statistics{Gates: map[string]stat.Estimate{}}
	require.NoError(t, s.SumUp(runstat.NewRows(there), nil, nil))
	require.Len(t, s.Repeated, 2)
	require.Equal(t, 3, s.Repeated[1].K)
	require.InDelta(t, 1, *s.Repeated[1].Any.Value, 1e-12)
	require.InDelta(t, 0, *s.Repeated[1].All.Value, 1e-12)
	require.InDelta(t, 1.0/3, *s.Repeated[0].All.Value, 1e-12, "two of three pass, and one of three pairs has both")
}
