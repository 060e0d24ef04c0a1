package correction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

func TestWhatIsMissingCountsAsTheWorst(t *testing.T) {
	t.Parallel()
	p := func(v float64) *float64 { return &v }
	good := stat.Estimate{Value: p(0.95), SE: p(0.01), CI: &stat.Interval{Lower: p(0.92), Upper: p(0.97), Level: 0.95}, Status: stat.StatusOK}
	require.Equal(t, good, correction.Worst(good, 500, 0, 0, 0.95))

	half := correction.Worst(good, 500, 500, 0, 0.95)
	require.InDelta(t, 0.475, *half.Value, 1e-12, "whoever fails on half of the items does not score 0.95")
	require.Less(t, *half.CI.Upper, 0.52)
	require.Greater(t, *half.CI.Upper, 0.485, "as good as half of the best answers")
	require.Less(t, *half.CI.Lower, 0.46)
	require.Equal(t, 500, half.Missing.Rows)
	require.Equal(t, stat.MissingFail, half.Missing.Policy)
	require.InDelta(t, 0.92, *good.CI.Lower, 1e-12, "the estimate itself stays as it is")

	lost := correction.Worst(stat.Estimate{Value: p(0.01), CI: &stat.Interval{Lower: p(-0.01), Upper: p(0.03), Level: 0.95}}, 900, 100, -1, 0.95)
	require.InDelta(t, -0.091, *lost.Value, 1e-12)
	require.Less(t, *lost.CI.Upper, -0.05)
	require.GreaterOrEqual(t, *lost.CI.Lower, -1.0)

	none := correction.Worst(stat.Estimate{Status: stat.StatusInsufficient}, 0, 10, 0, 0.95)
	require.Nil(t, none.Value)
	require.InDelta(t, 1.0, none.Missing.Share, 1e-12)
}
