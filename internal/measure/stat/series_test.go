package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

func TestRunSpread(t *testing.T) {
	t.Parallel()
	e, err := stat.RunSpread([]float64{1, 2, 3, 4, 5}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(2.5), *e.Value, 1e-12)
	// The quantiles of chi squared with 4 degrees of freedom are 0.484419 and 11.143287.
	require.InDelta(t, math.Sqrt(10/11.143287), *e.CI.Lower, 1e-6)
	require.InDelta(t, math.Sqrt(10/0.484419), *e.CI.Upper, 1e-5)
	require.Equal(t, 5, e.N)

	one, err := stat.RunSpread([]float64{0.5}, 0.95)
	require.NoError(t, err)
	require.Nil(t, one.Value)
	require.Equal(t, stat.StatusInsufficient, one.Status)
	same, err := stat.RunSpread([]float64{0.5, 0.5, 0.5}, 0.95)
	require.NoError(t, err)
	require.Nil(t, same.CI, "three equal values do not show that the fourth is equal")
	_, err = stat.RunSpread([]float64{0.5, math.NaN()}, 0.95)
	require.ErrorIs(t, err, stat.ErrInput)
}
